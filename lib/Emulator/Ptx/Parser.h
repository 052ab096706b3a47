// Reads the text of a PTX module.
#pragma once

#include "Emulator/Ptx/Lexer.h"
#include "Emulator/Ptx/Syntax.h"

namespace weft::emulator::ptx {

/// Reads a module, whose names are parts of `text`. Throws SyntaxError at the first thing that it
/// does not know: nothing is skipped but comments, `.loc`, `.file`, `.section` and `.pragma`, which
/// have no effect on what is computed.
Module parse(std::string_view text);

} // namespace weft::emulator::ptx
