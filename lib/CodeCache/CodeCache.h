// Compiled code for programs: used again where it exists, in this process or on disk, made where it
// does not.
#pragma once

#include <functional>
#include <string>

#include "CodeCache/Folder.h"
#include "CodeCache/Key.h"
#include "Program/CompilerBackend.h"

namespace weft::cache {

/// Code for a program: that of an equal program which is alive in this process, that of an entry on
/// disk, or compiled now and kept. Trouble with the disk is one line in the log and no error.
/// Thread-safe; equal programs are compiled once. With a `dump` everything is compiled anew. Throws
/// CompileError.
CompiledCode compile(const Program &program, const std::string &dump);

/// Code on disk for a key, loaded; nothing if there is none that can be used, which the log says.
/// `name` is that of the function in the log.
std::optional<CompiledCode> load(const Folder &folder, const Key &key, const std::string &name);

/// Keeps code that was compiled for a key; only logs what keeps it from doing so.
void store(const Folder &folder, const Key &key, const std::string &name, const CompiledCode &code);

} // namespace weft::cache
