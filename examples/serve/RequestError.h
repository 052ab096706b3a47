// What is answered to a request that cannot be served: an HTTP status and a sentence.
#pragma once

#include <stdexcept>
#include <string>

namespace serve {

class RequestError : public std::runtime_error {
public:
  RequestError(int status, const std::string &message)
      : std::runtime_error(message), status_(status) {}
  /// 400 for what the client did wrong, 503 for a server that is busy or stopping, 504 for a
  /// request that waited for too long.
  int status() const { return status_; }

private:
  int status_;
};

} // namespace serve
