// Accepts connections, and hands them to threads that answer their requests.
#include "HttpServer.h"

#include "Json.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <list>
#include <system_error>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace serve {

namespace {

const char *const kLongLine = "the request line is too long";

/// A reply that httplib has no part in.
std::string plain_reply(const std::string &status, const std::string &message) {
  const std::string body = format_error(message);
  return "HTTP/1.1 " + status +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

std::string milliseconds(std::chrono::milliseconds time) {
  return std::to_string(time.count()) + " ms";
}

} // namespace

HttpServer::HttpServer(const HttpLimits &limits) : limits_(limits) {
  // httplib answers 500 on sockets beyond what select() can have.
  if (limits.max_connections < 1 || limits.max_connections > 900)
    throw weft::ValueError("the server may have 1 to 900 connections, not " +
                           std::to_string(limits.max_connections));
  stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_ < 0) throw weft::IOError(std::string("eventfd: ") + std::strerror(errno));
  set_payload_max_length(limits.max_body);
  set_error_handler([this](const httplib::Request &request, httplib::Response &response) {
    complete_error(request, response);
  });
  set_exception_handler(
      [](const httplib::Request &, httplib::Response &response, const std::exception_ptr &error) {
        try {
          std::rethrow_exception(error);
        } catch (const std::exception &what) {
          response.status = 500;
          response.set_content(format_error(what.what()), "application/json");
        }
      });
  set_post_routing_handler([](const httplib::Request &, httplib::Response &response) {
    response.headers.erase("Keep-Alive"); // httplib's limits, which are not ours
  });
  // Its default lets two servers listen on one port, each with half of the clients.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

HttpServer::~HttpServer() {
  if (svr_sock_ != INVALID_SOCKET) ::close(svr_sock_);
  ::close(stop_);
}

int HttpServer::bind(const std::string &host, int port) {
  errno = 0;
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
  if (bound < 0)
    throw weft::IOError("cannot listen on " + host + ":" + std::to_string(port) +
                        (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
  ::listen(svr_sock_, SOMAXCONN); // httplib's backlog is 5
  return bound;
}

void HttpServer::stop() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
}

/// A thread for each connection. One that ends gives back what Weft keeps for it: the threads of a
/// pool alternate, and all of them would have that in the end.
class HttpServer::Threads {
public:
  ~Threads() {
    for (One &one : all_) one.thread.join();
  }
  /// Throws std::system_error if the system has no more.
  template <class Run>
  void start(const Run &run) {
    std::erase_if(all_, [](One &one) {
      if (!one.ended.load()) return false;
      one.thread.join();
      return true;
    });
    One &one = all_.emplace_back();
    try {
      one.thread = std::thread([run, &one] {
        run();
        one.ended.store(true);
      });
    } catch (...) {
      all_.pop_back();
      throw;
    }
  }

private:
  struct One {
    std::thread thread;
    std::atomic<bool> ended = false;
  };
  std::list<One> all_;
};

void HttpServer::serve() {
  Threads threads;
  for (;;) {
    std::array<pollfd, 2> files = {pollfd{svr_sock_, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    if (::poll(files.data(), files.size(), -1) < 0) continue; // EINTR
    if (files[1].revents != 0) break;
    const int socket = ::accept4(svr_sock_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket < 0) {
      // A client that has gone again is none; without descriptors or memory others must end first.
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    if (open_.load() >= limits_.max_connections) {
      refuse(socket);
      continue;
    }
    open_.fetch_add(1);
    try {
      threads.start([this, socket] {
        handle(socket);
        open_.fetch_sub(1);
      });
    } catch (const std::system_error &) {
      open_.fetch_sub(1);
      refuse(socket);
    }
  }
  ::close(svr_sock_.exchange(INVALID_SOCKET)); // clients that come now go elsewhere
}

void HttpServer::refuse(int socket) {
  const std::string reply =
      plain_reply("503 Service Unavailable",
                  "the server has its " + std::to_string(limits_.max_connections) + " connections");
  ::send(socket, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  ::close(socket);
  on_lost_connection();
}

void HttpServer::handle(int socket) {
  // A reply goes out at once, and not when the client's acknowledgement of the one before is there.
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  Connection connection(socket, stop_, limits_);
  try {
    answer(connection);
  } catch (const std::exception &error) { // memory that is short: of this connection alone
    std::cerr << "weft-serve: a connection was closed: " << error.what() << '\n';
    on_lost_connection();
  }
}

void HttpServer::answer(Connection &connection) {
  while (connection.wait_for_request()) {
    pollfd stopping = {stop_, POLLIN, 0};
    bool closed = ::poll(&stopping, 1, 0) > 0;
    const bool done = process_request(connection, closed, closed, [&](httplib::Request &request) {
      // No part of a reply on demand, and no compression: both multiply work.
      request.ranges.clear();
      request.headers.erase("Accept-Encoding");
      // A body in chunks has their lengths in between.
      connection.begin_body(limits_.max_body + limits_.max_body / 4 + 4096);
    });
    // httplib says nothing where there is no whole request line.
    if (!connection.answered() && (connection.fault() == Connection::Fault::timeout ||
                                   connection.fault() == Connection::Fault::too_long)) {
      const std::string reply = connection.fault() == Connection::Fault::timeout
                                    ? plain_reply("408 Request Timeout",
                                                  "the request's headers were not complete after " +
                                                      milliseconds(limits_.header_timeout))
                                    : plain_reply("414 URI Too Long", kLongLine);
      connection.write(reply.data(), reply.size());
    }
    if (connection.fault() != Connection::Fault::none) on_lost_connection();
    if (!connection.flush() || connection.fault() == Connection::Fault::closed) return;
    if (!connection.whole()) return connection.linger();
    if (!done || closed) return;
  }
}

/// Gives a reply of httplib's own making its sentence.
void HttpServer::complete_error(const httplib::Request & /*request*/,
                                httplib::Response &response) const {
  const Connection &connection = Connection::current();
  if (!connection.whole()) response.set_header("Connection", "close");
  if (!response.body.empty()) return;
  std::string message = "the request is malformed";
  if (connection.fault() == Connection::Fault::timeout) {
    response.status = 408;
    message =
        "the request's headers were not complete after " + milliseconds(limits_.header_timeout);
  } else if (connection.fault() == Connection::Fault::too_long) {
    response.status = 431;
    message = "the request line and the headers are longer than " +
              std::to_string(limits_.max_header) + " bytes";
  } else if (response.status == 414) {
    message = kLongLine;
  } else if (response.status == 416) {
    message = "the header Range is malformed";
  } else if (response.status != 400) {
    message = "the server cannot do that";
  }
  response.set_content(format_error(message), "application/json");
}

} // namespace serve
