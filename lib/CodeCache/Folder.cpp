// Entries as bytes, and the cache's folder on disk: who may own it, how entries come and go.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <type_traits>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CodeCache/CodeCache.h"
#include "Support/Cpu.h"
#include "Support/Files.h"
#include "Support/FunctionRef.h"
#include "Support/Log.h"

namespace weft::cache {

namespace {

constexpr std::string_view kMagic = "WEFTCODE";
constexpr std::uint32_t kVersion = 5;

template <class T>
void put(std::string &to, T value) {
  static_assert(!std::is_enum_v<T>, "an entry has bytes of a size that it says");
  static_assert(std::is_trivially_copyable_v<T>);
  to.append(reinterpret_cast<const char *>(&value), sizeof value);
}

void put_text(std::string &to, std::string_view text) {
  put(to, static_cast<std::uint64_t>(text.size()));
  to += text;
}

/// Takes values off the front of some bytes; after one that is not there all are zero.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  T take() {
    T value{};
    const std::string_view bytes = piece(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string text() { return std::string(piece(take<std::uint64_t>())); }
  bool at_end() const { return ok_ && rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

private:
  std::string_view piece(std::uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }

  std::string_view rest_;
  bool ok_ = true;
};

Digest digest_of(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.finish();
}

Fault fault(std::string what) { return {ErrorKind::io, std::move(what)}; }

} // namespace

std::string encode(const Entry &entry) {
  std::string body;
  body.reserve(entry.object.size() + 1024);
  put(body, entry.key.program);
  for (const std::string *part : {&entry.key.pipeline, &entry.key.build, &entry.key.features})
    put_text(body, *part);
  put(body, entry.module);
  put_text(body, entry.function);
  put(body, entry.created);
  put(body, entry.compile_ms);
  put_text(body, entry.symbol);
  put(body, entry.arena_bytes);
  put(body, static_cast<std::uint64_t>(entry.variables.size()));
  for (const std::uint64_t variable : entry.variables) put(body, variable);
  put(body, static_cast<std::uint64_t>(entry.saved.size()));
  for (const SavedValue &value : entry.saved) {
    put(body, static_cast<std::uint8_t>(value.from));
    put(body, value.number);
    put(body, static_cast<std::uint8_t>(value.type.dtype));
    put(body, static_cast<std::uint64_t>(value.type.shape.size()));
    for (const std::int64_t size : value.type.shape) put(body, size);
  }
  put(body, static_cast<std::uint64_t>(entry.memory.size()));
  for (const MemoryNote &note : entry.memory) {
    put(body, static_cast<std::uint8_t>(note.kind));
    put(body, note.bytes);
    for (const std::string *part : {&note.what, &note.formula, &note.reason, &note.location})
      put_text(body, *part);
  }
  put(body, static_cast<std::uint64_t>(entry.saved_notes.size()));
  for (const SavedNote &note : entry.saved_notes) {
    put(body, static_cast<std::uint8_t>(note.form));
    put(body, note.bytes);
    put(body, note.times);
    for (const std::string *part :
         {&note.function, &note.what, &note.type, &note.reason, &note.location})
      put_text(body, *part);
  }
  for (const std::string *part : {&entry.object, &entry.ptx, &entry.chip}) put_text(body, *part);

  std::string bytes(kMagic);
  put(bytes, kVersion);
  put(bytes, static_cast<std::uint64_t>(body.size()));
  put(bytes, digest_of(body));
  return bytes + body;
}

Check check_size(std::string_view start, std::uint64_t file_bytes) {
  if (start.substr(0, kMagic.size()) != kMagic.substr(0, start.size()))
    return fault("is a file of another kind");
  if (start.size() < kEntryHeader) return fault("is truncated");
  // Magic, version, the size of what follows, and its digest.
  Reader reader(start.substr(kMagic.size()));
  const auto version = reader.take<std::uint32_t>();
  if (version != kVersion)
    return fault("has version " + std::to_string(version) + ", and this Weft reads version " +
                 std::to_string(kVersion));
  const auto size = reader.take<std::uint64_t>();
  if (file_bytes - kEntryHeader < size) return fault("is truncated");
  if (file_bytes - kEntryHeader > size) return fault("is damaged");
  return std::nullopt;
}

Result<Entry> decode(std::string_view bytes) {
  if (Check why = check_size(bytes, bytes.size())) return *why;
  Reader reader(bytes.substr(kEntryHeader - sizeof(Digest)));
  if (reader.take<Digest>() != digest_of(bytes.substr(kEntryHeader))) return fault("is damaged");

  Entry entry;
  entry.key.program = reader.take<Digest>();
  for (std::string *part : {&entry.key.pipeline, &entry.key.build, &entry.key.features})
    *part = reader.text();
  entry.module = reader.take<Digest>();
  entry.function = reader.text();
  entry.created = reader.take<std::int64_t>();
  entry.compile_ms = reader.take<double>();
  entry.symbol = reader.text();
  entry.arena_bytes = reader.take<std::uint64_t>();
  const auto variables = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < variables && reader.left() != 0; ++i)
    entry.variables.push_back(reader.take<std::uint64_t>());
  const auto saved = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < saved && reader.left() != 0; ++i) {
    SavedValue &value = entry.saved.emplace_back();
    value.from =
        reader.take<std::uint8_t>() == 0 ? SavedValue::From::input : SavedValue::From::output;
    value.number = reader.take<std::uint32_t>();
    value.type.dtype = static_cast<DType>(reader.take<std::uint8_t>());
    if (static_cast<int>(value.type.dtype) >= kNumDTypes) return fault("is damaged");
    const auto rank = reader.take<std::uint64_t>();
    for (std::uint64_t d = 0; d < rank && reader.left() != 0; ++d)
      value.type.shape.push_back(reader.take<std::int64_t>());
  }
  const auto notes = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < notes && reader.left() != 0; ++i) {
    MemoryNote &note = entry.memory.emplace_back();
    note.kind =
        static_cast<MemoryNote::Kind>(std::min<std::uint8_t>(reader.take<std::uint8_t>(), 3));
    note.bytes = reader.take<std::int64_t>();
    for (std::string *part : {&note.what, &note.formula, &note.reason, &note.location})
      *part = reader.text();
  }
  const auto saved_notes = reader.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < saved_notes && reader.left() != 0; ++i) {
    SavedNote &note = entry.saved_notes.emplace_back();
    note.form =
        static_cast<SavedNote::Form>(std::min<std::uint8_t>(reader.take<std::uint8_t>(), 3));
    note.bytes = reader.take<std::int64_t>();
    note.times = reader.take<std::int64_t>();
    for (std::string *part : {&note.function, &note.what, &note.type, &note.reason, &note.location})
      *part = reader.text();
  }
  for (std::string *part : {&entry.object, &entry.ptx, &entry.chip}) *part = reader.text();
  if (!reader.at_end()) return fault("is damaged");
  return entry;
}

