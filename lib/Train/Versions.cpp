// Versions of what a run's numbers depend on.
#include <fstream>
#include <string>

#include <sys/utsname.h>

#include "Support/Cpu.h"
#include "Support/Threads.h"
#include "Support/Version.h"
#include <weft/train/report.h>

namespace weft::train {

namespace {

/// What Linux calls the processor; its architecture where that says nothing.
std::string processor(const utsname &system) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return system.machine;
}

} // namespace

std::vector<std::pair<std::string, std::string>> versions() {
  utsname system{};
  uname(&system);
  return {
      {"Weft", library_version()},
      {"built by", "clang " __clang_version__},
      {"processor", processor(system)},
      {"instruction sets", host_cpu_features_text()},
      {"x86-64 level", "v" + std::to_string(static_cast<int>(host_cpu_level()))},
      {"threads", std::to_string(threads::max_threads())},
      {"system", std::string(system.sysname) + " " + system.release},
  };
}

} // namespace weft::train
