// The log's sink.
#include "Support/Log.h"

#include "Support/CallSite.h"
#include "Support/Fork.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include <weft/log.h>

namespace weft {

namespace {

forks::Mutex<std::mutex> sink_mutex;
std::atomic<bool> has_sink = false;
LogSink &sink() {
  static LogSink &sink = *new LogSink;
  return sink;
}

bool to_stderr() {
  static const bool wanted = [] {
    const char *value = std::getenv("WEFT_LOG"); // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return wanted;
}

} // namespace

LogSink set_log_sink(LogSink fresh) {
  const std::lock_guard lock(sink_mutex);
  has_sink = static_cast<bool>(fresh);
  return std::exchange(sink(), std::move(fresh));
}

bool logging() { return has_sink || to_stderr(); }

static void write_line(std::string_view line, bool wanted) {
  LogSink current;
  {
    const std::lock_guard lock(sink_mutex);
    current = sink();
  }
  if (current) {
    const UserCode user;
    return current(line);
  }
  if (!wanted) return;
  // One call, so that lines of several threads do not mix.
  const std::string text = "weft: " + std::string(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void log_line(std::string_view line) { write_line(line, to_stderr()); }
void warn_line(std::string_view line) { write_line(line, true); }

} // namespace weft
