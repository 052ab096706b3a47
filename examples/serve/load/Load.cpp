// One thread that sends, receives and looks at the server's memory.
#include "Load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <fstream>
#include <optional>
#include <stdexcept>

#include <sys/epoll.h>
#include <unistd.h>

namespace load {

namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

double resident_kib(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  double all = 0, resident = 0;
  if (!(file >> all >> resident))
    throw std::runtime_error("there is no process " + std::to_string(pid) + " to look at");
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

/// The connections, and the requests that are on them.
class Pool {
public:
  Pool(const Address &address, int count)
      : address_(address), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    slots_.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < slots_.size(); ++i) open(i);
  }
  ~Pool() { ::close(epoll_); }
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  bool idle() const { return free_.size() == slots_.size(); }
  bool has_free() const { return !free_.empty(); }

  void send(const std::string &request, Clock::time_point intended, Outcome &outcome) {
    const std::size_t i = free_.front(); // one after the other, so that none is idle for long
    free_.pop_front();
    slots_[i].intended = intended;
    try {
      slots_[i].client->send(request);
    } catch (const std::runtime_error &) {
      ++outcome.lost;
      open_again(i);
    }
  }
  /// Waits until then, or for replies, whose times go to `outcome`; those of requests that were due
  /// before `from` do not. Where `busy`, looks and does not wait.
  void receive(Clock::time_point until, Clock::time_point from, bool busy, Outcome &outcome) {
    std::array<epoll_event, 64> events;
    const auto left =
        busy ? Clock::duration::zero() : std::max(until - Clock::now(), Clock::duration::zero());
    const auto whole = std::chrono::floor<std::chrono::seconds>(left);
    const timespec timeout = {whole.count(), std::chrono::nanoseconds(left - whole).count()};
    const int count = epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
    for (int e = 0; e < count; ++e) {
      const std::size_t i = events[static_cast<std::size_t>(e)].data.u64;
      try {
        if (!slots_[i].client->receive()) continue;
      } catch (const std::runtime_error &) {
        // One that was idle has lost no request.
        if (std::ranges::find(free_, i) == free_.end()) ++outcome.lost;
        open_again(i);
        continue;
      }
      if (slots_[i].intended >= from) {
        outcome.latencies.add(Clock::now() - slots_[i].intended);
        ++outcome.statuses[slots_[i].client->status()];
      }
      free_.push_back(i);
    }
  }

private:
  struct Slot {
    std::optional<Client> client;
    Clock::time_point intended;
  };

  void open(std::size_t i) {
    slots_[i].client.emplace(address_);
    epoll_event event = {.events = EPOLLIN, .data = {.u64 = i}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, slots_[i].client->socket(), &event);
    free_.push_back(i);
  }
  void open_again(std::size_t i) {
    std::erase(free_, i);
    open(i);
  }

  const Address address_;
  const int epoll_;
  std::vector<Slot> slots_;
  std::deque<std::size_t> free_;
};

} // namespace

Outcome run(const Address &address, const std::string &request, const Schedule &schedule) {
  Outcome outcome;
  Pool pool(address, schedule.connections);
  const Clock::time_point start = Clock::now(), from = start + seconds(schedule.warm_up),
                          end = from + seconds(schedule.seconds);
  Clock::time_point look = from;
  std::uint64_t sent = 0, due_in_time = 0;
  const auto due = [&](std::uint64_t i) {
    return start + seconds(static_cast<double>(i) / schedule.rate);
  };
  while (due(sent) < end) {
    Clock::time_point now = Clock::now();
    if (schedule.pid != 0 && now >= look) {
      outcome.memory.push_back(
          {std::chrono::duration<double>(look - from).count(), resident_kib(schedule.pid)});
      look += std::chrono::seconds(1);
    }
    while (due(sent) < end && due(sent) <= now && pool.has_free()) {
      due_in_time += due(sent) >= from ? 1 : 0;
      pool.send(request, due(sent), outcome);
      ++sent;
      now = Clock::now();
    }
    // Where no connection is free the next request is late, and its time runs.
    pool.receive(pool.has_free() ? due(sent) : now + std::chrono::milliseconds(100), from,
                 schedule.busy, outcome);
  }
  const Clock::time_point patience = Clock::now() + std::chrono::seconds(10);
  while (!pool.idle() && Clock::now() < patience) pool.receive(patience, from, false, outcome);
  const double spent = std::chrono::duration<double>(Clock::now() - from).count();
  outcome.offered = schedule.rate;
  outcome.achieved =
      static_cast<double>(outcome.latencies.count()) / std::max(spent, schedule.seconds);
  outcome.lost += due_in_time - std::min(due_in_time, outcome.latencies.count() + outcome.lost);
  return outcome;
}

Latencies round_trips(const Address &address, const std::string &request, int count) {
  Client client(address);
  Latencies latencies;
  for (int i = -count / 10; i < count; ++i) {
    const Clock::time_point start = Clock::now();
    client.send(request);
    client.wait();
    if (client.status() != 200)
      throw std::runtime_error("the server answered " + std::to_string(client.status()) + ": " +
                               client.body());
    if (i >= 0) latencies.add(Clock::now() - start);
  }
  return latencies;
}

bool Trend::flat() const { return kib_per_minute * seconds / 60 <= std::max(1024.0, kib / 100); }

Trend trend(const std::vector<Sample> &samples) {
  const double last = samples.empty() ? 0 : samples.back().seconds;
  const double from = last >= 120 ? last / 2 : last / 5;
  double n = 0, t = 0, m = 0, tt = 0, tm = 0;
  for (const Sample &sample : samples) {
    if (sample.seconds < from) continue;
    ++n;
    t += sample.seconds;
    m += sample.kib;
    tt += sample.seconds * sample.seconds;
    tm += sample.seconds * sample.kib;
  }
  if (n < 2) return {};
  return {m / n, 60 * (n * tm - t * m) / (n * tt - t * t), last - from};
}

} // namespace load
