// C++ callables that programs call with tensors, and what they are held to.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "Support/FunctionRef.h"
#include <weft/source.h>
#include <weft/tensor.h>

namespace weft {

/// A callable as compiled code and eager calls know it: tensors in, tensors out.
struct HostFunction {
  /// For messages and the IR; may be empty.
  std::string name;
  /// Called on the thread of the call, by several threads at once if several call.
  std::function<std::vector<Tensor>(std::span<const Tensor>)> callable;
};
using HostFunctionRef = std::shared_ptr<const HostFunction>;

/// A callable of a program under the name that its code has for it.
struct HostBinding {
  std::string symbol;
  HostFunctionRef function;
};

/// "host_call" and the name, for messages.
std::string prefix_of(const HostFunction &function);

/// Calls the callable and checks what it gives against `types`, whose sizes may be unknown. Results
/// are tensors of their own, contiguous. Throws what the callable throws; with `location`,
/// the user's line, ValueError, DTypeError or ShapeError, naming it and both types, if a result is
/// not what was said; StateError if a result is a tensor of a trace.
std::vector<Tensor> call_host(const HostFunction &function, std::span<const Tensor> operands,
                              std::span<const TensorType> types,
                              FunctionRef<SourceLocation()> location);

/// What compiled code asks the library itself for by a host call: `name` is the call, with all that
/// is known of it but its operands (OpDefs/CollectiveSymbol.h). Gives false for another name.
using LibraryCall = bool (*)(std::string_view name, std::span<const Tensor> operands,
                             FunctionRef<SourceLocation()> location, std::vector<Tensor> &results);
/// Who does such calls; null if nobody does, as in a program without the whole library.
void set_library_call(LibraryCall call);
LibraryCall library_call();

/// Whether a callable that compiled code called is running on this thread.
bool in_host_call();

/// Says so for as long as it lives.
class HostCallScope {
public:
  HostCallScope();
  ~HostCallScope();
  HostCallScope(const HostCallScope &) = delete;
  HostCallScope &operator=(const HostCallScope &) = delete;
};

} // namespace weft
