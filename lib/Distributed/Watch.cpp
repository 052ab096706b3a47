// Who is gone, failed or stopped: connections with rank 0, and its decisions.
#include "Distributed/Watch.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <set>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/error.h>

namespace weft::distributed {

namespace {

/// What every rank tells all others at the start.
struct Introduction {
  char host[64];
  std::int64_t process;
  // Of rank 0: where it listens, and what a rank says to be believed.
  char addresses[512];
  char token[32];
};

/// In front of each message.
struct FrameHead {
  std::uint32_t bytes;
  std::uint8_t kind;
  std::uint8_t unused[3];
};

constexpr std::uint32_t kMostBytes = 1 << 20;
/// A rank that has said nothing for so long while it waits is stopped.
double silence_of(double seconds) { return std::min(seconds / 2, 10.0); }

void append(std::string &text, const void *value, std::size_t bytes) {
  text.append(static_cast<const char *>(value), bytes);
}

/// All IPv4 addresses of this host and a port: "10.0.0.7:4711 127.0.0.1:4711".
std::string addresses_with(int port) {
  std::string all;
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) == 0) {
    for (const ifaddrs *each = list; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
      if ((each->ifa_flags & IFF_UP) == 0 || (each->ifa_flags & IFF_LOOPBACK) != 0) continue;
      char text[INET_ADDRSTRLEN];
      const auto *address = reinterpret_cast<const sockaddr_in *>(each->ifa_addr);
      if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) == nullptr) continue;
      const std::string one = std::string(text) + ":" + std::to_string(port) + " ";
      if (all.size() + one.size() < 480) all += one;
    }
    freeifaddrs(list);
  }
  return all + "127.0.0.1:" + std::to_string(port);
}

void copy_text(char *to, std::size_t room, const std::string &text) {
  const std::size_t count = std::min(text.size(), room - 1);
  std::memcpy(to, text.data(), count);
  to[count] = 0;
}

/// Connects, within a second or two; -1 if that fails.
int connect_to(const std::string &address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  if (inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr) != 1) return -1;
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  if (connect(descriptor, reinterpret_cast<sockaddr *>(&to), sizeof to) != 0) {
    pollfd wait{descriptor, POLLOUT, 0};
    int error = errno == EINPROGRESS ? 0 : errno;
    socklen_t size = sizeof error;
    if (error != 0 || ::poll(&wait, 1, 2000) != 1 ||
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      ::close(descriptor);
      return -1;
    }
  }
  return descriptor;
}

void without_delay(int descriptor) {
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

} // namespace

Watch::Watch(Engine &engine, const char *function) : rank_(engine.rank()), size_(engine.size()) {
  const auto fail = [&](const std::string &what) {
    throw IOError(std::string(function) + ": " + what + ": " + std::strerror(errno));
  };
  Introduction own{};
  char host[64] = {};
  gethostname(host, sizeof host - 1);
  copy_text(own.host, sizeof own.host, host);
  own.process = getpid();
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) fail("cannot make an event descriptor");
  if (rank_ == 0) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    socklen_t size = sizeof any;
    auto *address = reinterpret_cast<sockaddr *>(&any);
    if (listener_ < 0 || bind(listener_, address, size) != 0 || listen(listener_, 1024) != 0 ||
        getsockname(listener_, address, &size) != 0)
      fail("rank 0 cannot listen for the other ranks");
    copy_text(own.addresses, sizeof own.addresses, addresses_with(ntohs(any.sin_port)));
    if (getrandom(own.token, sizeof own.token, 0) != static_cast<ssize_t>(sizeof own.token))
      fail("there are no random bytes");
  }
  std::vector<Introduction> all(static_cast<std::size_t>(size_));
  if (!engine.gather(&own, all.data(), sizeof own))
    throw IOError(std::string(function) + ": " + engine.name() + " failed: " + engine.failed());
  for (const Introduction &each : all) peers_.push_back({each.host, each.process});
  token_.assign(all[0].token, sizeof all[0].token);
  known_.resize(rank_ == 0 ? static_cast<std::size_t>(size_) : 1);
  if (rank_ != 0) connect(all[0].addresses, function);

  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  std::thread([this] { run(); }).detach(); // lives as long as the process
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Watch::connect(const std::string &addresses, const char *function) {
  std::vector<std::string> each;
  for (std::size_t at = 0; at < addresses.size();) {
    const std::size_t end = std::min(addresses.find(' ', at), addresses.size());
    each.push_back(addresses.substr(at, end - at));
    at = end + 1;
  }
  // The last is of this host alone.
  if (peers_[0].host == peers_[static_cast<std::size_t>(rank_)].host)
    std::rotate(each.begin(), each.end() - 1, each.end());
  for (const std::string &address : each) {
    const int descriptor = connect_to(address);
    if (descriptor < 0) continue;
    without_delay(descriptor);
    known_[0].descriptor = descriptor;
    std::string hello = token_;
    append(hello, &rank_, sizeof rank_);
    tell(descriptor, Kind::hello, hello);
    return;
  }
  throw IOError(std::string(function) + ": cannot reach rank 0 on " + peers_[0].host +
                ", which listens at " + addresses);
}

