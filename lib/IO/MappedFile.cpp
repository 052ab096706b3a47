// Maps files into memory, and unmaps them.
#include "IO/MappedFile.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>

namespace weft {

MappedFile::MappedFile(const std::string &path) : file_(path) {
  if (file_.size() == 0) return; // which the system does not map
  void *memory = mmap(nullptr, file_.size(), PROT_READ, MAP_PRIVATE, file_.descriptor(), 0);
  if (memory == MAP_FAILED) fail(std::string("cannot be mapped: ") + std::strerror(errno));
  memory_ = static_cast<const char *>(memory);
}

MappedFile::~MappedFile() {
  if (memory_ != nullptr) munmap(const_cast<char *>(memory_), file_.size());
}

} // namespace weft