Check check_key(const Key &found, const Key &wanted) {
  if (const std::string missing = missing_cpu_feature(found.features); !missing.empty())
    return fault("was written for " + missing + " and this CPU has none");
  if (found.build != wanted.build) return fault("was written by another build");
  if (found != wanted) return fault("was written for another program");
  return std::nullopt;
}

namespace {

constexpr std::uint64_t kDefaultCap = std::uint64_t{1} << 30;
/// A temporary file this old belongs to no process that still writes it.
constexpr std::int64_t kStaleSeconds = 600;
constexpr std::string_view kSuffix = ".code";
/// What an entry may have: no program's code comes near it.
constexpr std::uint64_t kMaxEntry = std::uint64_t{1} << 30;

std::string reason() { return std::strerror(errno); }

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Makes a folder and those above it.
bool make_folders(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  if (errno != ENOENT) return false;
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0 || !make_folders(path.substr(0, slash)))
    return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

/// Why code there is not to be trusted; null if it is.
const char *distrust(const struct stat &status) {
  if (status.st_uid != geteuid()) return "belongs to another user";
  if ((status.st_mode & 022) != 0) return "may be written by other users";
  return nullptr;
}

/// Closes a descriptor at the end of a scope.
struct Descriptor {
  int number;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

} // namespace

std::optional<std::uint64_t> parse_size(const std::string &text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc()) return std::nullopt;
  for (const std::string_view ending : {"iB", "B"})
    if (unit.size() > 1 && unit.ends_with(ending)) {
      unit.remove_suffix(ending.size());
      break;
    }
  if (unit.empty()) return number;
  const std::size_t power =
      unit.size() == 1 ? std::string_view("KMGT").find(unit[0]) : std::string_view::npos;
  if (power == std::string_view::npos) return std::nullopt;
  const auto shift = static_cast<unsigned>(10 * (power + 1));
  if (number > UINT64_MAX >> shift) return std::nullopt;
  return number << shift;
}

