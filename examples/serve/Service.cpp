// What each request is answered with.
#include "Service.h"

#include "Json.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace serve {

using weft::Tensor;

namespace {

constexpr const char *kJson = "application/json", *kNpy = "application/octet-stream";

struct Route {
  const char *method, *path;
};
constexpr std::array<Route, 4> kRoutes = {Route{"POST", "/v1/predict"}, Route{"GET", "/v1/health"},
                                          Route{"GET", "/v1/program"}, Route{"GET", "/metrics"}};

void set_error(httplib::Response &response, int status, const std::string &message) {
  response.status = status;
  response.set_content(format_error(message), kJson);
}

bool is_npy(const std::string &body) { return body.starts_with("\x93NUMPY"); }

/// The length of the body as its headers tell; nothing for one in chunks. Throws RequestError.
std::optional<std::size_t> announced_length(const httplib::Request &request) {
  if (request.has_header("Transfer-Encoding")) {
    if (request.get_header_value("Transfer-Encoding") != "chunked" ||
        request.has_header("Content-Length"))
      throw RequestError(400,
                         "a body comes with a Content-Length or in chunks, and in no other way");
    return std::nullopt;
  }
  if (!request.has_header("Content-Length"))
    throw RequestError(411, "the body's length is missing: a Content-Length, or chunks");
  const std::string text = request.get_header_value("Content-Length");
  const bool number = !text.empty() && text.size() < 19 &&
                      std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (request.get_header_value_count("Content-Length") != 1)
    throw RequestError(400, "the request has more than one Content-Length");
  if (!number) throw RequestError(400, "the Content-Length is no number: '" + text + "'");
  return std::stoull(text);
}

nlohmann::ordered_json types_json(const std::vector<weft::TensorType> &types) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const weft::TensorType &type : types) {
    nlohmann::ordered_json shape = nlohmann::ordered_json::array();
    for (const std::int64_t size : type.shape)
      shape.push_back(size == weft::unknown ? nlohmann::ordered_json()
                                            : nlohmann::ordered_json(size));
    list.push_back({{"dtype", name_of(type.dtype)}, {"shape", shape}});
  }
  return list;
}

} // namespace

Service::Service(Model model, const BatcherOptions &batching, const HttpLimits &limits)
    : limits_(limits), batcher_(std::move(model), batching,
                                [this](const BatchRecord &batch) {
                                  metrics_.count_batch(batch.rows, batch.padded, batch.seconds);
                                }),
      server_(limits) {
  server_.on_lost_connection = [this] { metrics_.count_lost_connection(); };
  server_.set_pre_routing_handler(
      [this](const httplib::Request &request, httplib::Response &response) {
        return refused(request, response) ? httplib::Server::HandlerResponse::Handled
                                          : httplib::Server::HandlerResponse::Unhandled;
      });
  server_.set_expect_100_continue_handler(
      [this](const httplib::Request &request, httplib::Response &response) {
        return refused(request, response) ? response.status : 100;
      });
  server_.Post("/v1/predict", [this](const auto &request, auto &response, const auto &read) {
    predict(request, response, read);
  });
  server_.Get("/v1/health", [](const auto &, auto &response) {
    response.set_content("{\"status\": \"ok\"}\n", kJson);
  });
  server_.Get("/v1/program",
              [this](const auto &, auto &response) { response.set_content(program(), kJson); });
  server_.Get("/metrics", [this](const auto &, auto &response) {
    response.set_content(metrics_.text({batcher_.waiting(), server_.connections()}),
                         "text/plain; version=0.0.4");
  });
  server_.set_logger([this](const httplib::Request &request, const httplib::Response &response) {
    const bool known = std::ranges::any_of(
        kRoutes, [&](const Route &route) { return request.path == route.path; });
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - Connection::current().started();
    metrics_.count_request(known ? request.path : "other", response.status, spent.count());
  });
}

void Service::serve() {
  server_.serve();
  batcher_.stop();
}

