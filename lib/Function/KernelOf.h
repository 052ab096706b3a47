// Functions of the library that targets may have one kernel for.
#pragma once

#include <optional>
#include <string>

#include "Program/Program.h"

namespace weft::detail {

/// While it lives, the first function of that name that this thread traces is marked as what the
/// kernel computes, see ProgramKernel: it has no variables, and gives what the op gives.
class KernelOf {
public:
  KernelOf(std::string function, ProgramKernel kernel);
  ~KernelOf();
  KernelOf(const KernelOf &) = delete;
  KernelOf &operator=(const KernelOf &) = delete;

  /// What a function of that name is to be marked as, once.
  static std::optional<ProgramKernel> take(const std::string &function);

private:
  std::string function_;
  std::optional<ProgramKernel> kernel_;
  KernelOf *const outer_;

  static thread_local constinit KernelOf *innermost_;
};

} // namespace weft::detail
