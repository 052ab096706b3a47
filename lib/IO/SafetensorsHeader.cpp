// The JSON of safetensors, read as a stream: headers, which are also written here, and indices of
// models in several files.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>

#include <nlohmann/json.hpp>

#include "IO/Safetensors.h"
#include "Support/Fault.h"
#include "Support/Messages.h"

namespace weft {

namespace {

/// A reader hears of the parts of a text one after the other, and keeps what it wants: memory is
/// bounded by that. Each member returns whether the text is as it should be; those that a reader
/// does not override say that it is not.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
public:
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { return refuse("a number"); }
  bool number_float(number_float_t, const string_t &text) override {
    return refuse("the number " + shown(text));
  }
  bool string(string_t &) override { return refuse("a text"); }
  bool binary(binary_t &) override { return refuse("binary data"); }
  bool start_object(std::size_t) override { return refuse("an object"); }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return refuse("a list"); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    return fail("is no valid JSON at byte " + std::to_string(position));
  }

  /// Reads the text, which must be one value; what is wrong with it, if anything is.
  Check read(std::string_view text) {
    // The parser takes a NUL for the end.
    if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
      fail("is no valid JSON at byte " + std::to_string(at + 1));
    else if (!nlohmann::json::sax_parse(text.begin(), text.end(), this) && message_.empty())
      fail("is no valid JSON");
    if (message_.empty()) return std::nullopt;
    return Fault{ErrorKind::io, message_};
  }

protected:
  /// Keeps the first thing that is wrong; false.
  bool fail(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }
  /// Where the reader is, for `refuse`: "the shape of 'w'".
  virtual std::string position() const = 0;

private:
  bool refuse(const std::string &what) { return fail("has " + what + " as " + position()); }

  std::string message_;
};

/// The text as JSON has it, in quotes. Throws ValueError, which calls it `what`, if it is not
/// UTF-8.
std::string json_text(const std::string &text, const std::string &what) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception &) {
    throw ValueError(what + " is not UTF-8");
  }
}

/// The dtypes of the format, widest first as its writers order tensors; and C128, which it lacks.
struct Known {
  std::string_view name;
  unsigned bits;
};
constexpr std::array<Known, 21> kKnown = {
    {{"C128", 128},  {"U64", 64},    {"I64", 64},    {"F64", 64}, {"C64", 64}, {"F32", 32},
     {"U32", 32},    {"I32", 32},    {"BF16", 16},   {"F16", 16}, {"U16", 16}, {"I16", 16},
     {"F8_E8M0", 8}, {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"I8", 8},   {"U8", 8},   {"F6_E3M2", 6},
     {"F6_E2M3", 6}, {"F4", 4},      {"BOOL", 8}}};

constexpr std::string_view kMetadata = "__metadata__";

/// Hears the header: tensors, each with dtype, shape and offsets, and one object of texts.
class HeaderEvents final : public JsonEvents {
public:
  bool start_object(std::size_t) override {
    if (depth_ == 2) return JsonEvents::start_object(0);
    ++depth_;
    seen_ = {};
    return true;
  }
  bool end_object() override {
    if (depth_-- != 2 || in_metadata_) return true;
    if (seen_ == Seen{true, true, true}) return true;
    const char *const lacks = !seen_.dtype ? "dtype" : !seen_.shape ? "shape" : "data_offsets";
    return fail("has no " + std::string(lacks) + " for '" + shown(entries.back().name) + "'");
  }
  bool key(string_t &name) override { return depth_ == 1 ? begin_entry(name) : begin_field(name); }
  bool string(string_t &text) override {
    if (depth_ == 2 && in_metadata_) {
      if (!texts.emplace(field_, std::move(text)).second)
        return fail("has the metadata '" + shown(field_) + "' twice");
      return true;
    }
    if (depth_ != 2 || field_ != "dtype" || in_list_) return JsonEvents::string(text);
    entries.back().dtype = std::move(text);
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || in_list_ || field_ == "dtype")
      return JsonEvents::start_array(0);
    in_list_ = true;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_list_) return JsonEvents::number_unsigned(value);
    return field_ == "shape" ? add_size(value) : add_offset(value);
  }
  bool end_array() override {
    in_list_ = false;
    if (field_ == "shape" || offsets.back().count == 2) return true;
    return fail("has " + std::to_string(offsets.back().count) + " numbers as " + position() +
                ", where two belong");
  }

  struct Offsets {
    std::uint64_t begin = 0, end = 0;
    int count = 0;
  };
  std::vector<SafetensorsEntry> entries;
  std::vector<Offsets> offsets; ///< of the entries
  std::map<std::string, std::string> texts;

