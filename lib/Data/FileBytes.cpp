// Reads whole files, with room asked for before it is taken.
#include "Data/FileBytes.h"

#include <new>

#include "IO/InputFile.h"
#include "Support/Fault.h"
#include "Support/SystemMemory.h"
#include <weft/memory.h>

namespace weft::data {

std::string bytes_for(const std::string &path, std::uint64_t size) {
  // Pages that are promised and not there would end the process when they are touched; of a few
  // megabytes, asking takes longer than reading.
  const bool asks = size >= (64u << 20);
  try {
    if (asks && system_memory::shortage(size, memory_stats().current)) throw std::bad_alloc();
    if (size > std::string().max_size()) throw std::bad_alloc();
    return std::string(size, '\0');
  } catch (const std::bad_alloc &) {
    raise(ErrorKind::out_of_memory,
          path + ": " + std::to_string(size) + " bytes are more than can be had");
  }
}

std::string read_file(const std::string &path, std::uint64_t limit) {
  const InputFile file(path);
  if (file.size() > limit)
    file.fail("has " + std::to_string(file.size()) + " bytes, more than " + std::to_string(limit));
  std::string bytes = bytes_for(path, file.size());
  file.read_at(0, bytes.data(), bytes.size(), "contents");
  return bytes;
}

} // namespace weft::data
