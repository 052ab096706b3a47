// Finds out what this machine has, and describes the x86-64 levels.

#include "JIT/TargetOptions.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

namespace weft::jit {

TargetOptions TargetOptions::host() {
  static const auto &found = *new TargetOptions([] {
    TargetOptions options;
    options.triple = llvm::sys::getProcessTriple();
    options.cpu = llvm::sys::getHostCPUName().str();
    llvm::StringMap<bool> has = llvm::sys::getHostCPUFeatures();
    llvm::SubtargetFeatures features;
    for (const auto &feature : has) features.AddFeature(feature.first(), feature.second);
    options.features = features.getString();
    options.take_level(host_cpu_level());
    return options;
  }());
  return found;
}

TargetOptions TargetOptions::for_level(CpuLevel level) {
  TargetOptions options;
  options.cpu = "x86-64-v" + std::to_string(static_cast<int>(level));
  options.take_level(level);
  options.parallel_work = 0;
  return options;
}

void TargetOptions::take_level(CpuLevel level) {
  vector_bytes = level == CpuLevel::v4 ? 64 : level == CpuLevel::v3 ? 32 : 16;
  masked = level == CpuLevel::v4;
  fma = level != CpuLevel::v2;
}

} // namespace weft::jit
