// What moves bytes between processes: the interface of engines, libraries of their own that libweft
// opens when they are asked for.
//
// An engine knows messages only. Collectives, their order of sums, checks and deadlines stand above
// it, once for all engines. It may be called from any thread, by one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::distributed {

/// Of this interface: an engine of another number is not used.
inline constexpr int kEngineVersion = 1;

/// One message to or from a rank. Messages of one tag between two ranks arrive in the order in
/// which they are sent, at receives in the order in which those are started.
struct Message {
  void *data = nullptr;
  std::size_t bytes = 0; ///< of a receive at most
  int peer = 0;
  int tag = 0;
  bool sends = false;
  bool done = false;
  std::intptr_t request = 0; ///< the engine's own
};

/// A world of processes that an engine connects.
class Engine {
public:
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "Open MPI 4.1.4 (libmpi.so.40)".
  virtual const std::string &name() const = 0;
  /// The largest tag of a message.
  virtual int most_tag() const = 0;

  /// Starts a message, whose memory stays until it is done. False if that failed: see `failed`.
  virtual bool start(Message &message) = 0;
  /// Sets `done` where it is, and lets all messages go on. False if it failed.
  virtual bool test(Message &message) = 0;
  /// Lets messages go on that nobody tests.
  virtual void progress() = 0;
  /// What failed last.
  virtual const std::string &failed() const = 0;

  /// `bytes` of every rank, in the order of ranks; all call it, once, at the start. False if it
  /// failed.
  virtual bool gather(const void *own, void *all, std::size_t bytes) = 0;
  /// Ends the engine; all ranks call it when all their messages are done.
  virtual void close() = 0;

protected:
  ~Engine() = default; // they live as long as the process
};

/// What an engine was opened as, or why it was not.
struct Opened {
  Engine *engine = nullptr;
  std::string tried; ///< a line for each library that cannot be used: "\n  libmpi.so.40: .."
};

/// What an engine's library exports as "weft_distributed_engine": the caller's to delete, but for
/// the engine in it, which lives as long as the process; null for another version.
/// `libraries` are to be tried in that order, by name or path, and end with a null.
using EngineFactory = Opened *(int version, const char *const *libraries);

} // namespace weft::distributed
