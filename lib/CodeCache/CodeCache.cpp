// Looks code up in memory, then on disk, then has it compiled.
#include "CodeCache/CodeCache.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <mutex>

#include "CodeCache/CodeLoader.h"
#include "Program/Requests.h"
#include "Runtime/DeviceCalls.h"
#include "Support/Fork.h"
#include "Support/Log.h"
#include "Support/Profile.h"

namespace weft::cache {

namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::string shortened(const std::string &name) { return name.substr(0, 12); }

std::string in_milliseconds(double time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", time);
  return text;
}

/// The code of one key in this process.
struct Slot {
  std::mutex mutex;  ///< held while the code is being compiled
  CompiledCode code; ///< without what keeps it loaded
  std::weak_ptr<void> alive;
};

/// The slots of the process, of which those whose code is gone are dropped now and then.
class Slots {
public:
  std::shared_ptr<Slot> get(const Digest &key) {
    const std::lock_guard lock(mutex_);
    if (slots_.size() >= limit_) {
      std::erase_if(slots_, [](const auto &item) {
        return item.second.use_count() == 1 && item.second->alive.expired();
      });
      limit_ = std::max<std::size_t>(64, 2 * slots_.size());
    }
    std::shared_ptr<Slot> &slot = slots_[key];
    if (!slot) slot = std::make_shared<Slot>();
    return slot;
  }

private:
  forks::Mutex<std::mutex> mutex_;
  std::map<Digest, std::shared_ptr<Slot>> slots_;
  std::size_t limit_ = 64;
};

Slots &slots() {
  static auto *all = new Slots;
  return *all;
}

/// Says once in this process that the folder is of no use.
void log_folder(const Fault &why) {
  static std::once_flag once;
  std::call_once(once, [&] { log_line("error: " + why.message + ": compiled code is not kept"); });
}

void log_entry(const std::string &name, const std::string &what) {
  log_line("error: the cache entry " + shortened(name) + "... " + what +
           ": ignored and compiled anew");
}

/// The entry of a file, if it is what its name says.
Result<Entry> check(const std::string &bytes, const Key &key) {
  Result<Entry> entry = decode(bytes);
  if (!entry) return entry;
  if (Check check = check_key(entry->key, key)) return std::move(*check);
  return entry;
}

/// Notes the phases of a compile that ends now, one behind the other.
void note_phases(const CompileReport &report) {
  std::int64_t end = profile::now();
  for (auto phase = report.phases.rbegin(); phase != report.phases.rend(); ++phase) {
    profile::Event event;
    event.kind = profile::Kind::phase;
    event.name = profile::kept(phase->phase);
    event.end = end;
    event.begin = end -= static_cast<std::int64_t>(phase->milliseconds * 1e6);
    profile::note_inside(event);
  }
}

/// Compiles, and notes the phases for profiles before anything else takes its time.
CompiledCode compile_now(const Program &program, const std::string &dump, const std::string &chip) {
  CompiledCode code = compiler_backend().compile(program, dump, chip);
  if (profile::on()) note_phases(code.report);
  return code;
}

CompiledCode make(const Program &program, const std::string &dump, const std::string &chip,
                  const Key &key) {
  const std::optional<Folder> folder = Folder::from_environment();
  if (folder && dump.empty())
    if (auto found = load(*folder, key, program.name)) return std::move(*found);
  CompiledCode code = compile_now(program, dump, chip);
  code.report.cache = "miss";
  if (folder) store(*folder, key, program.name, code);
  else code.report.cache = "off";
  return code;
}

} // namespace

