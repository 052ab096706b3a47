// What loading programs is without libweft: functions are found in a table, and nothing is
// compiled.
#include <cstring>

#include "CodeCache/CodeLoader.h"
#include "Export/Runnable.h"

/// In the order of their names; the last has none. cmake/RuntimeSymbols.cmake writes it.
struct RuntimeSymbol {
  const char *name;
  void (*address)();
};
extern "C" const RuntimeSymbol weft_runtime_symbols[];

namespace weft {

void *cache::resolve_symbol(const char *name) {
  for (const RuntimeSymbol *symbol = weft_runtime_symbols; symbol->name != nullptr; ++symbol)
    if (std::strcmp(symbol->name, name) == 0) return reinterpret_cast<void *>(symbol->address);
  return nullptr;
}

CompiledCode archive::compile_again(const SavedProgram &, const std::string &name,
                                    const std::string &chip) {
  throw CompileError(
      name + ": a program without libweft cannot compile; export it with " +
      (chip.empty() ? "this processor among its processors" : chip + " among its chips"));
}

} // namespace weft
