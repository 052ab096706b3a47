// Reads and writes a socket that does not block, until deadlines.
#include "Connection.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>

namespace serve {

namespace {

constexpr std::size_t kRead = std::size_t{64} << 10;

thread_local Connection *current_connection = nullptr;

} // namespace

Connection::Connection(int socket, int stop, const HttpLimits &limits)
    : socket_(socket), stop_(stop), limits_(limits), outer_(current_connection) {
  current_connection = this;
}

Connection::~Connection() {
  current_connection = outer_;
  ::close(socket_);
}

Connection &Connection::current() { return *current_connection; }

/// Whether the socket is ready in time. With `until_stop`, not once the server stops.
bool Connection::wait(short events, Clock::time_point deadline, bool until_stop) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> files = {pollfd{socket_, events, 0}, pollfd{stop_, POLLIN, 0}};
    const int ready = ::poll(files.data(), until_stop ? 2 : 1,
                             static_cast<int>(std::min<std::int64_t>(left, 1 << 30)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (files[0].revents != 0) return true; // bytes, or an error that the next call tells
    return false;
  }
}

/// Reads what there is, at most what the request may still have. 0 at the end, -1 for a fault.
ssize_t Connection::fill(Clock::time_point deadline, bool until_stop) {
  if (left_ == 0) {
    fault_ = Fault::too_long;
    return -1;
  }
  in_.resize(std::min(kRead, left_));
  at_ = 0;
  for (;;) {
    const ssize_t count = ::recv(socket_, in_.data(), in_.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (wait(POLLIN, deadline, until_stop)) continue;
      fault_ = Fault::timeout;
    } else if (count <= 0) {
      fault_ = Fault::closed;
    }
    in_.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    left_ -= in_.size();
    return fault_ == Fault::none ? count : fault_ == Fault::closed ? 0 : -1;
  }
}

bool Connection::wait_for_request() {
  fault_ = Fault::none;
  answered_ = whole_ = false;
  left_ = limits_.max_header;
  if (at_ == in_.size() && fill(Clock::now() + limits_.idle_timeout, true) <= 0) return false;
  // What came with the request before counts for this one.
  left_ = limits_.max_header - std::min(limits_.max_header, in_.size() - at_);
  started_ = Clock::now();
  deadline_ = started_ + limits_.header_timeout;
  return true;
}

void Connection::begin_body(std::size_t most) {
  deadline_ = Clock::now() + limits_.body_timeout;
  left_ = most - std::min(most, in_.size() - at_);
}

ssize_t Connection::read(char *bytes, std::size_t size) {
  if (at_ == in_.size()) {
    if (!out_.empty() && !flush()) return -1; // "100 Continue", which the client waits for
    const ssize_t count = fill(deadline_, false);
    if (count <= 0) return count;
  }
  const std::size_t count = std::min(size, in_.size() - at_);
  std::copy_n(in_.data() + at_, count, bytes);
  at_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t Connection::write(const char *bytes, std::size_t size) {
  answered_ = true;
  out_.append(bytes, size);
  return static_cast<ssize_t>(size);
}

bool Connection::flush() {
  const auto deadline = Clock::now() + limits_.write_timeout;
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t count =
        ::send(socket_, out_.data() + sent, out_.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) sent += static_cast<std::size_t>(count);
    else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait(POLLOUT, deadline, false)) break;
    } else if (errno != EINTR) break;
  }
  const bool all = sent == out_.size();
  out_.clear();
  if (out_.capacity() > kRead) out_.shrink_to_fit(); // one large reply is not kept for ever
  return all;
}

void Connection::linger() {
  ::shutdown(socket_, SHUT_WR);
  const auto deadline = Clock::now() + std::chrono::seconds(1);
  std::array<char, 4096> bytes;
  while (wait(POLLIN, deadline, true))
    if (::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) return;
}

} // namespace serve