protected:
  std::string position() const override {
    if (depth_ == 0) return "its whole";
    if (depth_ == 1) return "what belongs to '" + shown(name_) + "'";
    return "the " + shown(field_) + " of '" + shown(name_) + "'";
  }

private:
  bool begin_entry(std::string &name) {
    name_ = std::move(name);
    in_metadata_ = name_ == kMetadata;
    if (in_metadata_) {
      if (had_metadata_) return fail("has " + name_ + " twice");
      return had_metadata_ = true;
    }
    if (entries.size() == kMaxSafetensors)
      return fail("has more than " + std::to_string(kMaxSafetensors) + " tensors");
    entries.push_back({.name = name_, .dtype = {}, .shape = {}});
    offsets.emplace_back();
    return true;
  }
  bool begin_field(std::string &name) {
    field_ = std::move(name);
    if (in_metadata_) return true;
    bool *const seen = field_ == "dtype"          ? &seen_.dtype
                       : field_ == "shape"        ? &seen_.shape
                       : field_ == "data_offsets" ? &seen_.offsets
                                                  : nullptr;
    if (seen == nullptr)
      return fail("has a field '" + shown(field_) + "' in '" + shown(name_) + "'");
    if (*seen) return fail("has " + position() + " twice");
    return *seen = true;
  }
  bool add_size(std::uint64_t size) {
    Shape &shape = entries.back().shape;
    if (size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return fail("has the size " + std::to_string(size) + " in " + position());
    if (shape.rank() == max_rank)
      return fail("has more than " + std::to_string(max_rank) + " sizes as " + position());
    shape.push_back(static_cast<std::int64_t>(size));
    return true;
  }
  bool add_offset(std::uint64_t offset) {
    Offsets &own = offsets.back();
    if (own.count == 2) return fail("has more than two numbers as " + position());
    (own.count++ == 0 ? own.begin : own.end) = offset;
    return true;
  }

  struct Seen {
    bool dtype = false, shape = false, offsets = false;
    bool operator==(const Seen &) const = default;
  };
  int depth_ = 0;
  bool in_list_ = false, in_metadata_ = false, had_metadata_ = false;
  Seen seen_;
  std::string name_, field_;
};

/// Compares the bytes of a tensor with its sizes.
Check check_bytes(const SafetensorsEntry &entry) {
  const std::optional<unsigned> bits = safetensors_bits(entry.dtype);
  std::uint64_t size = 1;
  bool fits = true;
  for (const std::int64_t dimension : entry.shape)
    fits = fits && !__builtin_mul_overflow(size, static_cast<std::uint64_t>(dimension), &size);
  if (bits) fits = fits && !__builtin_mul_overflow(size, std::uint64_t{*bits}, &size);
  if (!fits)
    return Fault{ErrorKind::io, "has the shape " + to_string(entry.shape) + " for '" +
                                    shown(entry.name) + "', which no memory holds"};
  if (!bits || (size % 8 == 0 && size / 8 == entry.bytes)) return std::nullopt;
  return Fault{ErrorKind::io, "has " + std::to_string(entry.bytes) + " bytes for '" +
                                  shown(entry.name) + "', which is " + shown(entry.dtype) +
                                  to_string(entry.shape)};
}