std::optional<CompiledCode> load(const Folder &folder, const Key &key, const std::string &name) {
  const auto start = std::chrono::steady_clock::now();
  if (Check check = folder.prepare()) {
    log_folder(*check);
    return std::nullopt;
  }
  const std::string file = hex(key.digest());
  auto ignore = [&](const Fault &why) {
    log_entry(file, why.message);
    return std::nullopt;
  };
  auto bytes = folder.read(file);
  if (!bytes) return ignore(bytes.fault());
  if (!*bytes) {
    log_line("cache miss: " + name + ": " + shortened(file) + "...");
    return std::nullopt;
  }
  Result<Entry> entry = check(**bytes, key);
  if (!entry) return ignore(entry.fault());
  auto loaded = load_code(entry->object);
  if (!loaded) return ignore(loaded.fault());
  void *address = (*loaded)->lookup(entry->symbol);
  if (address == nullptr) return ignore({ErrorKind::io, "lacks its function " + entry->symbol});

  CompiledCode code;
  code.entry = reinterpret_cast<CompiledEntry>(address);
  code.arena_bytes = entry->arena_bytes;
  code.ptx = std::move(entry->ptx);
  code.chip = std::move(entry->chip);
  code.variables.assign(entry->variables.begin(), entry->variables.end());
  code.saved = std::move(entry->saved);
  code.code = std::shared_ptr<LoadedCode>(std::move(*loaded));
  code.report.code_bytes = entry->object.size();
  code.report.arena_bytes = entry->arena_bytes;
  code.report.memory = std::move(entry->memory);
  code.report.saved = std::move(entry->saved_notes);
  code.report.cache = "hit";
  code.report.total_ms = milliseconds_since(start);
  code.report.phases = {{"cache", code.report.total_ms}};
  if (logging())
    log_line("cache hit: " + name + ": " + shortened(file) + "... in " +
             in_milliseconds(code.report.total_ms) + " instead of " +
             in_milliseconds(entry->compile_ms));
  return code;
}

void store(const Folder &folder, const Key &key, const std::string &name,
           const CompiledCode &code) {
  if (Check check = folder.prepare()) return log_folder(*check);
  Entry entry;
  entry.key = key;
  entry.module = code.module;
  entry.function = name;
  entry.created = std::time(nullptr);
  entry.compile_ms = code.report.total_ms;
  entry.symbol = code.symbol;
  entry.arena_bytes = code.arena_bytes;
  entry.variables.assign(code.variables.begin(), code.variables.end());
  entry.saved = code.saved;
  entry.memory = code.report.memory;
  entry.saved_notes = code.report.saved;
  entry.object = code.object;
  entry.ptx = code.ptx;
  entry.chip = code.chip;
  if (Check check = folder.write(hex(key.digest()), encode(entry))) return log_folder(*check);
  const std::size_t between = key.build.find('-');
  folder.note_compiler(key.build.substr(0, between), key.build.substr(between + 1));
}

namespace {

CompiledCode find_or_make(const Program &program, const std::string &dump,
                          const std::string &chip) {
  const auto start = std::chrono::steady_clock::now();
  if (fresh_code_requested()) {
    CompiledCode code = compile_now(program, dump, chip);
    code.report.cache = "off";
    code.object = {};
    return code;
  }
  const std::optional<Key> key = key_of(hash(program), chip);
  // Without a build there is no key, and most likely no compiler, which it says itself.
  if (!key) return compile_now(program, dump, chip);
  const std::shared_ptr<Slot> slot = slots().get(key->digest());
  const std::lock_guard lock(slot->mutex);
  CompiledCode code;
  if (std::shared_ptr<void> alive = slot->alive.lock(); alive && dump.empty()) {
    code = slot->code;
    code.code = std::move(alive);
    code.report.cache = "shared";
    code.report.total_ms = milliseconds_since(start);
    code.report.phases = {{"cache", code.report.total_ms}};
    log_line("cache hit: " + program.name + " shares code of this process");
    return code;
  }
  code = make(program, dump, chip, *key);
  code.object.clear();
  code.object.shrink_to_fit();
  slot->alive = code.code;
  slot->code = code;
  slot->code.code.reset();
  slot->code.report = {};
  slot->code.report.code_bytes = code.report.code_bytes;
  slot->code.report.memory = code.report.memory;
  slot->code.report.saved = code.report.saved;
  if (code.report.cache == "hit") {
    code.report.total_ms = milliseconds_since(start);
    code.report.phases = {{"cache", code.report.total_ms}};
  }
  return code;
}

} // namespace

CompiledCode compile(const Program &program, const std::string &dump, Device device) {
  const std::string chip =
      device == Device() ? std::string() : chip_of(device::runtime_of(device).facts());
  const forks::Delay whole;
  const profile::Scope scope(profile::Kind::compile, std::string_view(program.name));
  CompiledCode code = find_or_make(program, dump, chip);
  code.profiled = [](const Program &of) { return compiler_backend().compile_profiled(of); };
  code.for_device = [](const Program &of, Device where) { return compile(of, {}, where); };
  if (scope.noted() && (code.report.cache == "hit" || code.report.cache == "shared"))
    note_phases(code.report); // the others are noted
  return code;
}

} // namespace weft::cache
