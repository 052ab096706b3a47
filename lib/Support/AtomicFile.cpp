// Temporary, fsync, rename.
#include "Support/AtomicFile.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/error.h>

namespace weft {

namespace {

std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

} // namespace

void AtomicFile::fail(const char *what) const {
  throw IOError(path_ + ": " + what + ": " + std::strerror(errno));
}

AtomicFile::AtomicFile(std::string path, unsigned mode) : path_(std::move(path)) {
  // A device or pipe is written to, never replaced.
  struct stat status;
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be written");
    return;
  }
  static std::atomic<unsigned> count{0};
  // Names of this process that do not exist yet: another process, or an earlier one that was
  // killed, may have left some.
  for (int attempt = 0; attempt < 100; ++attempt) {
    temporary_ = path_ + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ >= 0) return;
    if (errno != EEXIST) break;
  }
  fail("cannot be written");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void AtomicFile::write(const void *bytes, std::size_t size) {
  const char *next = static_cast<const char *>(bytes);
  while (size != 0) {
    const ssize_t written = ::write(descriptor_, next, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("cannot be written");
    }
    next += written;
    size -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (temporary_.empty()) {
    const int closed = close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail("cannot be written");
    return;
  }
  // A disk may report that it is full, or broken, as late as here.
  if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("cannot be made durable");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place");
  close(descriptor_);
  descriptor_ = -1;
  // The name is durable when the folder is. Some file systems cannot do that; the file is complete.
  const int folder = open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

} // namespace weft