/// The bytes must be those of the tensors, one behind the other.
Check check_tiling(const std::vector<SafetensorsEntry> &entries,
                   const std::vector<HeaderEvents::Offsets> &offsets, std::uint64_t data_bytes) {
  std::vector<std::uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(offsets[a].begin, offsets[a].end) < std::tie(offsets[b].begin, offsets[b].end);
  });
  std::uint64_t end = 0;
  for (const std::uint32_t i : order) {
    const HeaderEvents::Offsets &own = offsets[i];
    if (own.begin != end || own.end < own.begin)
      return Fault{ErrorKind::io, "has '" + shown(entries[i].name) + "' at the bytes " +
                                      std::to_string(own.begin) + " to " + std::to_string(own.end) +
                                      ", but what lies before it ends at " + std::to_string(end)};
    end = own.end;
  }
  if (end == data_bytes) return std::nullopt;
  return Fault{ErrorKind::io, "has " + std::to_string(data_bytes) +
                                  " bytes of elements, but its header asks for " +
                                  std::to_string(end)};
}

} // namespace

std::optional<unsigned> safetensors_bits(std::string_view dtype) {
  const auto *found = std::find_if(kKnown.begin(), kKnown.end(),
                                   [&](const Known &known) { return known.name == dtype; });
  return found == kKnown.end() ? std::nullopt : std::optional(found->bits);
}

std::string_view safetensors_dtype(DType dtype) { return dtype_info(dtype).safetensors; }

std::optional<DType> parse_safetensors_dtype(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i)
    if (safetensors_dtype(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  return std::nullopt;
}

/// Numbers of C128 are written as pairs of F64, along a last axis, which a text of the metadata
/// notes.
static void join_pairs(std::vector<SafetensorsEntry> &entries,
                       const std::map<std::string, std::string> &texts) {
  for (SafetensorsEntry &entry : entries)
    if (entry.dtype == "F64" && !entry.shape.empty() && entry.shape.back() == 2 &&
        texts.contains(std::string(kPairsPrefix) + entry.name)) {
      entry.dtype = safetensors_dtype(DType::c128);
      entry.shape.erase(entry.shape.size() - 1);
    }
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text,
                                                   std::uint64_t data_bytes) {
  HeaderEvents events;
  if (!text.starts_with('{'))
    return Fault{ErrorKind::io, "is no safetensors file: its header does not start with {"};
  if (Check fault = events.read(text)) return Fault{ErrorKind::io, "its header " + fault->message};
  for (std::size_t i = 0; i < events.entries.size(); ++i) {
    const HeaderEvents::Offsets &own = events.offsets[i];
    events.entries[i].bytes = own.end - own.begin;
  }
  if (Check fault = check_tiling(events.entries, events.offsets, data_bytes)) return *fault;
  for (const SafetensorsEntry &entry : events.entries)
    if (Check fault = check_bytes(entry)) return *fault;

  join_pairs(events.entries, events.texts);
  std::vector<std::uint32_t> order(events.entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return events.entries[a].name < events.entries[b].name;
  });
  SafetensorsHeader header{.entries = {}, .offsets = {}, .texts = std::move(events.texts)};
  header.entries.reserve(order.size());
  for (const std::uint32_t i : order) {
    if (!header.entries.empty() && header.entries.back().name == events.entries[i].name)
      return Fault{ErrorKind::io, "has '" + shown(events.entries[i].name) + "' twice"};
    header.entries.push_back(std::move(events.entries[i]));
    header.offsets.push_back(events.offsets[i].begin);
  }
  return header;
}

