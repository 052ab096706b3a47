// Opens and reads files for those who check their sizes first.
#include "IO/InputFile.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "Support/Profile.h"
#include <weft/error.h>

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

} // namespace weft
