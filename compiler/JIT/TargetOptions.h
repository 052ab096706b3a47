// What code is compiled for: the CPU, and how hard to try.
#pragma once

#include "Support/Cpu.h"

#include <cstdint>
#include <string>

namespace weft::jit {

/// A CPU target and the choices that follow from it. Every phase from `linalg` on takes one.
struct TargetOptions {
  std::string triple = "x86_64-unknown-linux-gnu";
  /// As -mcpu and -mattr of LLVM's tools.
  std::string cpu = "x86-64-v2";
  std::string features;
  /// Bytes of the vector registers that loops use.
  std::int64_t vector_bytes = 16;
  /// Whether loads and stores under a mask are cheap.
  bool masked = false;
  /// Whether a multiply-add is an instruction.
  bool fma = false;
  /// Loops with at least this much work (simple elements) run on several threads; 0: never.
  std::int64_t parallel_work = 65536;

  /// This machine, with all its features.
  static TargetOptions host();
  /// The x86-64 level that precompiled kernels are compiled for; serial.
  static TargetOptions for_level(CpuLevel level);

  /// What processors of that level have of the above.
  void take_level(CpuLevel level);
};

} // namespace weft::jit
