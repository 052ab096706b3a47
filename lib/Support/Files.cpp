// Checks paths, calls the system, and writes files whole.
#include "Support/Files.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/error.h>

namespace weft {

void check_path(std::string_view function, std::string_view path) {
  if (path.empty()) throw ValueError(std::string(function) + ": the path is empty");
  if (const std::size_t at = path.find('\0'); at != path.npos)
    throw ValueError(std::string(function) + ": the path has a NUL behind '" +
                     std::string(path.substr(0, at)) + "', which no file name may have");
}

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

std::string folder_of(const std::string &path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

namespace {

/// Where the links of a path lead, also if nothing is there.
std::string followed(std::string path) {
  for (int links = 0; links < 40; ++links) {
    char to[PATH_MAX];
    const ssize_t length = readlink(path.c_str(), to, sizeof to);
    if (length <= 0) return path; // no link
    const std::string target(to, static_cast<std::size_t>(length));
    path = target.starts_with('/') ? target : folder_of(path) + "/" + target;
  }
  return path; // a circle, which opening it will tell
}

/// The start of a name for a temporary beside a file: that of the file, cut off between characters
/// of UTF-8 where it is so long that nothing could follow.
std::string temporary_start(const std::string &target) {
  constexpr std::size_t kLongest = 100;
  const std::size_t slash = target.rfind('/'), name = slash == std::string::npos ? 0 : slash + 1;
  if (target.size() - name <= kLongest) return target;
  std::size_t end = name + kLongest;
  while (end > name && (static_cast<unsigned char>(target[end]) & 0xc0) == 0x80) --end;
  return target.substr(0, end);
}

/// Keeps SIGXFSZ and SIGPIPE from this thread, whose cause the failing write tells too.
class WithoutSignals {
public:
  WithoutSignals() {
    sigemptyset(&ours_);
    sigset_t pending;
    sigpending(&pending);
    // One that waits already is not ours to take away.
    for (const int signal : {SIGXFSZ, SIGPIPE})
      if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~WithoutSignals() {
    const int error = errno;
    const timespec at_once{0, 0};
    while (sigtimedwait(&ours_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  WithoutSignals(const WithoutSignals &) = delete;
  WithoutSignals &operator=(const WithoutSignals &) = delete;

private:
  sigset_t ours_, before_;
};

} // namespace

/// Bytes that go to the disk together, and those of before, which go there meanwhile. Blocks of a
/// disk, and what it asks of memory, are at most a page.
struct AtomicFile::Block {
  static constexpr std::size_t kSize = std::size_t{4} << 20, kAlignment = 4096;
  struct Free {
    void operator()(char *bytes) const { std::free(bytes); }
  };
  using Bytes = std::unique_ptr<char, Free>;
  static Bytes allocate() {
    return Bytes(static_cast<char *>(std::aligned_alloc(kAlignment, kSize)));
  }

  Bytes bytes = allocate(), before = allocate();
  std::size_t size = 0;
  bool direct = true;
  std::future<int> writing; ///< of `before`; the error, or 0
};

void AtomicFile::fail(const char *what) const {
  throw IOError(path_ + ": " + what + ": " + std::strerror(errno));
}

AtomicFile::AtomicFile(std::string path, unsigned mode)
    : path_(std::move(path)), target_(followed(path_)) {
  struct stat status;
  if (lstat(target_.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    errno = ELOOP;
    fail("cannot be written");
  }
  const bool exists = stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    fail("cannot be written");
  }
  // A device or pipe is written to, never replaced.
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = file_calls().open(target_.c_str(), O_WRONLY | O_CLOEXEC, 0);
    if (descriptor_ < 0) fail("cannot be written");
    return;
  }
  // Renaming over it asks for no permission of the file itself, and the superuser needs none.
  if (exists && ((status.st_mode & 0222) == 0 ||
                 faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)) {
    errno = EACCES;
    fail("is read-only");
  }
  static std::atomic<unsigned> count{0};
  const std::string start = temporary_start(target_);
  // Names of this process that do not exist yet: another process, or an earlier one that was
  // killed, may have left some.
  for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
    temporary_ = start + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(count++);
    descriptor_ = file_calls().open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                    exists ? mode_t{0600} : static_cast<mode_t>(mode));
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) fail("cannot be written");
  // Says that somebody writes it, as long as that is so: a wish, as not every disk has locks.
  static_cast<void>(flock(descriptor_, LOCK_EX | LOCK_NB));
  if (!exists) return;
  // Who may not give files away keeps the new one. The owner first, as that takes bits of the mode.
  if (fchown(descriptor_, status.st_uid, status.st_gid) != 0 &&
      fchown(descriptor_, static_cast<uid_t>(-1), status.st_gid) != 0)
    errno = 0;
  if (fchmod(descriptor_, status.st_mode & 07777) != 0) {
    const int error = errno;
    file_calls().close(descriptor_);
    file_calls().unlink(temporary_.c_str());
    errno = error;
    fail("cannot be given the mode of the file before");
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  block_.reset(); // waits for what is being written
  file_calls().close(descriptor_);
  if (!temporary_.empty()) file_calls().unlink(temporary_.c_str());
}

namespace {

/// Calls `write(bytes, size)`, which writes as many as it can, until all are.
template <class Write>
bool write_all(const void *bytes, std::size_t size, const Write &write) {
  const WithoutSignals guard;
  const char *next = static_cast<const char *>(bytes);
  while (size != 0) {
    const ssize_t written = write(next, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    next += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

} // namespace

void AtomicFile::bypass_cache() {
  if (is_stream()) return;
  auto block = std::make_unique<Block>();
  if (block->bytes == nullptr || block->before == nullptr ||
      file_calls().set_direct(descriptor_, true) != 0)
    return;
  block_ = std::move(block);
}

/// Writes what the block has `before`; the error, or 0.
int AtomicFile::write_before(std::size_t size) {
  const bool written =
      write_all(block_->before.get(), size, [&](const char *next, std::size_t left) {
        const ssize_t count = file_calls().write(descriptor_, next, left);
        // What this disk asks of direct writes is more than a page, or it wrote less than a block.
        if (count >= 0 || errno != EINVAL || !block_->direct) return count;
        block_->direct = false;
        if (file_calls().set_direct(descriptor_, false) != 0) return ssize_t{-1};
        return file_calls().write(descriptor_, next, left);
      });
  return written ? 0 : errno;
}

void AtomicFile::await_block() {
  if (!block_->writing.valid()) return;
  errno = block_->writing.get();
  if (errno != 0) fail("cannot be written");
}

/// Begins to write what was gathered, so that the disk works while the next block is filled.
void AtomicFile::write_block() {
  await_block();
  std::swap(block_->bytes, block_->before);
  const std::size_t size = std::exchange(block_->size, 0);
  const auto write = [this, size] { return write_before(size); };
  try {
    block_->writing = std::async(std::launch::async, write);
  } catch (const std::system_error &) { // there are no more threads
    errno = write();
    if (errno != 0) fail("cannot be written");
  }
}

void AtomicFile::end_blocks() {
  if (block_ == nullptr) return;
  await_block();
  // The rest is no whole block.
  if (block_->direct && file_calls().set_direct(descriptor_, false) != 0) fail("cannot be written");
  block_->direct = false;
  write_block();
  await_block();
  block_.reset();
}

void AtomicFile::write(const void *bytes, std::size_t size) {
  if (block_ != nullptr) {
    for (const char *next = static_cast<const char *>(bytes); size != 0;) {
      const std::size_t count = std::min(size, Block::kSize - block_->size);
      std::memcpy(block_->bytes.get() + block_->size, next, count);
      block_->size += count;
      next += count;
      size -= count;
      if (block_->size == Block::kSize) write_block();
    }
    return;
  }
  if (!write_all(bytes, size, [&](const char *next, std::size_t left) {
        return file_calls().write(descriptor_, next, left);
      }))
    fail("cannot be written");
}

void AtomicFile::write_at(std::uint64_t offset, const void *bytes, std::size_t size) {
  end_blocks();
  const auto *const first = static_cast<const char *>(bytes);
  if (!write_all(bytes, size, [&](const char *next, std::size_t left) {
        return file_calls().pwrite(descriptor_, next, left,
                                   static_cast<off_t>(offset) + (next - first));
      }))
    fail("cannot be written");
}

void AtomicFile::reserve(std::uint64_t bytes) {
  if (is_stream() || bytes == 0) return;
  const WithoutSignals guard;
  if (file_calls().allocate(descriptor_, static_cast<off_t>(bytes)) == 0) return;
  // Others are file systems that cannot say, where writing will tell.
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail("cannot be written");
}

void AtomicFile::make_durable() {
  end_blocks();
  // A disk may report that it is full, or broken, as late as here. What was not written then may be
  // lost, and a second try would not tell.
  if (!durable_ && file_calls().fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS)
    fail("cannot be made durable");
  durable_ = true;
}

void AtomicFile::close_in_place() {
  file_calls().close(descriptor_);
  descriptor_ = -1;
  sync_folder(folder_of(target_), path_);
}

void AtomicFile::commit() {
  if (is_stream()) {
    const int closed = file_calls().close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail("cannot be written");
    return;
  }
  make_durable();
  if (file_calls().rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in place");
  close_in_place();
}

bool AtomicFile::commit_as(const std::string &path) {
  make_durable();
  if (file_calls().rename_to_free(temporary_.c_str(), path.c_str()) != 0) {
    if (errno == EEXIST) return false;
    fail("cannot be put in place");
  }
  path_ = target_ = path;
  close_in_place();
  return true;
}

void sync_folder(const std::string &folder, const std::string &path) {
  const int descriptor = file_calls().open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (descriptor < 0) return; // one that may be written, but not read
  const bool synced = file_calls().fsync(descriptor) == 0;
  const int error = errno;
  file_calls().close(descriptor);
  if (synced || error == EINVAL || error == EROFS) return; // some file systems cannot do that
  throw IOError(path + ": its folder cannot be made durable: " + std::strerror(error));
}

} // namespace weft
