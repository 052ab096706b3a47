// Compiled code for programs: used again where it exists, in this process or on disk, created where
// it does not. Keys, entries as bytes, and the folder that they are in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "Program/CompilerBackend.h"
#include "Program/Program.h"
#include "Support/Digest.h"
#include "Support/Fault.h"
#include <weft/phase.h>

namespace weft::cache {

/// The parts of a key, apart so that a miss can be explained.
struct Key {
  Digest program{};
  std::string pipeline;
  std::string build;    ///< the build ids of libweft and libweft-compiler
  std::string features; ///< comma-separated instruction sets

  Digest digest() const;
  bool operator==(const Key &) const = default;
};

/// The content of a program without what its code does not depend on: the names of the program and
/// of its variables, and where in the user's source its ops were called.
/// `scalars` says whether the values of its constants of one element count, which they do for code.
enum class Scalars : bool { any, own };
Digest hash(const Program &program, Scalars scalars = Scalars::own);

/// The build ids that this process's compiler has or would have; nothing if they are not known.
const std::optional<std::string> &build_id();

/// The key of code for this CPU, or for a GPU's chip; nothing if the build is not known.
std::optional<Key> key_of(const Digest &program, const std::string &chip = {});

/// What the cache keeps of a compile.
struct Entry {
  Key key;
  Digest module{};          ///< of the text of phase `trace`, for `weft-cache explain`
  std::string function;     ///< the name of the function that was compiled first
  std::int64_t created = 0; ///< seconds since 1970
  double compile_ms = 0;
  std::string symbol; ///< of the entry, in the object code
  std::uint64_t arena_bytes = 0;
  std::vector<std::uint64_t> variables; ///< CompiledCode::variables
  std::vector<SavedValue> saved;        ///< CompiledCode::saved
  std::vector<MemoryNote> memory;       ///< CompileReport::memory
  std::vector<SavedNote> saved_notes;   ///< CompileReport::saved
  std::string object;                   ///< an ELF object file
  std::string ptx, chip;                ///< CompiledCode::ptx and chip
};

std::string encode(const Entry &entry);
/// Bytes at the start of an entry that tell how many follow.
inline constexpr std::size_t kEntryHeader = 8 + 4 + 8 + sizeof(Digest);
/// What is wrong with a file of that many bytes that starts with these, kEntryHeader or all it has;
/// as of `decode`.
Check check_size(std::string_view start, std::uint64_t file_bytes);
/// The fault's message continues "the cache entry 3f9c... ".
Result<Entry> decode(std::string_view bytes);

/// Why code with this key may not run here, as above; nothing if it may.
Check check_key(const Key &found, const Key &wanted);

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
  /// cache is off or has no folder, which is logged. So is what is neither on nor off, and a size
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
  /// Which build of libweft-compiler compiled code for that build of libweft last, for when it is
  /// not there; both in hexadecimal digits. Nothing if that is not known.
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
  void evict(const std::string &kept, std::uint64_t written) const;

  std::string path_;
  std::uint64_t cap_;
};

/// The number of bytes that "4096", "512K", "64M" or "2G" stands for.
std::optional<std::uint64_t> parse_size(const std::string &text);

/// Code for a program: that of an equal program which is alive in this process, that of an entry on
/// disk, or compiled now and kept. Trouble with the disk is one line in the log and no error.
/// Thread-safe; equal programs are compiled once. With a `dump` everything is compiled anew. Code
/// is for the chip of `device`, if that is a GPU. Throws CompileError, and DeviceError for a device
/// that is not there.
CompiledCode compile(const Program &program, const std::string &dump, Device device = {});

/// Code on disk for a key, loaded; nothing if there is none that can be used, which the log says.
/// `name` is that of the function in the log.
std::optional<CompiledCode> load(const Folder &folder, const Key &key, const std::string &name);

/// Keeps code that was compiled for a key; only logs what keeps it from doing so.
void store(const Folder &folder, const Key &key, const std::string &name, const CompiledCode &code);

} // namespace weft::cache
