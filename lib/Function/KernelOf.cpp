// Which kernel the function is that is traced next.
#include "Function/KernelOf.h"

#include <utility>

namespace weft::detail {

thread_local constinit KernelOf *KernelOf::innermost_ = nullptr;

KernelOf::KernelOf(std::string function, ProgramKernel kernel)
    : function_(std::move(function)), kernel_(std::move(kernel)), outer_(innermost_) {
  innermost_ = this;
}

KernelOf::~KernelOf() { innermost_ = outer_; }

std::optional<ProgramKernel> KernelOf::take(const std::string &function) {
  if (innermost_ == nullptr || innermost_->function_ != function) return std::nullopt;
  return std::exchange(innermost_->kernel_, std::nullopt);
}

} // namespace weft::detail