bool Watch::has_several_hosts(const std::vector<int> &ranks) const {
  const auto host = [&](int rank) -> const std::string & {
    return peers_[static_cast<std::size_t>(rank)].host;
  };
  return std::ranges::any_of(ranks, [&](int rank) { return host(rank) != host(ranks[0]); });
}

std::string Watch::name_of(int rank) const {
  return "rank " + std::to_string(rank) + " (" + peers_[static_cast<std::size_t>(rank)].host + ")";
}

std::string Watch::ranks_text(const std::vector<int> &ranks) const {
  std::string text;
  for (const int rank : ranks) text += (text.empty() ? "" : ", ") + name_of(rank);
  return text;
}

std::string Watch::cause() const {
  const std::lock_guard lock(mutex_);
  return cause_;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void Watch::tell(int descriptor, Kind kind, std::string_view text) {
  if (descriptor < 0) return;
  const std::lock_guard lock(writing_);
  FrameHead head{static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), kMostBytes)),
                 static_cast<std::uint8_t>(kind),
                 {}};
  std::string frame;
  append(frame, &head, sizeof head);
  frame += text.substr(0, head.bytes);
  for (std::size_t at = 0; at < frame.size();) {
    const ssize_t sent =
        ::send(descriptor, frame.data() + at, frame.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      at += static_cast<std::size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait{descriptor, POLLOUT, 0};
      if (::poll(&wait, 1, 200) != 1) return; // whoever does not read is stopped
    } else if (errno != EINTR) {
      return; // the thread that reads sees it
    }
  }
}

void Watch::tell_all(Kind kind, std::string_view text) {
  for (std::size_t i = 1; i < known_.size(); ++i) tell(known_[i].descriptor, kind, text);
}

void Watch::tell_zero(Kind kind, const std::string &text) {
  if (rank_ == 0) take(0, kind, text);
  else tell(known_[0].descriptor, kind, text);
}

void Watch::waits(const std::vector<int> &pending, std::uint64_t progress,
                  const std::string &call) {
  std::string text;
  append(text, &progress, sizeof progress);
  const auto count = static_cast<std::uint32_t>(pending.size());
  append(text, &count, sizeof count);
  append(text, pending.data(), pending.size() * sizeof(int));
  tell_zero(Kind::waiting, text + call);
}

bool Watch::timed_out(double seconds) {
  const std::uint64_t before = go_on_.load();
  std::string text;
  append(text, &seconds, sizeof seconds);
  tell_zero(Kind::timeout, text);
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(400),
                    [&] { return broken() || go_on_.load() != before; });
  if (!broken() && go_on_.load() != before) return true;
  if (!broken()) set_cause(name_of(0) + " makes no progress");
  return false;
}

void Watch::fails(const std::string &message) {
  if (broken()) return;
  tell_zero(Kind::failed, message);
  const std::lock_guard lock(mutex_);
  set_cause("this rank failed: " + message);
}