/// Answers what can be refused before a body is read.
bool Service::refused(const httplib::Request &request, httplib::Response &response) const {
  std::string methods;
  bool allowed = false;
  for (const Route &route : kRoutes)
    if (request.path == route.path) {
      methods = route.method;
      allowed = request.method == route.method || (request.method == "HEAD" && methods == "GET");
    }
  const bool body =
      request.has_header("Transfer-Encoding") ||
      (request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0");
  if (!body) Connection::current().end_body();
  try {
    if (methods.empty())
      throw RequestError(404, "there is no '" + request.path +
                                  "'; there are POST /v1/predict, and GET "
                                  "/v1/health, /v1/program and /metrics");
    if (!allowed) {
      response.set_header("Allow", methods);
      throw RequestError(405, request.path + " is asked for by " + methods + ", not by " +
                                  request.method);
    }
    if (request.method != "POST") {
      if (body) throw RequestError(400, "a " + request.method + " has no body");
      return false;
    }
    if (request.has_header("Content-Encoding") || request.is_multipart_form_data())
      throw RequestError(415, "the body must be JSON or a .npy file as it is: not compressed, and "
                              "not a form");
    if (announced_length(request).value_or(0) > limits_.max_body)
      throw RequestError(413, "the body has " + request.get_header_value("Content-Length") +
                                  " bytes; at most " + std::to_string(limits_.max_body) +
                                  " are taken");
    return false;
  } catch (const RequestError &error) {
    set_error(response, error.status(), error.what());
    return true;
  }
}

std::string Service::read_body(const httplib::Request & /*request*/,
                               const httplib::ContentReader &read) const {
  std::string body;
  bool too_large = false;
  const bool complete = read([&](const char *bytes, std::size_t size) {
    too_large = size > limits_.max_body - body.size();
    if (!too_large) body.append(bytes, size);
    return !too_large;
  });
  Connection &connection = Connection::current();
  if (complete) {
    connection.end_body();
    return body;
  }
  if (too_large || connection.fault() == Connection::Fault::too_long)
    throw RequestError(413, "the body has more than the " + std::to_string(limits_.max_body) +
                                " bytes that are taken");
  if (connection.fault() == Connection::Fault::timeout)
    throw RequestError(408, "the body was not complete after " +
                                std::to_string(limits_.body_timeout.count()) +
                                " ms: " + std::to_string(body.size()) + " bytes had come");
  if (connection.fault() == Connection::Fault::closed)
    throw RequestError(400, "the body ends after " + std::to_string(body.size()) + " bytes");
  throw RequestError(400, "the body's chunks are malformed");
}

void Service::predict(const httplib::Request &request, httplib::Response &response,
                      const httplib::ContentReader &read) {
  try {
    reply_to(read_body(request, read), response);
  } catch (const RequestError &error) {
    set_error(response, error.status(), error.what());
    if (error.status() == 503) response.set_header("Retry-After", "1");
  } catch (const weft::Error &error) {
    set_error(response, 500, "the program failed: " + std::string(error.message()));
  }
}

/// In the form in which it was asked.
void Service::reply_to(const std::string &body, httplib::Response &response) {
  const Model &model = batcher_.model();
  if (!is_npy(body)) {
    response.set_content(format_predictions(batcher_.run(parse_instances(body, model))), kJson);
    return;
  }
  if (model.entries.front().inputs.size() != 1 || model.entries.front().outputs.size() != 1)
    throw RequestError(400, "a .npy file is one array: of programs with one input and one output");
  Tensor input;
  try {
    input = weft::decode_npy(body);
  } catch (const weft::Error &error) {
    throw RequestError(400, std::string(error.message()));
  }
  response.set_content(weft::encode_npy(batcher_.run({input}).front()), kNpy);
}

std::string Service::program() const {
  const Model &model = batcher_.model();
  nlohmann::ordered_json entries = nlohmann::ordered_json::array();
  for (const Entry &entry : model.entries)
    entries.push_back(
        {{"inputs", types_json(entry.inputs)}, {"outputs", types_json(entry.outputs)}});
  return nlohmann::ordered_json{{"name", model.name},
                                {"max_batch", batcher_.options().max_batch},
                                {"entries", entries}}
             .dump(2) +
         "\n";
}

} // namespace serve
