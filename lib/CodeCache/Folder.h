// The cache's folder on disk: who may own it, how entries come and go.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "CodeCache/Entry.h"

namespace weft::cache {

/// An entry as a listing shows it.
struct Listed {
  std::string name; ///< 64 hexadecimal digits
  std::uint64_t bytes = 0;
  std::int64_t used = 0; ///< seconds since 1970
  Result<Entry> entry;
};

/// A folder of entries, each a file named after its key. Several processes may use one at a time:
/// files appear whole, by rename, and vanish whole.
class Folder {
public:
  /// `cap`: how many bytes entries may take together.
  Folder(std::string path, std::uint64_t cap) : path_(std::move(path)), cap_(cap) {}

  /// As WEFT_CACHE, WEFT_CACHE_DIR, WEFT_CACHE_SIZE, XDG_CACHE_HOME and HOME say; nothing where the
  /// cache is off or has no place, which is logged. So is what is neither on nor off, and a size
  /// that is none: the default is taken.
  static std::optional<Folder> from_environment();

  const std::string &path() const { return path_; }
  std::uint64_t cap() const { return cap_; }

  /// Makes the folder, for this user alone, if it is not there, and says why it may not be used.
  Check prepare() const;
  /// The bytes of an entry, nothing if there is none; marks it as used now. A fault continues "the
  /// cache entry 3f9c... ".
  Result<std::optional<std::string>> read(const std::string &name) const;
  /// Writes an entry, and removes those that were not used for longest where the cap asks for it.
  Check write(const std::string &name, const std::string &bytes) const;
  /// Which build of libweft-compiler made code for that build of libweft last, for when it is not
  /// there; both in hexadecimal digits. Nothing if that is not known.
  std::optional<std::string> compiler_of(const std::string &library) const;
  void note_compiler(const std::string &library, const std::string &compiler) const;
  /// All entries, the last used first.
  std::vector<Listed> list() const;
  /// Removes all entries, and says how many there were; with them what was noted of compilers.
  Result<std::size_t> clear() const;

private:
  struct Found {
    std::string name;
    std::uint64_t bytes;
    std::int64_t used;
  };
  std::string file(const std::string &name) const { return path_ + "/" + name + ".code"; }
  std::string note(const std::string &library) const { return path_ + "/compiler-" + library; }
  std::vector<Found> scan() const;
  void evict(const std::string &kept) const;

  std::string path_;
  std::uint64_t cap_;
};

/// The number of bytes that "4096", "512K", "64M" or "2G" stands for.
std::optional<std::uint64_t> parse_size(const std::string &text);

} // namespace weft::cache