void Watch::breaks(const std::string &cause) {
  const std::lock_guard lock(mutex_);
  set_cause(cause);
}

bool Watch::leave(const std::function<void()> &progress) {
  tell_zero(Kind::left, {});
  // Of what broke others still write about, and a launcher ends them as soon as one is gone.
  const Clock::time_point until = Clock::now() + std::chrono::seconds(1);
  std::unique_lock lock(mutex_);
  while (!all_left_ && (!broken() || Clock::now() < until)) {
    if (broken() && rank_ != 0 && known_[0].gone) break;
    changed_.wait_for(lock, std::chrono::milliseconds(2));
    if (broken()) continue;
    lock.unlock();
    progress();
    lock.lock();
  }
  return all_left_ && !broken();
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void Watch::run() {
  for (;;) {
    std::vector<pollfd> all{{wake_, POLLIN, 0}};
    std::vector<int> of{-1};
    {
      const std::lock_guard lock(mutex_);
      if (listener_ >= 0) {
        all.push_back({listener_, POLLIN, 0});
        of.push_back(-1);
      }
      for (std::size_t i = 0; i < known_.size(); ++i)
        if (known_[i].descriptor >= 0 && !known_[i].gone) {
          all.push_back({known_[i].descriptor, POLLIN, 0});
          of.push_back(static_cast<int>(i));
        }
    }
    if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].revents == 0 || all[i].fd == wake_) continue;
      if (all[i].fd == listener_) {
        listen_once();
        continue;
      }
      const int from = of[i];
      Known &known = known_[static_cast<std::size_t>(from)];
      if (read(known.descriptor, known.unread, from)) continue;
      // It is not closed: another thread may be about to write to it.
      const std::lock_guard lock(mutex_);
      lose(from);
    }
  }
}

void Watch::listen_once() {
  const int descriptor = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) return;
  without_delay(descriptor);
  // A rank says at once who it is; whoever does not is none.
  std::string hello(sizeof(FrameHead) + token_.size() + sizeof(int), 0);
  std::size_t at = 0;
  while (at < hello.size()) {
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, 2000) != 1) break;
    const ssize_t got = ::recv(descriptor, hello.data() + at, hello.size() - at, 0);
    if (got <= 0) break;
    at += static_cast<std::size_t>(got);
  }
  int rank = 0;
  std::memcpy(&rank, hello.data() + hello.size() - sizeof rank, sizeof rank);
  const bool known = at == hello.size() && rank > 0 && rank < size_ &&
                     hello.compare(sizeof(FrameHead), token_.size(), token_) == 0;
  const std::lock_guard lock(mutex_);
  if (!known || known_[static_cast<std::size_t>(rank)].descriptor >= 0) {
    ::close(descriptor);
    return;
  }
  known_[static_cast<std::size_t>(rank)].descriptor = descriptor;
  if (broken()) tell(descriptor, Kind::cause, cause_);
}

bool Watch::read(int descriptor, std::string &unread, int from) {
  char bytes[4096];
  const ssize_t got = ::recv(descriptor, bytes, sizeof bytes, 0);
  if (got == 0) return false;
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  unread.append(bytes, static_cast<std::size_t>(got));
  std::size_t at = 0;
  while (unread.size() - at >= sizeof(FrameHead)) {
    FrameHead head;
    std::memcpy(&head, unread.data() + at, sizeof head);
    if (head.bytes > kMostBytes) return false;
    if (unread.size() - at < sizeof head + head.bytes) break;
    take(from, static_cast<Kind>(head.kind),
         std::string_view(unread).substr(at + sizeof head, head.bytes));
    at += sizeof head + head.bytes;
  }
  unread.erase(0, at);
  return true;
}

