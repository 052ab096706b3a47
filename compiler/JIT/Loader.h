// Loads object code into this process, and takes it out again.
#pragma once

#include "JIT/ObjectCompiler.h"

#include <string_view>

namespace llvm::orc {
class JITDylib;
}

namespace weft::jit {

/// Who is told of code that is loaded, which must have line tables then.
struct LoadFor {
  bool gdb = false;  ///< by the interface that JIT compilers have to debuggers
  bool perf = false; ///< by /tmp/perf-PID.map
};

/// Object code that lives in this process for as long as this object does.
class LoadedObject {
public:
  ~LoadedObject();
  LoadedObject(const LoadedObject &) = delete;
  LoadedObject &operator=(const LoadedObject &) = delete;

  /// The address of a symbol that the object defines.
  Result<void *> lookup(std::string_view name) const;

private:
  friend Result<std::unique_ptr<LoadedObject>> loadObject(std::unique_ptr<llvm::MemoryBuffer>,
                                                          PhaseTimes *, LoadFor);
  explicit LoadedObject(llvm::orc::JITDylib &dylib) : dylib_(&dylib) {}

  llvm::orc::JITDylib *dylib_;
};

/// Links an object file into the process. Its undefined symbols are found in libweft and in what
/// libweft is linked with. Exceptions may pass through its functions. Thread-safe.
Result<std::unique_ptr<LoadedObject>> loadObject(std::unique_ptr<llvm::MemoryBuffer> object,
                                                 PhaseTimes *times = nullptr, LoadFor who = {});

} // namespace weft::jit
