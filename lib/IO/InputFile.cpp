// Opens files and reads them, for those who check their sizes first.
#include "IO/InputFile.h"

#include <cerrno>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "Support/Fault.h"
#include "Support/Profile.h"
#include "Support/SystemMemory.h"
#include <weft/error.h>
#include <weft/memory.h>

namespace weft {

void InputFile::fail(const std::string &what) const { throw IOError(path_ + ": " + what); }

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // A pipe that nobody writes would wait, and has no size to compare with.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) close(descriptor_);
    fail("cannot be opened: " + why);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  if (S_ISREG(status.st_mode)) return;
  close(descriptor_);
  fail(S_ISDIR(status.st_mode) ? "is a folder" : "is no regular file, but a pipe or a device");
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read_at(std::uint64_t offset, void *bytes, std::size_t size,
                        const char *what) const {
  const profile::Scope scope(profile::Kind::file, "read");
  auto *next = static_cast<char *>(bytes);
  while (size != 0) {
    const ssize_t got = pread(descriptor_, next, size, static_cast<off_t>(offset));
    if (got < 0) {
      if (errno == EINTR) continue;
      fail(std::string("cannot be read: ") + std::strerror(errno));
    }
    if (got == 0)
      fail("is truncated: it ends after " + std::to_string(offset) + " bytes, within its " + what);
    next += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
}

MappedFile::MappedFile(const std::string &path) : file_(path) {
  if (file_.size() == 0) return; // which the system does not map
  void *memory = mmap(nullptr, file_.size(), PROT_READ, MAP_PRIVATE, file_.descriptor(), 0);
  if (memory == MAP_FAILED) fail(std::string("cannot be mapped: ") + std::strerror(errno));
  memory_ = static_cast<const char *>(memory);
}

MappedFile::~MappedFile() {
  if (memory_ != nullptr) munmap(const_cast<char *>(memory_), file_.size());
}

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

} // namespace weft