void Watch::take(int from, Kind kind, std::string_view text) {
  const std::lock_guard lock(mutex_);
  switch (kind) {
  case Kind::hello: break;
  case Kind::cause: set_cause(std::string(text)); break;
  case Kind::go_on: ++go_on_; break;
  case Kind::all_left: all_left_ = true; break;
  case Kind::failed: set_cause(name_of(from) + " failed: " + std::string(text)); break;
  case Kind::left:
    known_[static_cast<std::size_t>(from)].left = true;
    check_all_left();
    break;
  case Kind::timeout: {
    double seconds = 0;
    if (text.size() >= sizeof seconds) std::memcpy(&seconds, text.data(), sizeof seconds);
    decide_timeout(from, seconds);
    break;
  }
  case Kind::waiting: {
    Known &known = known_[static_cast<std::size_t>(from)];
    std::uint64_t progress = 0;
    std::uint32_t count = 0;
    if (text.size() < sizeof progress + sizeof count) break;
    std::memcpy(&progress, text.data(), sizeof progress);
    std::memcpy(&count, text.data() + sizeof progress, sizeof count);
    text.remove_prefix(sizeof progress + sizeof count);
    if (count > text.size() / sizeof(int)) break;
    known.pending.resize(count);
    if (count > 0) std::memcpy(known.pending.data(), text.data(), count * sizeof(int));
    known.call = text.substr(count * sizeof(int));
    const Clock::time_point now = Clock::now();
    if (!known.waits || progress != known.progress) known.moved = now;
    // Whoever has left sends nothing more, and what it had sent is there by the second report.
    if (known.waits && progress == known.progress)
      for (const int rank : known.pending)
        if (known_[static_cast<std::size_t>(rank)].left) {
          set_cause(name_of(rank) + " has ended without " + known.call);
          break;
        }
    known.progress = progress;
    known.said = now;
    known.waits = true;
    break;
  }
  }
  changed_.notify_all();
}

void Watch::decide_timeout(int from, double seconds) {
  const Clock::time_point now = Clock::now();
  const auto ago = [&](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  std::set<int> seen{from};
  std::vector<int> next{from}, stopped, waiting;
  const auto waits = [&](int rank) {
    const Known &known = known_[static_cast<std::size_t>(rank)];
    return known.waits && ago(known.said) < silence_of(seconds);
  };
  for (int rank = 0; rank < size_; ++rank)
    if (waits(rank)) waiting.push_back(rank);
  bool progress = false;
  while (!next.empty()) {
    const int rank = next.back();
    next.pop_back();
    const Known &known = known_[static_cast<std::size_t>(rank)];
    if (!waits(rank)) {
      stopped.push_back(rank);
      continue;
    }
    if (rank != from && ago(known.moved) < seconds / 2) progress = true;
    for (const int other : known.pending)
      if (seen.insert(other).second) next.push_back(other);
  }
  if (stopped.empty() && progress) {
    if (from == 0) ++go_on_;
    else tell(known_[static_cast<std::size_t>(from)].descriptor, Kind::go_on, {});
    return;
  }
  std::sort(stopped.begin(), stopped.end());
  if (stopped.empty()) {
    std::string text = "ranks wait for each other:";
    for (const int rank : waiting)
      text += (rank == waiting.front() ? " " : ", ") + name_of(rank) + " in " +
              known_[static_cast<std::size_t>(rank)].call;
    set_cause(text);
    return;
  }
  set_cause(ranks_text(stopped) + (stopped.size() == 1 ? " makes" : " make") +
            " no progress; waiting: " + ranks_text(waiting));
}

void Watch::set_cause(const std::string &cause) {
  if (broken()) return;
  cause_ = cause;
  broken_.store(true, std::memory_order_release);
  if (rank_ == 0) tell_all(Kind::cause, cause);
  changed_.notify_all();
}

void Watch::lose(int rank) {
  Known &known = known_[static_cast<std::size_t>(rank)];
  known.gone = true;
  changed_.notify_all();
  if (all_left_) return;
  if (!known.left) set_cause(name_of(rank) + " is gone");
  check_all_left();
}

void Watch::check_all_left() {
  if (rank_ != 0 || all_left_ ||
      !std::all_of(known_.begin(), known_.end(), [](const Known &k) { return k.left || k.gone; }))
    return;
  all_left_ = true;
  tell_all(Kind::all_left, {});
  changed_.notify_all();
}

} // namespace weft::distributed
