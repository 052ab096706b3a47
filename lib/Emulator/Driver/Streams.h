// Streams and events: queues of operations, and when each of them is done.
//
// Usually an operation is done when it is enqueued, for nothing that it waits for can be missing
// then. In stress mode it is done when somebody waits for it, or, by chance, earlier, in any order
// that streams and events allow: a program that does not wait for what it needs shows it.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Emulator/Driver/Order.h"
#include "Emulator/Machine/Fault.h"

namespace weft::emulator {

struct Device;

/// A place in a stream: behind so many of its operations.
struct Mark {
  std::size_t stream = 0;
  std::uint64_t count = 0;
};

struct Operation {
  std::string name; ///< for reports: "the kernel k", "a copy of 400 bytes to the device"
  /// Does it, and says what memory it touched. May throw Fault.
  std::function<Footprint()> run;
  std::vector<Mark> waits;
  Clock clock; ///< what comes before it, itself included
};

struct Stream {
  Device *device = nullptr;
  std::size_t number = 0;
  bool blocking = true; ///< in order with the default stream
  bool destroyed = false;
  std::deque<Operation> queue;
  std::uint64_t enqueued = 0, done = 0;
  Clock clock;
};

struct Event {
  Device *device = nullptr;
  bool timed = true;
  bool recorded = false;
  Mark mark;
  Clock clock;
  std::shared_ptr<std::chrono::steady_clock::time_point>
      time; ///< when the operation before it was done
};

/// All streams of the process.
class Scheduler {
public:
  /// What to do with what goes wrong in an operation of a device.
  using Failed = std::function<void(Device &, const Fault &)>;

  void configure(bool late, std::uint64_t seed, Failed failed);

  Stream &create(Device &device, bool blocking);
  void destroy(Stream &stream);
  /// The stream that has no handle; others are in order with it unless they were created otherwise.
  Stream &default_stream(Device &device);

  void enqueue(Stream &stream, std::string name, std::function<Footprint()> run);
  void record(Event &event, Stream &stream);
  void wait(Stream &stream, const Event &event);

  /// Does operations until a place is reached; then all that comes before it, by `clock`, comes
  /// before all that the host asks for later.
  void synchronize(const Mark &mark, const Clock &clock);
  void synchronize(const Stream &stream) {
    synchronize({stream.number, stream.enqueued}, Clock(stream.clock));
  }
  void synchronize(Device &device);
  /// Whether a place is reached. Somebody who asks again and again is told yes in the end.
  bool query(const Mark &mark, const Clock &clock);

  /// Drops what is left to do on a device.
  void drop(Device &device);
  /// Looks for races between operations.
  bool checks_races = true;

private:
  bool is_done(const Mark &mark) const { return streams_[mark.stream]->done >= mark.count; }
  /// Does one operation of some stream; false if there is none to do.
  bool step();
  void run(Stream &stream);
  void forget();

  std::vector<std::unique_ptr<Stream>> streams_; ///< by number; numbers are not used again
  std::vector<std::pair<Device *, Stream *>> defaults_;
  Clock host_;
  History history_;
  bool late_ = false;
  std::mt19937_64 random_;
  Failed failed_;
};

} // namespace weft::emulator
