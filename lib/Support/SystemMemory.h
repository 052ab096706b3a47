// Memory from the operating system, asked for only when it can be had.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace weft::system_memory {

/// Bytes of memory and swap that this process may use at most: of the machine, or of the control
/// group it runs in.
std::size_t total();

/// Why `bytes` more cannot be had while `in_use` are used, or nothing if they can. The kernel would
/// promise them all the same and kill the process when it touches them.
std::optional<std::string> shortage(std::size_t bytes, std::size_t in_use);

/// Fresh zeroed pages (of 2 MiB where the kernel has them and the size is at least that), or null.
void *map(std::size_t bytes) noexcept;
/// `bytes` as given to map, rounded to what it takes.
std::size_t rounded(std::size_t bytes) noexcept;
void unmap(void *memory, std::size_t bytes) noexcept;

/// "4.0 TiB", "512 bytes".
std::string human(std::size_t bytes);

} // namespace weft::system_memory