std::optional<Folder> Folder::from_environment() {
  const std::string use = environment("WEFT_CACHE");
  if (use == "off" || use == "0") return std::nullopt;
  if (!use.empty() && use != "on" && use != "1")
    log_line("error: WEFT_CACHE=" + use + " is neither on nor off: on is taken");
  std::string path = environment("WEFT_CACHE_DIR");
  if (path.empty()) {
    std::string base = environment("XDG_CACHE_HOME");
    // Relative paths there are to be ignored, says the specification of XDG's folders.
    if (!base.starts_with('/')) {
      base = environment("HOME");
      if (base.empty()) {
        log_line("error: there is no HOME, XDG_CACHE_HOME or WEFT_CACHE_DIR: compiled code is not "
                 "kept");
        return std::nullopt;
      }
      base += "/.cache";
    }
    path = base + "/weft";
  }
  std::uint64_t cap = kDefaultCap;
  if (const std::string size = environment("WEFT_CACHE_SIZE"); !size.empty()) {
    if (const auto parsed = parse_size(size)) cap = *parsed;
    else log_line("error: WEFT_CACHE_SIZE=" + size + " is no size such as 512M: 1G is taken");
  }
  return Folder(std::move(path), cap);
}

Check Folder::prepare() const {
  if (!make_folders(path_))
    return fault("the cache folder " + path_ + " cannot be created: " + reason());
  struct stat status;
  if (stat(path_.c_str(), &status) != 0)
    return fault("the cache folder " + path_ + " cannot be used: " + reason());
  if (!S_ISDIR(status.st_mode)) return fault("the cache folder " + path_ + " is no folder");
  if (const char *why = distrust(status)) return fault("the cache folder " + path_ + " " + why);
  return std::nullopt;
}

namespace {

/// The bytes of a file that is to be trusted, nothing if there is none. `check_start` looks at its
/// first bytes and its size, before memory is taken for all of it.
Result<std::optional<std::string>>
read_trusted(const std::string &path, std::uint64_t most,
             FunctionRef<Check(std::string_view start, std::uint64_t size)> check_start) {
  // No link is followed, and a pipe would not block.
  const Descriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (opened.number < 0) {
    if (errno == ENOENT) return std::optional<std::string>();
    return fault("cannot be read: " + reason());
  }
  struct stat status;
  if (fstat(opened.number, &status) != 0) return fault("cannot be read: " + reason());
  if (!S_ISREG(status.st_mode)) return fault("is no file");
  if (const char *why = distrust(status)) return fault(why);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most)
    return fault("has " + std::to_string(size) + " bytes, more than " + std::to_string(most));
  char start[kEntryHeader];
  const ssize_t got = pread(opened.number, start, sizeof start, 0);
  if (got < 0) return fault("cannot be read: " + reason());
  if (Check why = check_start({start, static_cast<std::size_t>(got)}, size)) return *why;
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::read(opened.number, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fault("cannot be read: " + reason());
    if (count == 0) return fault("is truncated");
    done += static_cast<std::size_t>(count);
  }
  // File systems note reads seldom or never, and the time of use decides who stays.
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  futimens(opened.number, times);
  return std::optional(std::move(bytes));
}

/// Writes a file that `read_trusted` will trust, whatever is there.
Check write_trusted(const std::string &path, const std::string &bytes) {
  // A pipe or a device of that name would be written to, and a file would keep its owner and mode.
  struct stat status;
  if (lstat(path.c_str(), &status) == 0 &&
      (!S_ISREG(status.st_mode) || distrust(status) || (status.st_mode & 0600) != 0600))
    unlink(path.c_str());
  try {
    AtomicFile target(path, 0600);
    target.write(bytes.data(), bytes.size());
    target.commit();
  } catch (const IOError &error) {
    return fault(error.what());
  }
  return std::nullopt;
}

/// Whether that may be a build id.
bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == text.npos;
}

} // namespace

Result<std::optional<std::string>> Folder::read(const std::string &name) const {
  return read_trusted(file(name), kMaxEntry, [](std::string_view start, std::uint64_t size) {
    return check_size(start, size);
  });
}

std::optional<std::string> Folder::compiler_of(const std::string &library) const {
  constexpr std::uint64_t kMost = 200; // digits
  auto text = read_trusted(note(library), kMost, [](auto, auto) { return Check(); });
  if (!text || !*text || !is_hex(**text)) return std::nullopt;
  return *text;
}

void Folder::note_compiler(const std::string &library, const std::string &compiler) const {
  if (compiler_of(library) == compiler) return;
  if (Check check = write_trusted(note(library), compiler))
    log_line("error: " + check->message + ": without its compiler the code is not found");
}

Check Folder::write(const std::string &name, const std::string &bytes) const {
  if (bytes.size() > std::min(cap_, kMaxEntry))
    return fault("the code has " + std::to_string(bytes.size()) +
                 " bytes, more than the cache folder " + path_ + " may hold");
  if (Check check = write_trusted(file(name), bytes)) return check;
  evict(name, bytes.size());
  return std::nullopt;
}

