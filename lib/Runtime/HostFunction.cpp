// Calls C++ callables and checks what they give.
#include "Runtime/HostFunction.h"

#include <atomic>

#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Profile.h"

namespace weft {

namespace {

thread_local int depth = 0; ///< of callables that compiled code called

std::string counted(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " tensor" : " tensors");
}

/// Whether a result of that type was promised.
bool admits(const TensorType &promised, const TensorType &type) {
  if (promised.dtype != type.dtype) return false;
  if (is_any_rank(promised.shape)) return true;
  if (promised.shape.size() != type.shape.size()) return false;
  for (std::size_t i = 0; i < type.shape.size(); ++i)
    if (promised.shape[i] != unknown && promised.shape[i] != type.shape[i]) return false;
  return true;
}

void check_result(const HostFunction &function, std::size_t i, const Tensor &result,
                  const TensorType &promised, FunctionRef<SourceLocation()> location) {
  const std::string which = prefix_of(function) + ": result " + std::to_string(i);
  if (!result.defined()) throw ValueError(which + " is an undefined tensor", location());
  if (result.traced())
    throw StateError(which + " is a tensor of a trace: a callable gives values", location());
  const TensorType type = result.type();
  if (admits(promised, type)) return;
  raise(promised.dtype != type.dtype ? ErrorKind::dtype : ErrorKind::shape,
        which + " must be " + to_string(promised) + ", but the callable gave " + to_string(type),
        location());
}

} // namespace

std::string prefix_of(const HostFunction &function) {
  return function.name.empty() ? "host_call" : "host_call " + function.name;
}

std::vector<Tensor> call_host(const HostFunction &function, std::span<const Tensor> operands,
                              std::span<const TensorType> types,
                              FunctionRef<SourceLocation()> location) {
  std::vector<Tensor> results;
  {
    const profile::Scope scope(
        profile::Kind::host, std::string_view(function.name.empty() ? "host_call" : function.name));
    results = function.callable(operands);
  }
  if (results.size() != types.size())
    throw ValueError(prefix_of(function) + ": the callable must give " + counted(types.size()) +
                         ", but it gave " + counted(results.size()),
                     location());
  for (std::size_t i = 0; i < results.size(); ++i) {
    check_result(function, i, results[i], types[i], location);
    results[i] = make_contiguous(results[i]);
    // An operand that is given back is another tensor, or a tape would take it for the operand.
    const detail::TensorImpl *impl = results[i].impl();
    if (impl->references.load(std::memory_order_acquire) != 1)
      results[i] = detail::new_alias(results[i]);
  }
  return results;
}

namespace {
std::atomic<LibraryCall> the_library_call = nullptr;
} // namespace

void set_library_call(LibraryCall call) { the_library_call = call; }
LibraryCall library_call() { return the_library_call; }

bool in_host_call() { return depth != 0; }

HostCallScope::HostCallScope() { ++depth; }
HostCallScope::~HostCallScope() { --depth; }

} // namespace weft
