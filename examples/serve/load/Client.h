// Connections to the server, as thin as a client can be: what is measured is the server.
#pragma once

#include <chrono>
#include <string>

namespace load {

struct Address {
  std::string host = "127.0.0.1";
  int port = 8080;
};

/// One connection, on which one request at a time is asked. Throws std::runtime_error where the
/// server cannot be reached, closes the connection, or answers what is no HTTP.
class Client {
public:
  explicit Client(const Address &address);
  ~Client();
  Client(Client &&other) noexcept;
  Client &operator=(Client &&) = delete;
  Client(const Client &) = delete;
  Client &operator=(const Client &) = delete;

  int socket() const { return socket_; }
  /// Sends a request, all of it.
  void send(const std::string &request);
  /// Takes what has come; whether the reply is whole then.
  bool receive();
  /// Waits for the whole reply.
  void wait();
  /// Of the reply that is whole.
  int status() const { return status_; }
  std::string body() const;

private:
  int socket_ = -1;
  std::string in_;
  std::size_t start_of_body_ = 0, length_ = 0;
  int status_ = 0;
};

/// The bytes of a request.
std::string get_request(const Address &address, const std::string &path);
std::string post_request(const Address &address, const std::string &path,
                         const std::string &content_type, const std::string &body);

} // namespace load
