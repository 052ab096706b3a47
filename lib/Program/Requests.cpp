// Reads the environment at every compile, so that a program may change it.
#include "Program/Requests.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <set>

#include "Support/Log.h"
#include <weft/error.h>

namespace weft {

namespace {

constexpr int kNumPhases = static_cast<int>(Phase::ptx) + 1;

std::string variable(const char *name) {
  const char *value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it meanwhile
  return value == nullptr ? "" : value;
}

bool is_on(const char *name) {
  const std::string value = variable(name);
  return !value.empty() && value != "0";
}

/// Once for each wrong name, not at every compile.
void warn_of(const std::string &name) {
  static std::mutex mutex;
  static std::set<std::string> &known = *new std::set<std::string>;
  {
    const std::lock_guard lock(mutex);
    if (!known.insert(name).second) return;
  }
  warn_line("warning: WEFT_DUMP: there is no phase '" + name + "'; there are " + phase_names() +
            ", and all");
}

} // namespace

std::optional<Phase> phase_of(std::string_view name) {
  for (int i = 0; i < kNumPhases; ++i)
    if (name_of(static_cast<Phase>(i)) == name) return static_cast<Phase>(i);
  return std::nullopt;
}

std::string phase_names(Phase last) {
  std::string names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (i != 0) names += ", ";
    names += name_of(static_cast<Phase>(i));
  }
  return names;
}

std::string file_name_of(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  std::string file(name.substr(0, kLongest));
  for (char &c : file) {
    const bool keeps = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    if (!keeps) c = '_';
  }
  return file.empty() ? "_" : file;
}

void check_phase(std::string_view function, Phase phase) {
  if (static_cast<int>(phase) >= 0 && static_cast<int>(phase) < kNumPhases) return;
  throw ValueError(std::string(function) + ": the value " +
                   std::to_string(static_cast<int>(phase)) + " is no phase; there are " +
                   phase_names());
}

bool DumpRequest::wants(Phase phase) const {
  return std::find(phases.begin(), phases.end(), phase) != phases.end();
}

DumpRequest DumpRequest::from_environment() {
  DumpRequest request;
  request.folder = variable("WEFT_DUMP_DIR");
  const std::string list = variable("WEFT_DUMP");
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    const std::string name = list.substr(start, end - start);
    start = end + 1;
    if (name.empty()) continue;
    if (name == "all") {
      for (int i = 0; i < kNumPhases; ++i) request.phases.push_back(static_cast<Phase>(i));
    } else if (const std::optional<Phase> phase = phase_of(name)) {
      request.phases.push_back(*phase);
    } else {
      warn_of(name);
    }
  }
  return request;
}

bool debug_info_requested() { return is_on("WEFT_DEBUG_INFO"); }
bool perf_map_requested() { return is_on("WEFT_PERF"); }

bool fresh_code_requested() {
  return debug_info_requested() || perf_map_requested() ||
         !DumpRequest::from_environment().phases.empty();
}

} // namespace weft