void sort_for_safetensors(std::vector<SafetensorsItem> &items) {
  const auto rank = [](const SafetensorsItem &item) {
    const std::string_view dtype = safetensors_dtype(item.tensor.dtype());
    return std::find_if(kKnown.begin(), kKnown.end(),
                        [&](const Known &known) { return known.name == dtype; });
  };
  std::sort(items.begin(), items.end(), [&](const SafetensorsItem &a, const SafetensorsItem &b) {
    return std::pair(rank(a), std::string_view(a.name)) <
           std::pair(rank(b), std::string_view(b.name));
  });
}

std::string make_safetensors_header(const std::vector<SafetensorsItem> &items,
                                    const std::map<std::string, std::string> &given,
                                    std::size_t alignment) {
  std::map<std::string, std::string> texts = given;
  std::string tensors;
  std::uint64_t offset = 0;
  for (const auto &[name, tensor] : items) {
    if (name == kMetadata)
      throw ValueError("no tensor may be called '" + name + "', which stands for the metadata");
    const std::uint64_t end =
        offset + static_cast<std::uint64_t>(tensor.size()) * item_size(tensor.dtype());
    std::string sizes;
    for (const std::int64_t size : tensor.shape())
      sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    const bool in_pairs = tensor.dtype() == DType::c128;
    if (in_pairs) {
      sizes += sizes.empty() ? "2" : ",2";
      texts[std::string(kPairsPrefix) + name] = "complex";
    }
    const DType dtype = in_pairs ? DType::f64 : tensor.dtype();
    tensors += (tensors.empty() ? "" : ",") + json_text(name, "the name of a tensor") +
               R"(:{"dtype":")" + std::string(safetensors_dtype(dtype)) + R"(","shape":[)" + sizes +
               R"(],"data_offsets":[)" + std::to_string(offset) + ',' + std::to_string(end) + "]}";
    offset = end;
  }
  std::string metadata;
  for (const auto &[name, text] : texts)
    metadata += (metadata.empty() ? "" : ",") +
                json_text(name, "the name of a text of the metadata") + ':' +
                json_text(text, "the text '" + name + "' of the metadata");
  std::string header = "{";
  if (!texts.empty())
    header += '"' + std::string(kMetadata) + "\":{" + metadata + (items.empty() ? "}" : "},");
  header += tensors + '}';
  header.resize((8 + header.size() + alignment - 1) / alignment * alignment - 8, ' ');
  if (items.size() > kMaxSafetensors || header.size() > kMaxSafetensorsHeader)
    throw ValueError("the file would have " + std::to_string(items.size()) +
                     " tensors and a header of " + std::to_string(header.size()) +
                     " bytes, but the format allows " + std::to_string(kMaxSafetensors) + " and " +
                     std::to_string(kMaxSafetensorsHeader));
  return header;
}

namespace {

/// What a file system takes, in bytes.
constexpr std::size_t kLongestName = 255;
/// What an index of Weft's has besides.
constexpr std::string_view kPartDigests = "weft.digests", kPieces = "weft.pieces";

/// Hears an index; what it says beside the map is passed over.
class IndexEvents final : public JsonEvents {
public:
  bool null() override { return skips(); }
  bool boolean(bool) override { return skips(); }
  bool number_integer(number_integer_t) override { return skips(); }
  bool number_unsigned(number_unsigned_t) override { return skips(); }
  bool number_float(number_float_t, const string_t &) override { return skips(); }
  bool start_array(std::size_t) override { return skips() && deeper(); }
  bool end_array() override { return ends(); }
  bool start_object(std::size_t) override {
    return depth_ == 0 || depth_ == 1 || skips() ? deeper() : false;
  }
  bool end_object() override { return ends(); }
  bool key(string_t &name) override {
    if (depth_ == 1) {
      in_map_ = name == "weight_map";
      in_digests_ = name == kPartDigests;
      if (in_map_ && had_map) return fail("has weight_map twice");
      had_map = had_map || in_map_;
    }
    name_ = std::move(name);
    return true;
  }
  bool string(string_t &file) override {
    if (in_digests_ && depth_ == 2) index.digests.emplace(name_, file);
    if (!in_map_ || depth_ != 2) return skips();
    // A name of a file beside the index, and of none elsewhere.
    if (file.empty() || file.size() > kLongestName || file == "." || file == ".." ||
        std::any_of(file.begin(), file.end(),
                    [](unsigned char c) { return c == '/' || c < ' ' || c == 0x7f; }))
      return fail("has '" + shown(file) + "' as the file of '" + shown(name_) +
                  "', which is no name of a file");
    if (index.files.size() == kMaxSafetensors) return fail("names too many tensors");
    if (!index.files.emplace(name_, std::move(file)).second)
      return fail("has '" + shown(name_) + "' twice");
    return true;
  }

