// The requests that the server knows.
#pragma once

#include "Batcher.h"
#include "HttpServer.h"
#include "Metrics.h"

namespace serve {

/// A model behind HTTP: POST /v1/predict, and GET /v1/health, /v1/program and /metrics. Errors are
/// a status and `{"error": "..."}`.
class Service {
public:
  Service(Model model, const BatcherOptions &batching, const HttpLimits &limits);

  HttpServer &server() { return server_; }
  /// Serves until the server is stopped, and answers all that waits then.
  void serve();

private:
  bool refused(const httplib::Request &request, httplib::Response &response) const;
  void predict(const httplib::Request &request, httplib::Response &response,
               const httplib::ContentReader &read);
  void reply_to(const std::string &body, httplib::Response &response);
  std::string read_body(const httplib::Request &request, const httplib::ContentReader &read) const;
  std::string program() const;

  const HttpLimits limits_;
  Metrics metrics_;
  Batcher batcher_;
  HttpServer server_;
};

} // namespace serve
