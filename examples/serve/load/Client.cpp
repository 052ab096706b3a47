// Requests and replies on one socket.
#include "Client.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace load {

namespace {

[[noreturn]] void fail(const std::string &what) {
  throw std::runtime_error(what + (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
}

int connect_to(const Address &address) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const std::string port = std::to_string(address.port);
  if (const int error = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found); error != 0)
    throw std::runtime_error(address.host + ": " + gai_strerror(error));
  int connected = -1;
  for (const addrinfo *at = found; at != nullptr && connected < 0; at = at->ai_next) {
    const int candidate = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (candidate < 0) continue;
    if (::connect(candidate, at->ai_addr, at->ai_addrlen) == 0) connected = candidate;
    else ::close(candidate);
  }
  freeaddrinfo(found);
  if (connected < 0) fail("cannot connect to " + address.host + ":" + port);
  const int yes = 1;
  setsockopt(connected, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connected;
}

/// The number behind a header's name, which replies of the server always spell so.
std::size_t header_number(const std::string &headers, const std::string &name) {
  const std::size_t at = headers.find("\r\n" + name + ": ");
  std::size_t value = 0;
  if (at == std::string::npos) return value;
  const char *const first = headers.data() + at + name.size() + 4;
  std::from_chars(first, headers.data() + headers.size(), value);
  return value;
}

} // namespace

Client::Client(const Address &address) : socket_(connect_to(address)) {}
Client::Client(Client &&other) noexcept
    : socket_(std::exchange(other.socket_, -1)), in_(std::move(other.in_)),
      start_of_body_(other.start_of_body_), length_(other.length_), status_(other.status_) {}
Client::~Client() {
  if (socket_ >= 0) ::close(socket_);
}

void Client::send(const std::string &request) {
  in_.clear();
  start_of_body_ = length_ = 0;
  status_ = 0;
  for (std::size_t sent = 0; sent < request.size();) {
    const ssize_t count =
        ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) fail("a request could not be sent");
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
}

bool Client::receive() {
  std::array<char, 65536> bytes;
  const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count == 0) errno = 0;
  if (count <= 0) fail("the server closed a connection");
  in_.append(bytes.data(), static_cast<std::size_t>(count));
  if (start_of_body_ == 0) {
    const std::size_t end = in_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    if (!in_.starts_with("HTTP/1.1 "))
      throw std::runtime_error("the server's reply is no HTTP: " + in_.substr(0, 40));
    std::from_chars(in_.data() + 9, in_.data() + end, status_);
    start_of_body_ = end + 4;
    length_ = header_number(in_.substr(0, end), "Content-Length");
  }
  return in_.size() >= start_of_body_ + length_;
}

void Client::wait() {
  while (!receive()) {
    pollfd file = {socket_, POLLIN, 0};
    if (::poll(&file, 1, 10'000) == 0) throw std::runtime_error("no reply within 10 s");
  }
}

std::string Client::body() const { return in_.substr(start_of_body_, length_); }

std::string get_request(const Address &address, const std::string &path) {
  return "GET " + path + " HTTP/1.1\r\nHost: " + address.host + "\r\n\r\n";
}

std::string post_request(const Address &address, const std::string &path,
                         const std::string &content_type, const std::string &body) {
  return "POST " + path + " HTTP/1.1\r\nHost: " + address.host +
         "\r\nContent-Type: " + content_type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

} // namespace load
