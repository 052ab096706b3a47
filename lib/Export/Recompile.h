// What is done with a program that an archive has no fitting code for.
#pragma once

#include <string>

#include "Program/CompilerBackend.h"

namespace weft::archive {

/// Code of a saved program for this machine, loaded. `name` is for messages. Throws CompileError.
/// Programs without libweft, in which nothing can be compiled, have one that always does.
CompiledCode compile_again(const SavedProgram &saved, const std::string &name);

} // namespace weft::archive
