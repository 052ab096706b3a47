// The order in which operations of streams are done.
#include "Emulator/Driver/Streams.h"

namespace weft::emulator {

void Scheduler::configure(bool late, std::uint64_t seed, Failed failed) {
  late_ = late;
  random_.seed(seed);
  failed_ = std::move(failed);
}

Stream &Scheduler::create(Device &device, bool blocking) {
  auto stream = std::make_unique<Stream>();
  stream->device = &device;
  stream->number = streams_.size();
  stream->blocking = blocking;
  streams_.push_back(std::move(stream));
  return *streams_.back();
}

void Scheduler::destroy(Stream &stream) {
  // What it has to do is done first, as destroying waits for nothing but loses nothing either.
  const Mark all{stream.number, stream.enqueued};
  while (!is_done(all) && step()) {
  }
  stream.destroyed = true;
}

Stream &Scheduler::default_stream(Device &device) {
  for (const auto &[of, stream] : defaults_)
    if (of == &device && !stream->destroyed) return *stream;
  Stream &made = create(device, true);
  defaults_.emplace_back(&device, &made);
  return made;
}

void Scheduler::enqueue(Stream &stream, std::string name, std::function<Footprint()> run) {
  Operation operation{std::move(name), std::move(run), {}, {}};
  if (stream.blocking) {
    // The default stream waits for all that are in order with it, and they for it.
    Stream &common = default_stream(*stream.device);
    for (const auto &other : streams_) {
      if (other->device != stream.device || !other->blocking || other.get() == &stream) continue;
      if (&stream != &common && other.get() != &common) continue;
      if (other->enqueued > 0) operation.waits.push_back({other->number, other->enqueued});
      stream.clock.join(other->clock);
    }
  }
  stream.clock.join(host_);
  stream.clock.raise(stream.number, ++stream.enqueued);
  operation.clock = stream.clock;
  stream.queue.push_back(std::move(operation));
  while (!late_ && step()) {
  }
}

void Scheduler::record(Event &event, Stream &stream) {
  event.recorded = true;
  event.time = std::make_shared<std::chrono::steady_clock::time_point>();
  enqueue(stream, "an event", [time = event.time] {
    *time = std::chrono::steady_clock::now();
    return Footprint();
  });
  event.mark = {stream.number, stream.enqueued};
  event.clock = stream.clock;
}

void Scheduler::wait(Stream &stream, const Event &event) {
  if (!event.recorded) return;
  stream.clock.join(event.clock);
  enqueue(stream, "a wait", [] { return Footprint(); });
  if (late_) stream.queue.back().waits.push_back(event.mark);
}

void Scheduler::synchronize(const Mark &mark, const Clock &clock) {
  while (!is_done(mark) && step()) {
  }
  host_.join(clock);
  forget();
}

void Scheduler::forget() {
  std::vector<const Clock *> coming = {&host_};
  for (const auto &stream : streams_)
    for (const Operation &operation : stream->queue) coming.push_back(&operation.clock);
  history_.forget(coming);
}

void Scheduler::synchronize(Device &device) {
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (streams_[i]->device == &device) synchronize(*streams_[i]);
}

bool Scheduler::query(const Mark &mark, const Clock &clock) {
  if (!is_done(mark)) step();
  if (!is_done(mark)) return false;
  host_.join(clock);
  return true;
}

void Scheduler::drop(Device &device) {
  for (const auto &stream : streams_) {
    if (stream->device != &device) continue;
    stream->queue.clear();
    stream->done = stream->enqueued;
  }
  history_.clear();
}

bool Scheduler::step() {
  std::vector<Stream *> ready;
  for (const auto &stream : streams_) {
    if (stream->queue.empty()) continue;
    const std::vector<Mark> &waits = stream->queue.front().waits;
    if (std::all_of(waits.begin(), waits.end(), [&](const Mark &mark) { return is_done(mark); }))
      ready.push_back(stream.get());
  }
  if (ready.empty()) return false;
  run(*ready[late_ ? random_() % ready.size() : 0]);
  return true;
}

void Scheduler::run(Stream &stream) {
  Operation operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  Device &device = *stream.device;
  try {
    Footprint footprint = operation.run();
    if (checks_races) {
      const std::string race = history_.add(
          {stream.number, stream.done + 1, operation.name, std::move(footprint)}, operation.clock);
      if (!race.empty()) failed_(device, {FaultKind::race, race});
    }
  } catch (const Fault &fault) {
    failed_(device, fault);
  }
  // A fault of the device drops all queues.
  if (stream.done < stream.enqueued) ++stream.done;
}

} // namespace weft::emulator
