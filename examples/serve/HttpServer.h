// An HTTP server that no client can hold up: httplib's requests and replies on connections of our
// own.
#pragma once

#include "Connection.h"

#include <atomic>

namespace serve {

/// httplib parses requests, finds the handler and writes the reply. Accepting connections and
/// reading from them is done here: there httplib has no limit on the time that a request takes to
/// come in, nor on the connections, and stops accepting after errors that pass.
class HttpServer : public httplib::Server {
public:
  /// Throws weft::ValueError for limits that make no sense.
  explicit HttpServer(const HttpLimits &limits);
  ~HttpServer() override;

  /// Listens on that port, or on a free one for 0, and returns it. Throws weft::IOError.
  int bind(const std::string &host, int port);
  /// Serves until `stop`, and returns when the requests that had come in are answered.
  void serve();
  /// Makes `serve` return. May be called from a signal handler.
  void stop() noexcept;

  std::size_t connections() const { return open_.load(std::memory_order_relaxed); }
  /// Called for each connection that is refused, or closed before a request was complete.
  std::function<void()> on_lost_connection = [] {};

private:
  class Threads;

  void handle(int socket);
  void answer(Connection &connection);
  void refuse(int socket);
  void complete_error(const httplib::Request &request, httplib::Response &response) const;

  const HttpLimits limits_;
  int stop_ = -1; ///< an eventfd that is readable once the server stops
  std::atomic<std::size_t> open_{0};
};

} // namespace serve