  SafetensorsIndex index;
  bool had_map = false;

protected:
  std::string position() const override { return "what belongs to '" + shown(name_) + "'"; }

private:
  bool skips() {
    if (depth_ > 0 && !in_map_) return true;
    return fail("is no index: it has something else than names of files in its weight_map");
  }
  bool deeper() { return ++depth_ <= 16 || fail("is nested too deeply"); }
  bool ends() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool in_map_ = false, in_digests_ = false;
  std::string name_;
};

} // namespace

SafetensorsIndex read_safetensors_index(const InputFile &file) {
  if (file.size() > kMaxSafetensorsHeader)
    file.fail("is an index of " + std::to_string(file.size()) + " bytes, more than " +
              std::to_string(kMaxSafetensorsHeader));
  std::string text(file.size(), '\0');
  file.read_at(0, text.data(), text.size(), "text");
  IndexEvents events;
  if (const Check fault = events.read(text)) file.fail(fault->message);
  if (!events.had_map) file.fail("is no index of safetensors files: it has no weight_map");
  return std::move(events.index);
}

std::string
make_safetensors_index(const std::vector<std::pair<std::string, const SafetensorsShard *>> &files) {
  nlohmann::json index;
  std::uint64_t bytes = 0;
  for (const auto &[file, shard] : files) {
    const SafetensorsHeader &header = shard->header;
    index[kPartDigests][file] = header.texts.at(std::string(kHeaderDigest));
    for (const SafetensorsEntry &entry : header.entries) {
      bytes += entry.bytes;
      index["weight_map"][entry.name] = file;
      const auto text = header.texts.find(std::string(kPiecePrefix) + entry.name);
      if (text == header.texts.end()) continue;
      const std::optional<PieceOfTensor> piece = PieceOfTensor::parse(text->second);
      nlohmann::json &whole = index[kPieces][piece->of];
      whole["shape"] = std::vector<std::int64_t>(piece->whole.begin(), piece->whole.end());
      whole["pieces"].push_back({{"tensor", entry.name}, {"offset", piece->begin}});
    }
  }
  index["metadata"]["total_size"] = bytes;
  return index.dump(2) + "\n";
}

// Pieces: "128 3,4 optimizer.slots.m.0.kernel".

std::string PieceOfTensor::text() const {
  std::string sizes;
  for (const std::int64_t size : whole) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
  return std::to_string(begin) + ' ' + sizes + ' ' + of;
}

std::optional<PieceOfTensor> PieceOfTensor::parse(std::string_view text) {
  const auto next = [&](char end) {
    const std::string_view word = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
  };
  const auto number = [](std::string_view digits, std::int64_t &value) {
    const char *const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stop == end && value >= 0;
  };
  PieceOfTensor piece;
  if (!number(next(' '), piece.begin)) return std::nullopt;
  std::vector<std::int64_t> sizes;
  std::string_view list = next(' ');
  while (!list.empty()) {
    const std::string_view size = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), size.size() + 1));
    if (sizes.size() == max_rank || !number(size, sizes.emplace_back())) return std::nullopt;
  }
  piece.whole = Shape(sizes);
  piece.of = text;
  if (text.empty()) return std::nullopt;
  return piece;
}

} // namespace weft
