// The table of file calls as the system has them.
#include "Support/FileCalls.h"

#include <atomic>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

int FileCalls::open(const char *path, int flags, mode_t mode) { return ::open(path, flags, mode); }

ssize_t FileCalls::write(int descriptor, const void *bytes, std::size_t size) {
  return ::write(descriptor, bytes, size);
}

ssize_t FileCalls::pwrite(int descriptor, const void *bytes, std::size_t size, off_t offset) {
  return ::pwrite(descriptor, bytes, size, offset);
}

int FileCalls::allocate(int descriptor, off_t size) {
  return ::fallocate(descriptor, 0, 0, size); // posix_fallocate writes where that is not known
}

int FileCalls::set_direct(int descriptor, bool direct) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags < 0 ? -1
                   : ::fcntl(descriptor, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int FileCalls::fsync(int descriptor) { return ::fsync(descriptor); }

int FileCalls::close(int descriptor) { return ::close(descriptor); }

int FileCalls::rename(const char *from, const char *to) { return ::rename(from, to); }

int FileCalls::rename_to_free(const char *from, const char *to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // A file system that does not know it: a link is as exclusive.
  return ::link(from, to) == 0 ? ::unlink(from) : -1;
}

int FileCalls::unlink(const char *path) { return ::unlink(path); }

int FileCalls::mkdir(const char *path, mode_t mode) { return ::mkdir(path, mode); }

namespace {

std::atomic<FileCalls *> replaced{nullptr};

} // namespace

FileCalls &file_calls() {
  static FileCalls &system = *new FileCalls; // files are written as late as by destructors
  FileCalls *const other = replaced.load(std::memory_order_acquire);
  return other == nullptr ? system : *other;
}

void use_file_calls(FileCalls *calls) { replaced.store(calls, std::memory_order_release); }

} // namespace weft
