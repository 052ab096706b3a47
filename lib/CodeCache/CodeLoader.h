// Puts cached object code into this process without LLVM, which takes longer to load than the code
// takes to run.
#pragma once

#include <memory>
#include <string_view>

#include "Support/Fault.h"

namespace weft::cache {

/// Object code that lives in this process for as long as this object does.
class LoadedCode {
public:
  virtual ~LoadedCode() = default;
  /// The address of a symbol that the object defines; null if it defines none of that name.
  virtual void *lookup(std::string_view name) const = 0;
};

/// Links an x86-64 ELF object file as Weft's compiler emits it: position-independent, without
/// thread-local data. Its undefined symbols are found in libweft and in what libweft is linked
/// with. Exceptions may pass through its functions. The fault's message continues "the cache entry
/// 3f9c... ".
Result<std::unique_ptr<LoadedCode>> load_code(std::string_view object);

/// The address of a function of libweft or of what it is linked with; null if there is none. In
/// programs without libweft it is that of a table.
void *resolve_symbol(const char *name);

} // namespace weft::cache
