// The table and the JSON file.
#include "Report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;

// Three significant digits or so, without an exponent.
std::string number(double value) {
  char text[32];
  const int decimals = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// "instructions 297" or "differentiate 0.9  linalg 4.1".
std::string words(const Json &fields) {
  std::string text;
  for (const auto &[key, value] : fields.items()) {
    if (value.is_object()) {
      text += (text.empty() ? "" : "\n    ") + key + ": " + words(value);
      continue;
    }
    text += (text.empty() ? "" : "  ") + key + " " +
            (value.is_number() ? number(value.get<double>()) : value.get<std::string>());
  }
  return text;
}

Json to_json(const Row &row) {
  Json object = {{"name", row.name}, {"value", row.value},    {"unit", row.unit},
                 {"peer", nullptr},  {"peer_value", nullptr}, {"ratio", nullptr}};
  if (row.peer_value) {
    object["peer"] = row.peer;
    object["peer_value"] = *row.peer_value;
    if (row.ratio()) object["ratio"] = *row.ratio();
  }
  object.update(row.fields);
  return object;
}

} // namespace

void print_heading() {
  std::printf("%-32s %10s  %-5s %10s  %7s  %s\n", "name", "value", "unit", "peer's", "ratio",
              "peer");
  std::fflush(stdout);
}

void print_row(const Row &row) {
  const std::string theirs = row.peer_value ? number(*row.peer_value) : "";
  const std::string ratio = row.ratio() ? number(*row.ratio()) : "";
  std::printf("%-32s %10s  %-5s %10s  %7s  %s\n", row.name.c_str(), number(row.value).c_str(),
              row.unit.c_str(), theirs.c_str(), ratio.c_str(), row.peer.c_str());
  if (!row.fields.empty()) std::printf("    %s\n", words(row.fields).c_str());
  if (!row.note.empty()) std::printf("    %s\n", row.note.c_str());
  std::fflush(stdout);
}

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  const bool special =
      std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored);
  target_ = special ? path_ : path_ + ".tmp";
  file_ = std::fopen(target_.c_str(), "w");
  if (file_ == nullptr) fail(errno);
}

JsonFile::~JsonFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  if (!in_place()) std::remove(target_.c_str());
}

void JsonFile::fail(int error) const {
  throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(error));
}

void JsonFile::write(const std::vector<Row> &rows) {
  Json list = Json::array();
  for (const Row &row : rows) list.push_back(to_json(row));
  const std::string text = list.dump(2) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
    fail(errno);
  if (in_place()) return;
  if (fsync(fileno(file_)) != 0 || std::rename(target_.c_str(), path_.c_str()) != 0) fail(errno);
  std::fclose(std::exchange(file_, nullptr));
}

} // namespace weft::bench
