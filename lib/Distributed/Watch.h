// The word that goes round when a rank is gone, failed or does not come: a connection of each rank
// with rank 0, and a thread that listens there and otherwise sleeps.
//
// Rank 0 decides: the first cause that it hears of is the one that all ranks name, so that nobody
// is blamed for leaving because of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "Distributed/Engine.h"

namespace weft::distributed {

/// Who a rank is.
struct PeerName {
  std::string host;
  std::int64_t process = 0;
};

class Watch {
public:
  using Clock = std::chrono::steady_clock;

  /// Connects this rank with rank 0. All ranks call it, at the start. Throws IOError.
  Watch(Engine &engine, const char *function);
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

  const std::vector<PeerName> &peers() const { return peers_; }
  /// Whether not all of these ranks are on one host.
  bool has_several_hosts(const std::vector<int> &ranks) const;
  /// "rank 2 (node7)".
  std::string name_of(int rank) const;

  /// Whether the program cannot go on. Then `cause` says why: "rank 2 (node7) is gone".
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  std::string cause() const;

  /// This rank has waited for a while, in `call`, "all_reduce (train.py:41)", for these; `progress`
  /// counts what came. Said again and again, as whoever says nothing is stopped.
  void waits(const std::vector<int> &pending, std::uint64_t progress, const std::string &call);
  /// It has waited too long. Returns true if others it waits for still make progress; otherwise the
  /// world is broken then.
  bool timed_out(double seconds);
  /// Its message, to all others.
  void fails(const std::string &message);
  /// What broke is of this rank alone: a call of it was left in the middle.
  void breaks(const std::string &cause);

  /// Tells the others that this rank is at its end, and waits until all are, or the world is
  /// broken. True if all are. `progress` is called now and then.
  bool leave(const std::function<void()> &progress);

private:
  enum class Kind : std::uint8_t { hello, waiting, timeout, failed, left, cause, go_on, all_left };

  /// What rank 0 knows of a rank.
  struct Known {
    int descriptor = -1;
    bool left = false, gone = false, waits = false; ///< of gone ones nothing is read
    Clock::time_point said{}, moved{};
    std::uint64_t progress = 0;
    std::vector<int> pending;
    std::string call, unread;
  };

  void connect(const std::string &addresses, const char *function);
  void run();
  void listen_once();
  /// Reads what there is; false if the connection is closed.
  bool read(int descriptor, std::string &unread, int from);
  void take(int from, Kind kind, std::string_view text);
  void decide_timeout(int from, double seconds);
  void set_cause(const std::string &cause);
  void lose(int rank);
  void check_all_left();
  void tell(int descriptor, Kind kind, std::string_view text);
  void tell_all(Kind kind, std::string_view text);
  void tell_zero(Kind kind, const std::string &text);
  std::string ranks_text(const std::vector<int> &ranks) const;

  int rank_ = 0, size_ = 1;
  std::vector<PeerName> peers_;
  std::string token_;
  int listener_ = -1, wake_ = -1;
  std::vector<Known> known_; ///< of rank 0; elsewhere [0] is the connection with it
  mutable std::recursive_mutex mutex_;
  std::mutex writing_;
  std::condition_variable_any changed_;
  std::string cause_;
  std::atomic<bool> broken_ = false;
  bool all_left_ = false;
  std::atomic<std::uint64_t> go_on_ = 0;
};

} // namespace weft::distributed
