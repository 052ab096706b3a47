// Writes and reads the JSON of manifests.
#include "Export/Archive.h"

#include <limits>

#include <nlohmann/json.hpp>

namespace weft::archive {

namespace {

using Json = nlohmann::json;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Json json_of(const TensorType &type) {
  Json sizes = Json::array();
  for (const std::int64_t size : type.shape)
    sizes.push_back(size == unknown ? Json(nullptr) : Json(size));
  return {{"dtype", std::string(name_of(type.dtype))}, {"shape", std::move(sizes)}};
}

Json json_of(const std::vector<TensorType> &types) {
  Json all = Json::array();
  for (const TensorType &type : types) all.push_back(json_of(type));
  return all;
}

Json json_of(const Region &region) {
  return {{"offset", region.offset}, {"size", region.size}, {"sha256", region.digest}};
}

Json json_of(const Object &object) {
  Json json = {{"processor", object.processor},
               {"features", object.features},
               {"symbol", object.symbol},
               {"arena_bytes", object.arena_bytes},
               {"variables", Json(object.variables)},
               {"code", json_of(object.code)}};
  if (!object.chip.empty()) {
    json["chip"] = object.chip;
    json["ptx"] = json_of(object.ptx);
  }
  return json;
}

Json json_of(const Entry &entry) {
  Json objects = Json::array(), lines = Json::array();
  for (const Object &object : entry.objects) objects.push_back(json_of(object));
  for (const Line &line : entry.lines)
    for (const std::uint32_t number : {line.file, line.line, line.column, line.function})
      lines.push_back(number);
  return {{"inputs", json_of(entry.inputs)},    {"outputs", json_of(entry.outputs)},
          {"captures", entry.captures},         {"variables", entry.variables},
          {"written", entry.written},           {"function", entry.program.function},
          {"symbols", entry.program.variables}, {"bytecode", json_of(entry.bytecode)},
          {"objects", std::move(objects)},      {"files", entry.files},
          {"functions", entry.functions},       {"lines", std::move(lines)}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// A value of the manifest and where it stands, for messages. Members throw IOError.
class Value {
public:
  Value(const Json &json, std::string path) : json_(json), path_(std::move(path)) {}

  Value operator[](const char *key) const {
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    if (found == json_.end()) fail("lacks '" + std::string(key) + "'");
    return {*found, path_ + "." + key};
  }

  bool has(const char *key) const { return json_.is_object() && json_.contains(key); }

  template <class T = std::uint64_t>
  T number() const {
    if (!json_.is_number_unsigned()) fail("is no number");
    const auto value = json_.get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) fail("is too large");
    return static_cast<T>(value);
  }
  /// A number of something that there are `count` of.
  std::size_t index(std::size_t count) const {
    const auto value = number<std::size_t>();
    if (value >= count)
      fail("is " + std::to_string(value) + ", but there are " + std::to_string(count));
    return value;
  }
  std::string text() const {
    if (!json_.is_string()) fail("is no text");
    return json_.get<std::string>();
  }
  bool boolean() const {
    if (!json_.is_boolean()) fail("is neither true nor false");
    return json_.get<bool>();
  }
  bool is_null() const { return json_.is_null(); }

  template <class Read>
  auto list(const Read &read) const {
    if (!json_.is_array()) fail("is no list");
    std::vector<decltype(read(*this))> all;
    std::size_t number = 0;
    for (const Json &item : json_)
      all.push_back(read(Value(item, path_ + "[" + std::to_string(number++) + "]")));
    return all;
  }
  std::vector<std::size_t> indices(std::size_t count) const {
    return list([&](const Value &item) { return item.index(count); });
  }
  std::vector<std::string> texts() const {
    return list([](const Value &item) { return item.text(); });
  }
  [[noreturn]] void fail(const std::string &what) const {
    throw IOError("its manifest is damaged: " + path_ + " " + what);
  }

private:
  const Json &json_;
  std::string path_;
};

TensorType type_of(const Value &value) {
  const Value dtype = value["dtype"];
  TensorType type;
  const std::optional<DType> known = parse_dtype(dtype.text());
  if (!known) dtype.fail("is '" + dtype.text() + "', which Weft lacks");
  type.dtype = *known;
  const auto sizes = value["shape"].list(
      [](const Value &size) { return size.is_null() ? unknown : size.number<std::int64_t>(); });
  if (sizes.size() > static_cast<std::size_t>(max_rank)) value["shape"].fail("has too many sizes");
  type.shape = Shape(std::span<const std::int64_t>(sizes));
  return type;
}

std::vector<TensorType> types_of(const Value &value) { return value.list(type_of); }

Region region_of(const Value &value) {
  return {value["offset"].number(), value["size"].number(), value["sha256"].text()};
}

Object object_of(const Value &value, std::size_t variables) {
  Object object{.processor = value["processor"].text(),
                .features = value["features"].text(),
                .symbol = value["symbol"].text(),
                .arena_bytes = value["arena_bytes"].number(),
                .variables = value["variables"].indices(variables),
                .code = region_of(value["code"]),
                .chip = {},
                .ptx = {}};
  if (value.has("chip")) {
    object.chip = value["chip"].text();
    object.ptx = region_of(value["ptx"]);
  }
  return object;
}

std::vector<Line> lines_of(const Value &value, std::size_t files, std::size_t functions) {
  const auto numbers =
      value.list([](const Value &number) { return number.number<std::uint32_t>(); });
  if (numbers.size() % 4 != 0) value.fail("is no list of four numbers each");
  std::vector<Line> lines;
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    lines.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    if ((lines.back().line != 0 && lines.back().file >= files) || lines.back().function > functions)
      value.fail("names a file or function that there is none of");
  }
  return lines;
}

Entry entry_of(const Value &value, const Manifest &manifest) {
  Entry entry{.inputs = types_of(value["inputs"]),
              .outputs = types_of(value["outputs"]),
              .captures = value["captures"].indices(manifest.captures.size()),
              .variables = value["variables"].indices(manifest.variables.size()),
              .written = {},
              .program = {.bytecode = {},
                          .function = value["function"].text(),
                          .variables = value["symbols"].texts()},
              .bytecode = region_of(value["bytecode"]),
              .objects = {},
              .files = value["files"].texts(),
              .functions = value["functions"].texts(),
              .lines = {}};
  for (const bool written : value["written"].list([](const Value &one) { return one.boolean(); }))
    entry.written.push_back(written);
  const std::size_t count = entry.variables.size();
  if (entry.written.size() != count) value["written"].fail("is not as long as variables");
  if (entry.program.variables.size() != count) value["symbols"].fail("is not as long as variables");
  entry.objects =
      value["objects"].list([&](const Value &object) { return object_of(object, count); });
  entry.lines = lines_of(value["lines"], entry.files.size(), entry.functions.size());
  return entry;
}

Manifest manifest_of(const Value &value) {
  Manifest manifest;
  manifest.weft = value["weft"].text();
  manifest.runtime_abi = value["runtime_abi"].number<int>();
  manifest.name = value["name"].text();
  manifest.variables = value["variables"].list([](const Value &variable) {
    StoredVariable stored{variable["name"].text(), type_of(variable["type"])};
    if (!stored.type.shape.is_static()) variable["type"].fail("has an open size");
    return stored;
  });
  manifest.captures = value["captures"].texts();
  manifest.weights = region_of(value["weights"]);
  manifest.entries =
      value["entries"].list([&](const Value &entry) { return entry_of(entry, manifest); });
  return manifest;
}

} // namespace

std::string to_json(const Manifest &manifest) {
  Json variables = Json::array(), entries = Json::array();
  for (const StoredVariable &variable : manifest.variables)
    variables.push_back({{"name", variable.name}, {"type", json_of(variable.type)}});
  for (const Entry &entry : manifest.entries) entries.push_back(json_of(entry));
  const Json all = {{"weft", manifest.weft},         {"runtime_abi", manifest.runtime_abi},
                    {"name", manifest.name},         {"variables", std::move(variables)},
                    {"captures", manifest.captures}, {"weights", json_of(manifest.weights)},
                    {"entries", std::move(entries)}};
  // Paths of source files and names may be in any encoding.
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Manifest> parse_manifest(std::string_view text) {
  const Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Fault{ErrorKind::io, "its manifest is no JSON"};
  try {
    return manifest_of(Value(json, "manifest"));
  } catch (const IOError &error) {
    return Fault{ErrorKind::io, std::string(error.message())};
  }
}

std::string list_of(const std::vector<TensorType> &types) {
  std::string text;
  for (const TensorType &type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return text;
}

} // namespace weft::archive
