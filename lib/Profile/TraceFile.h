// Writes events as Chrome's trace format, which Perfetto reads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <unistd.h>

#include "Support/Profile.h"

namespace weft::profile {

/// A trace that is good at any moment: a list of events whose closing bracket may be missing.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
class TraceFile {
public:
  /// Opens it. Throws IOError.
  TraceFile(std::string path, std::int64_t start, std::int64_t max_events);
  ~TraceFile();
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;

  /// Appends events, as long as there may be more. What goes wrong is kept for `finish`.
  void add(int thread, std::string_view thread_name, std::span<const Event> events);
  /// Says how many were left out, and ends the list. What went wrong, if anything did.
  std::optional<std::string> finish();

  const std::string &path() const { return path_; }

private:
  void write(std::string_view text);
  void append(std::string &text, const Event &event, int thread);
  const std::string &json_of(const char *text);

  std::string path_;
  std::int64_t start_, left_, omitted_ = 0;
  std::string process_ = std::to_string(getpid());
  std::unordered_map<const char *, std::string> texts_; ///< of events, as JSON
  std::vector<bool> named_;                             ///< threads whose names are written
  int descriptor_ = -1;
  int error_ = 0;
};

} // namespace weft::profile
