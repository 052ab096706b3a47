// Profiling: who did what when, noted by each thread for as long as somebody wants to know.
//
// A thread notes in a list of its own; a full list goes to the sink, as does the rest when the
// profile ends. While nobody records, a scope costs the read of one byte.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <span>
#include <string_view>

namespace weft::profile {

/// What an event is of.
enum class Kind : std::uint8_t {
  op,         ///< an eager op
  call,       ///< a function of the library that is composed of others
  layer,      ///< a layer of nn
  gradient,   ///< a tape's gradient
  trace,      ///< a function that is traced
  compile,    ///< a program that is compiled, or loaded from the cache
  phase,      ///< a phase of that
  function,   ///< a call of compiled code
  code,       ///< a loop or a library call inside of it
  host,       ///< a callable that compiled code calls
  part,       ///< a thread's part of a parallel loop
  allocation, ///< a large block
  data,       ///< waiting for the next element of a data set
  file,       ///< a file that is written or read
  memory,     ///< bytes of tensors at a moment, in `value`
};
inline constexpr std::size_t kKinds = static_cast<std::size_t>(Kind::memory) + 1;
/// As traces spell it.
const char *name_of(Kind kind);

/// A name and a line of the user's; texts live for ever.
struct Label {
  const char *name = "";
  const char *file = nullptr; ///< null if the line is not known
  std::uint32_t line = 0;
};

/// What happened on a thread. Texts live for ever.
struct Event {
  Kind kind{};
  const char *name = "";
  const char *file = nullptr; ///< of the user's line; null if that is not known
  std::uint32_t line = 0;
  std::int64_t begin = 0, end = 0; ///< nanoseconds of the steady clock
  std::int64_t inner = 0;          ///< of these in events inside
  std::int64_t value = -1;         ///< bytes, of allocations and memory
  const char *detail = nullptr;    ///< types, in words
};

/// Where events go. Called by one thread at a time, by each with its own number; must not note.
class Sink {
public:
  Sink() = default;
  virtual ~Sink() = default;
  Sink(const Sink &) = delete;
  Sink &operator=(const Sink &) = delete;
  virtual void take(int thread, std::string_view thread_name, std::span<const Event> events) = 0;
};

extern constinit std::atomic<bool> recording;
/// Whether somebody records.
inline bool on() { return recording.load(std::memory_order_relaxed); }
/// Whether events of this process go to a sink: those of one that forked do not.
bool busy();
/// Whether that is to see inside of compiled functions.
bool inside_functions();

/// Lets events go to `sink`, until `stop`. False if `busy`.
bool start(Sink &sink, bool inside_functions);
/// Hands the rest to the sink; no call of it runs or comes after. Open scopes are not noted.
void stop(Sink &sink);
/// A text that lives for ever.
const char *kept(std::string_view text);
/// Nanoseconds of the steady clock.
std::int64_t now();

/// What this thread is at, by its innermost scope.
Label innermost();

/// Notes an event that is over.
void note(const Event &event);
/// The same, as something that happened inside of the innermost scope.
void note_inside(const Event &event);
/// Notes how many bytes tensors have now; `always`, or if a while has passed since.
void note_memory(bool always);

/// An event from here to its end, at the user's line that the thread is at. Scopes nest.
class Scope {
public:
  /// `name` must live for ever.
  Scope(Kind kind, const char *name) {
    if (on()) [[unlikely]]
      begin(kind, name);
  }
  Scope(Kind kind, std::string_view name) {
    if (on()) [[unlikely]]
      begin(kind, kept(name));
  }
  Scope(Kind kind, const Label &label) {
    if (on()) [[unlikely]]
      begin(kind, label);
  }
  ~Scope() {
    if (open_) [[unlikely]]
      end();
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

  bool noted() const { return open_; }
  Label label() const { return {event_.name, event_.file, event_.line}; }
  void set_detail(std::string_view detail) {
    if (open_) event_.detail = kept(detail);
  }
  void set_value(std::int64_t value) { event_.value = value; }

private:
  void begin(Kind kind, const char *name);
  void begin(Kind kind, const Label &label);
  void end() noexcept;
  friend void note(const Event &event);
  friend void note_inside(const Event &event);

  bool open_ = false;
  Event event_;
  Scope *outer_ = nullptr;
  std::uint64_t session_ = 0;
};

} // namespace weft::profile
