// Reads event files back.
#include <weft/events.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "IO/InputFile.h"
#include "IO/Protobuf.h"
#include "IO/Records.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Files.h"

namespace weft::events {

namespace {

using protobuf::Field;
using protobuf::Fields;

/// Goes along the fields of a message; false if it is none.
template <class Visit>
bool each_field(std::string_view message, const Visit &visit) {
  Fields fields(message);
  for (Field field; fields.next(field);) visit(field);
  return !fields.damaged();
}

template <class T>
std::vector<double> numbers_in(std::string_view bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}

/// A TensorProto: its sizes, and numbers or strings.
struct Contents {
  Shape shape;
  std::vector<double> numbers;
  std::vector<std::string> strings;
};

bool read_shape(std::string_view message, Shape &shape) {
  bool whole = true;
  const bool fields = each_field(message, [&](const Field &dim) {
    std::int64_t size = 0;
    if (dim.is_bytes(2))
      whole = whole && each_field(dim.bytes, [&](const Field &field) {
                if (field.is_integer(1)) size = field.as_integer();
              });
    if (dim.is_bytes(2)) shape.push_back(size);
  });
  return fields && whole;
}

bool read_tensor(std::string_view message, Contents &contents) {
  std::int64_t type = 0;
  std::string_view bytes;
  bool whole = true;
  const bool fields = each_field(message, [&](const Field &field) {
    if (field.is_integer(1)) type = field.as_integer();
    else if (field.is_bytes(2)) whole = whole && read_shape(field.bytes, contents.shape);
    else if (field.is_bytes(4)) bytes = field.bytes;
    else if (field.is_bytes(5)) contents.numbers = numbers_in<float>(field.bytes);
    else if (field.number == 5 && field.wire == 5)
      contents.numbers.push_back(static_cast<double>(field.as_float()));
    else if (field.is_bytes(6)) contents.numbers = numbers_in<double>(field.bytes);
    else if (field.is_fixed64(6)) contents.numbers.push_back(field.as_double());
    else if (field.is_bytes(8)) contents.strings.emplace_back(field.bytes);
  });
  constexpr std::int64_t f32 = 1, f64 = 2;
  if (!bytes.empty() && type == f32) contents.numbers = numbers_in<float>(bytes);
  if (!bytes.empty() && type == f64) contents.numbers = numbers_in<double>(bytes);
  return fields && whole;
}

/// A Summary.Value; false if it is none.
bool read_value(std::string_view message, Event &event) {
  Contents contents;
  bool whole = true, has_simple = false;
  double simple = 0;
  const bool fields = each_field(message, [&](const Field &field) {
    if (field.is_bytes(1)) event.tag = field.bytes;
    else if (field.number == 2 && field.wire == 5) {
      has_simple = true;
      simple = static_cast<double>(field.as_float());
    } else if (field.is_bytes(8)) whole = whole && read_tensor(field.bytes, contents);
    else if (field.is_bytes(9))
      whole = whole && each_field(field.bytes, [&](const Field &metadata) {
                if (!metadata.is_bytes(1)) return;
                whole = whole && each_field(metadata.bytes, [&](const Field &plugin) {
                          if (plugin.is_bytes(1)) event.plugin = plugin.bytes;
                          else if (plugin.is_bytes(2) && event.plugin == "hparams")
                            event.bytes = {std::string(plugin.bytes)};
                        });
              });
  });
  if (!fields || !whole) return false;
  if (has_simple) {
    event.plugin = "scalars";
    event.numbers = full({}, simple, DType::f32);
  } else if (event.plugin == "scalars" && contents.numbers.size() == 1) {
    event.numbers = full({}, contents.numbers[0], DType::f32);
  } else if (event.plugin == "histograms" && contents.numbers.size() % 3 == 0) {
    const auto rows = static_cast<std::int64_t>(contents.numbers.size() / 3);
    event.numbers = tensor(contents.numbers, {rows, 3});
  }
  if (!contents.strings.empty()) event.bytes = std::move(contents.strings);
  return true;
}

struct Contained {
  double start = 0; ///< when the first record was written
  std::vector<Event> events;
};

Contained read_file(const std::string &path) {
  RecordReader reader(path);
  Contained file;
  std::vector<Event> &events = file.events;
  std::int64_t record = 0;
  for (; const std::optional<std::string> bytes = reader.next(); ++record) {
    Event common;
    std::vector<std::string_view> values;
    bool whole = true, starts = false;
    const bool fields = each_field(*bytes, [&](const Field &field) {
      if (field.is_fixed64(1)) common.wall_time = field.as_double();
      else if (field.is_integer(2)) common.step = field.as_integer();
      else if (field.is_bytes(5))
        whole = whole && each_field(field.bytes, [&](const Field &value) {
                  if (value.is_bytes(1)) values.push_back(value.bytes);
                });
      else if (field.is_bytes(7))
        whole = whole && each_field(field.bytes, [&](const Field &session) {
                  starts = starts || (session.is_integer(1) && session.as_integer() == 1);
                });
    });
    if (record == 0) file.start = common.wall_time;
    if (starts) {
      common.plugin = "session";
      common.tag = "start";
      events.push_back(common);
    }
    for (const std::string_view value : values) {
      Event event = common;
      whole = whole && read_value(value, event);
      if (whole) events.push_back(std::move(event));
    }
    if (!fields || !whole)
      throw IOError(path + ": record " + std::to_string(record) + " is no event");
  }
  return file;
}

} // namespace

std::vector<Event> read(const std::string &path, std::source_location where) {
  const CallSite site(where);
  check_path("events::read", path);
  return naming(path, [&] { return read_file(path).events; });
}

std::map<std::string, std::vector<std::pair<std::int64_t, double>>>
read_scalars(const std::string &folder, std::source_location where) {
  const CallSite site(where);
  check_path("events::read_scalars", folder);
  std::vector<Contained> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (const std::string path = entry->path().string();
        entry->path().filename().string().find("tfevents") != std::string::npos)
      files.push_back(naming(path, [&] { return read_file(path); }));
  if (error) throw IOError(folder + ": cannot be read: " + error.message());
  std::sort(files.begin(), files.end(),
            [](const Contained &a, const Contained &b) { return a.start < b.start; });
  std::map<std::string, std::map<std::int64_t, double>> by_tag;
  for (const Contained &file : files)
    for (const Event &event : file.events) {
      if (event.plugin == "scalars" && event.numbers.defined())
        by_tag[event.tag][event.step] = static_cast<double>(event.numbers.item<float>());
      else if (event.plugin == "session")
        for (auto &[tag, series] : by_tag)
          series.erase(series.lower_bound(event.step), series.end());
    }
  std::map<std::string, std::vector<std::pair<std::int64_t, double>>> all;
  for (const auto &[tag, series] : by_tag) all[tag] = {series.begin(), series.end()};
  return all;
}

} // namespace weft::events
