// The text of events, and the file it goes to piece by piece.
#include "Profile/TraceFile.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "Support/Files.h"
#include <weft/error.h>

namespace weft::profile {

namespace {

/// As JSON; bytes that are no UTF-8 are replaced.
std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Microseconds with all digits of nanoseconds.
std::string microseconds(std::int64_t nanoseconds) {
  if (nanoseconds < 0) return "-" + microseconds(-nanoseconds);
  const std::string digits = std::to_string(1000 + nanoseconds % 1000);
  return std::to_string(nanoseconds / 1000) + "." + digits.substr(1);
}

std::string metadata(const char *name, int thread, const std::string &arguments) {
  return std::string("{\"name\":\"") + name +
         "\",\"ph\":\"M\",\"pid\":" + std::to_string(getpid()) +
         ",\"tid\":" + std::to_string(thread) + ",\"args\":{" + arguments + "}},\n";
}

std::string name_of_process() {
  char name[256] = "weft";
  const ssize_t length = readlink("/proc/self/exe", name, sizeof name);
  std::string path(name, length > 0 ? static_cast<std::size_t>(length) : std::strlen(name));
  return path.substr(path.rfind('/') + 1);
}

} // namespace

TraceFile::TraceFile(std::string path, std::int64_t start, std::int64_t max_events)
    : path_(std::move(path)), start_(start), left_(max_events) {
  descriptor_ =
      file_calls().open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
  if (descriptor_ < 0)
    throw IOError(path_ + ": the trace cannot be written: " + std::strerror(errno));
  write("[\n" + metadata("process_name", 0, "\"name\":" + json_text(name_of_process())));
}

TraceFile::~TraceFile() {
  if (descriptor_ >= 0) file_calls().close(descriptor_);
}

void TraceFile::write(std::string_view text) {
  while (!text.empty() && error_ == 0) {
    const ssize_t done = file_calls().write(descriptor_, text.data(), text.size());
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
    else if (done == 0) error_ = EIO;
    else if (errno != EINTR) error_ = errno;
  }
}

const std::string &TraceFile::json_of(const char *text) {
  std::string &known = texts_[text];
  if (known.empty()) known = json_text(text);
  return known;
}

void TraceFile::append(std::string &text, const Event &event, int thread) {
  const bool memory = event.kind == Kind::memory;
  text += "{\"name\":";
  text += memory ? "\"memory of tensors\"" : json_of(event.name);
  text += ",\"cat\":\"";
  text += name_of(event.kind);
  text += memory ? "\",\"ph\":\"C\",\"pid\":" : "\",\"ph\":\"X\",\"pid\":";
  text += process_ + ",\"tid\":" + std::to_string(thread);
  text += ",\"ts\":" + microseconds(event.begin - start_);
  if (!memory) text += ",\"dur\":" + microseconds(event.end - event.begin);
  text += ",\"args\":{";
  const char *between = "\"";
  const auto add = [&](const char *name, const std::string &value) {
    text += std::exchange(between, ",\"");
    text += name;
    text += "\":" + value;
  };
  if (event.file != nullptr) {
    std::string line = json_of(event.file);
    line.insert(line.size() - 1, ":" + std::to_string(event.line));
    add("line", line);
  }
  if (event.detail != nullptr) add("types", json_of(event.detail));
  if (event.value >= 0) add("bytes", std::to_string(event.value));
  text += "}},\n";
}

void TraceFile::add(int thread, std::string_view thread_name, std::span<const Event> events) {
  std::string text;
  const auto number = static_cast<std::size_t>(thread);
  if (number >= named_.size()) named_.resize(number + 1);
  if (!named_[number]) {
    named_[number] = true;
    text += metadata("thread_name", thread, "\"name\":" + json_text(thread_name));
    text += metadata("thread_sort_index", thread, "\"sort_index\":" + std::to_string(thread));
  }
  for (const Event &event : events) {
    if (left_ == 0) {
      ++omitted_;
      continue;
    }
    --left_;
    append(text, event, thread);
  }
  write(text);
}

std::optional<std::string> TraceFile::finish() {
  // The last event has no comma behind it.
  std::string last = metadata("weft", 0, "\"events_left_out\":" + std::to_string(omitted_));
  last.replace(last.size() - 2, 2, "\n]\n");
  write(last);
  if (file_calls().close(std::exchange(descriptor_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0) return std::nullopt;
  return path_ + ": the trace could not be written as a whole: " + std::strerror(error_);
}

} // namespace weft::profile
