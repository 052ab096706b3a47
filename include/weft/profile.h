// Profiles: where a program's time and memory go, by ops, compiled functions, lines and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/source.h>

namespace weft {

/// What `trace_profile` and `Profile` are to note.
struct ProfileOptions {
  /// Whether calls of compiled functions are seen from inside, op by op: while the profile lasts,
  /// each function runs other code than else, which is compiled at its first call and computes the
  /// same, bit for bit. Without it a call is one event.
  bool inside_functions = true;
  /// How many events are written at most; later ones are counted only. At least 1.
  std::int64_t max_events = 1'000'000;
};

/// All events of one kind, name and line together.
struct ProfileEntry {
  /// "op" (eager), "code" (inside of a compiled function), "function" (a compiled call), "layer",
  /// "call" (a library function made of others), "gradient", "trace", "compile", "phase", "host"
  /// (a callable that compiled code calls), "part" (a thread's part of a loop), "allocation",
  /// "data", "file".
  std::string kind;
  std::string name;        ///< "matmul"; of loops that do several ops "multiply add tanh"
  SourceLocation location; ///< the user's line; may be unknown
  std::int64_t count = 0;
  double total_ms = 0; ///< of all threads
  double self_ms = 0;  ///< without what was noted inside
};

/// Notes what the process does, on all threads, from its construction to `stop` or its end. There
/// is one at a time. An eager op takes one to two microseconds more, an event inside of compiled
/// code 0.2, and a file adds about 0.6 to each. A process forked from this one is not noted, and
/// may have a profile of its own.
class Profile {
public:
  /// Throws StateError if there is one already.
  explicit Profile(const ProfileOptions &options = {}, std::source_location where = WEFT_HERE);
  /// Writes events to a file too, while it goes on: see trace_profile.
  Profile(const std::string &path, const ProfileOptions &options, std::source_location where);
  ~Profile();
  Profile(Profile &&) noexcept;
  Profile &operator=(Profile &&) noexcept;

  /// Ends it. Throws IOError if the file could not be written as a whole. (The destructor warns of
  /// that in the log.) Once is enough; more do nothing.
  void stop(std::source_location where = WEFT_HERE);

  /// What has taken time, the largest `self_ms` first. Of a profile that goes on, what its threads
  /// have handed on by now. Of an empty one (moved from), nothing.
  std::vector<ProfileEntry> entries() const;
  /// Bytes of tensors over time: seconds since the start, and `memory_stats().current`.
  std::vector<std::pair<double, double>> memory() const;
  /// Seconds from the start to the end, or to now.
  double seconds() const;
  /// How many events were noted.
  std::int64_t events() const;
  /// A table of the first `rows` entries.
  std::string text(std::int64_t rows = 20) const;

private:
  struct State;
  std::shared_ptr<State> state_;
};

/// A profile whose events are written to `path` as the JSON that https://ui.perfetto.dev and
/// chrome://tracing show: threads, ops in layers in functions, lines, memory. The file is good at
/// any moment, also after a crash, but for the last events of each thread.
///
///     auto profile = weft::trace_profile("run.json");
///     for (auto [x, y] : digits) step(x, y);
///     profile.stop();
///     std::cout << profile.text();
///
/// Throws IOError if the file cannot be written, StateError if there is a profile already,
/// ValueError for a `max_events` below 1.
[[nodiscard]] Profile trace_profile(const std::string &path, const ProfileOptions &options = {},
                                    std::source_location where = WEFT_HERE);

} // namespace weft