std::vector<Folder::Found> Folder::scan() const {
  std::vector<Found> found;
  DIR *folder = opendir(path_.c_str());
  if (folder == nullptr) return found;
  const std::int64_t now = std::time(nullptr);
  while (const dirent *item = readdir(folder)) {
    const std::string_view name = item->d_name;
    struct stat status;
    if (name.starts_with('.') ||
        fstatat(dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (name.ends_with(kSuffix)) {
      found.push_back({std::string(name.substr(0, name.size() - kSuffix.size())),
                       static_cast<std::uint64_t>(status.st_size), status.st_atim.tv_sec});
    } else if (name.find(".code.tmp-") != std::string_view::npos &&
               now - status.st_mtim.tv_sec > kStaleSeconds) {
      unlinkat(dirfd(folder), item->d_name, 0); // its writer was killed
    }
  }
  closedir(folder);
  std::sort(found.begin(), found.end(), [](const Found &a, const Found &b) {
    return a.used != b.used ? a.used > b.used : a.name < b.name;
  });
  return found;
}

namespace {

/// What the folder holds, as far as its writers know: a folder of 100,000 entries takes 0.2 s to
/// look through, which no compilation should wait for. Files that are removed by hand, and writers
/// that are killed, make it wrong by a little until the folder is looked through again.
struct Usage {
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  /// How many entries were written since the folder was looked through.
  std::uint64_t writes = 0;
};

/// Entries are written this often at least before the folder is looked through without need.
constexpr std::uint64_t kFewWrites = 256;
constexpr std::string_view kUsage = "/.usage";

} // namespace

void Folder::evict(const std::string &kept, std::uint64_t written) const {
  const Descriptor opened(
      open((path_ + std::string(kUsage)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  // Without it, as on a full disk, the folder is looked through each time.
  const bool locked = opened.number >= 0 && flock(opened.number, LOCK_EX | LOCK_NB) == 0;
  // Another writer makes room at this moment, and nobody waits for one that was stopped.
  if (opened.number >= 0 && !locked && errno == EWOULDBLOCK) return;
  Usage usage;
  const bool known = locked && pread(opened.number, &usage, sizeof usage, 0) == sizeof usage;
  usage.bytes += written;
  ++usage.entries;
  ++usage.writes;
  if (!known || usage.bytes > cap_ || usage.writes > std::max(kFewWrites, usage.entries)) {
    std::vector<Found> entries = scan();
    usage = {0, entries.size(), 0};
    for (const Found &entry : entries) usage.bytes += entry.bytes;
    // A full folder makes room for more than this entry, so that the next one need not look.
    const std::size_t most =
        usage.bytes > cap_ ? entries.size() - entries.size() / 16 : entries.size();
    for (auto entry = entries.rbegin();
         entry != entries.rend() && (usage.bytes > cap_ || usage.entries > most); ++entry) {
      if (entry->name == kept) continue;
      // Somebody else may have removed it.
      unlink(file(entry->name).c_str());
      usage.bytes -= entry->bytes;
      --usage.entries;
    }
  }
  // What is not written whole is not read either.
  if (locked && pwrite(opened.number, &usage, sizeof usage, 0) != sizeof usage)
    static_cast<void>(ftruncate(opened.number, 0));
}

std::vector<Listed> Folder::list() const {
  std::vector<Listed> all;
  for (const Found &found : scan()) {
    Listed listed{found.name, found.bytes, found.used, fault("cannot be read")};
    // Looking at an entry is no use of it.
    auto bytes = read(found.name);
    const timespec times[2] = {{found.used, 0}, {0, UTIME_OMIT}};
    utimensat(AT_FDCWD, file(found.name).c_str(), times, AT_SYMLINK_NOFOLLOW);
    if (!bytes) listed.entry = bytes.fault();
    else if (*bytes) listed.entry = decode(**bytes);
    else continue; // gone in the meantime
    all.push_back(std::move(listed));
  }
  return all;
}

Result<std::size_t> Folder::clear() const {
  std::size_t removed = 0;
  for (const Found &found : scan()) {
    if (unlink(file(found.name).c_str()) == 0) ++removed;
    else if (errno != ENOENT) return fault(file(found.name) + " cannot be removed: " + reason());
  }
  if (DIR *folder = opendir(path_.c_str())) {
    while (const dirent *item = readdir(folder))
      if (const std::string_view name = item->d_name;
          name.starts_with("compiler-") || name == kUsage.substr(1))
        unlinkat(dirfd(folder), item->d_name, 0);
    closedir(folder);
  }
  return removed;
}

} // namespace weft::cache
