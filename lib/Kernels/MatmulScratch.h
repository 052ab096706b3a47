// Memory that kernels work in, such as packed matrix operands, kept per thread between calls.
#pragma once

#include <cstddef>

namespace weft::kernels {

/// What a buffer is used for: uses that are live at the same time have their own buffers.
enum class Scratch { panels, rows, vector, tail, sums, kernel, indices, count };

/// At least `bytes` bytes, aligned to 64, of this thread's buffer for `use`, or null when there is
/// no such memory. Valid until this thread's next call for the same use. The contents are
/// arbitrary.
void *scratch(Scratch use, size_t bytes) noexcept;

} // namespace weft::kernels
