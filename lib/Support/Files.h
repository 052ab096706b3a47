// Writing files: paths that can be one, the system's calls behind a table, and a file that appears
// as a whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "Support/Profile.h"

namespace weft {

/// Throws ValueError if the path is empty or has a NUL, where the system would take it to end.
void check_path(std::string_view function, std::string_view path);

/// The system's calls that files are written by, which tests watch and fail. Each member is the
/// call of the same name or what its comment says, and sets errno as the system does.
class FileCalls {
public:
  virtual ~FileCalls() = default;
  virtual int open(const char *path, int flags, mode_t mode);
  virtual ssize_t write(int descriptor, const void *bytes, std::size_t size);
  virtual ssize_t pwrite(int descriptor, const void *bytes, std::size_t size, off_t offset);
  /// Takes room on the disk; where the file system cannot do that, EOPNOTSUPP.
  virtual int allocate(int descriptor, off_t size);
  /// Whether writes pass the page cache by, which asks for whole blocks at multiples of a block.
  virtual int set_direct(int descriptor, bool direct);
  virtual int fsync(int descriptor);
  virtual int close(int descriptor);
  virtual int rename(const char *from, const char *to);
  /// The same, but EEXIST where something has the name already.
  virtual int rename_to_free(const char *from, const char *to);
  virtual int unlink(const char *path);
  virtual int mkdir(const char *path, mode_t mode);
};

/// Those that this process uses now.
FileCalls &file_calls();

/// Uses others from now on, which must live for as long as they are used; null for the system's.
/// For tests: files that are being written meanwhile see both.
void use_file_calls(FileCalls *calls);

/// A file under a temporary name beside its own; `commit` makes it durable and gives it its name. A
/// file that is not committed vanishes. What is there already keeps its mode and, where the process
/// may do that, its owner; a symbolic link stays one, and what it leads to is written; a file that
/// nobody or not this user may write is refused. A device or a pipe is written to. All members
/// throw IOError, naming the file, also where the system would end the process: beyond its limit on
/// the size of files, or into a pipe that nobody reads.
class AtomicFile {
public:
  /// `mode` is what the process's umask takes from, for a file that is not there yet.
  explicit AtomicFile(std::string path, unsigned mode = 0666);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  /// Whether what is written goes to a device or a pipe, in its order.
  bool is_stream() const { return temporary_.empty(); }
  void write(const void *bytes, std::size_t size);
  /// Writes over bytes from before, or behind them. Not for a stream.
  void write_at(std::uint64_t offset, const void *bytes, std::size_t size);
  /// Says how long the file will be, so that a full disk is seen before it is written.
  void reserve(std::uint64_t bytes);
  /// For a large file of which nothing is written yet: what is written goes to the disk past the
  /// page cache, in blocks of some MiB, where the file system can do that. This takes a small part
  /// of the processor's time, which the program may want for its own work meanwhile, and leaves in
  /// the cache what is there; a write into a cache that has room may be over earlier.
  void bypass_cache();
  void commit();
  /// The same under the name `path`, in the same folder, unless something has it: then nothing is
  /// changed, and another name may be tried. Returns whether that is its name now. Not for a
  /// stream.
  bool commit_as(const std::string &path);

private:
  [[noreturn]] void fail(const char *what) const;
  int write_before(std::size_t size);
  void write_block();
  void await_block();
  void end_blocks();
  void make_durable();
  void close_in_place();

  std::string path_;   ///< as it was given
  std::string target_; ///< where links lead
  std::string temporary_;
  int descriptor_ = -1;
  struct Block;
  std::unique_ptr<Block> block_; ///< what gathers while the cache is bypassed
  profile::Scope scope_{profile::Kind::file, "write"};
  bool durable_ = false;
};

/// Makes what was created, renamed and removed in a folder durable, as far as its file system can
/// do that. Throws IOError, which calls it by `path`.
void sync_folder(const std::string &folder, const std::string &path);
/// The folder that a path is in.
std::string folder_of(const std::string &path);

} // namespace weft
