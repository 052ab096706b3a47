// The instruction sets of the levels of x86-64, as its psABI has them.
#include "Export/Processors.h"

#include <weft/error.h>

#include "Support/Cpu.h"

namespace weft::archive {

std::string features_of(std::string_view processor) {
  if (processor.empty()) return host_cpu_features_text();
  std::string features = "sse3,ssse3,cx16,sse4.1,sse4.2,popcnt,sahf";
  if (processor == "x86-64-v2") return features;
  features += ",movbe,avx,fma,f16c,bmi,avx2,bmi2,lzcnt";
  if (processor == "x86-64-v3") return features;
  features += ",avx512f,avx512dq,avx512cd,avx512bw,avx512vl";
  return processor == "x86-64-v4" ? features : std::string();
}

void check_processor(std::string_view function, std::string_view processor) {
  if (!processor.empty() && !features_of(processor).empty()) return;
  throw ValueError(std::string(function) + ": there is no processor '" + std::string(processor) +
                   "'; there are x86-64-v2, x86-64-v3 and x86-64-v4, and this machine's where the "
                   "list is empty");
}

} // namespace weft::archive
