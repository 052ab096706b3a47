// One connection of a client, with a limit on everything that the client decides.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <httplib.h>

namespace serve {

struct HttpLimits {
  /// Open connections; one more is answered 503 and closed.
  std::size_t max_connections = 128;
  /// Bytes of the request line and the headers, and of the body.
  std::size_t max_header = std::size_t{16} << 10, max_body = std::size_t{16} << 20;
  /// From the first byte of a request to the end of its headers, and from there to the end of its
  /// body, however slowly the bytes trickle in.
  std::chrono::milliseconds header_timeout{5000}, body_timeout{15000};
  /// How long a reply may take to be taken, and how long a connection may be idle.
  std::chrono::milliseconds write_timeout{10000}, idle_timeout{60000};
};

/// The stream that httplib reads requests from. Its own waits anew after each byte, so that one
/// client with patience holds a thread for ever; this one has a deadline for the whole of a
/// request.
class Connection final : public httplib::Stream {
public:
  /// What ended a request before it was complete.
  enum class Fault : std::uint8_t { none, closed, timeout, too_long };

  /// Owns `socket`, which does not block. `stop` is readable once the server is to stop.
  Connection(int socket, int stop, const HttpLimits &limits);
  ~Connection() override;
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// The connection whose request this thread is at: handlers of httplib are not told.
  static Connection &current();

  /// Waits for the first byte of a request. False when there is none: the client has gone, was idle
  /// for too long, or the server stops.
  bool wait_for_request();
  /// Says that the headers have been read; the body may have so many bytes in all.
  void begin_body(std::size_t most);
  /// Says that the body was read to its end, so that another request may follow an error.
  void end_body() { whole_ = true; }
  /// Sends what was written. False when the client does not take it.
  bool flush();
  /// Whether the reply is the last: none can follow a request that was not read to its end.
  bool whole() const { return whole_; }
  Fault fault() const { return fault_; }
  /// Whether anything of a reply to this request was written.
  bool answered() const { return answered_; }
  std::chrono::steady_clock::time_point started() const { return started_; }
  /// Reads for a moment what the client still sends, so that it gets the reply: a socket that is
  /// closed with bytes unread takes the reply back.
  void linger();

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char *bytes, std::size_t size) override;
  ssize_t write(const char *bytes, std::size_t size) override;
  // Two calls of the system for each request, which nobody looks at.
  void get_remote_ip_and_port(std::string &, int &) const override {}
  void get_local_ip_and_port(std::string &, int &) const override {}
  socket_t socket() const override { return socket_; }

private:
  using Clock = std::chrono::steady_clock;

  bool wait(short events, Clock::time_point deadline, bool until_stop) const;
  ssize_t fill(Clock::time_point deadline, bool until_stop);

  const int socket_, stop_;
  const HttpLimits &limits_;
  Connection *const outer_;
  std::string in_, out_;
  std::size_t at_ = 0;   ///< of in_, up to which it was read
  std::size_t left_ = 0; ///< bytes that the client may still send for this request
  Clock::time_point started_, deadline_;
  Fault fault_ = Fault::none;
  bool answered_ = false, whole_ = false;
};

} // namespace serve
