// weft-serve-load: sends requests to weft-serve on a fixed schedule and says how long they took.
//
// Usage: weft-serve-load --port=N --rate=R --seconds=S ...; weft-serve-load --help names the
// options.
#include "Json.h"
#include "Load.h"

#include <cstdio>
#include <iostream>

#include <sched.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace load {

namespace {

struct Options {
  Address address;
  Schedule schedule;
  std::string format = "npy", path = "/v1/predict";
  std::int64_t rows = 1;
  int cpu = -1, round_trips = 1000;
  double max_p99_us = 0;
  bool flat_memory = false, json = false;
};

std::string ask(const Address &address, const std::string &path) {
  Client client(address);
  client.send(get_request(address, path));
  client.wait();
  return client.body();
}

/// A request of random rows that the served program takes, or a GET of another path.
std::string make_request(const Options &options) {
  if (options.path != "/v1/predict") return get_request(options.address, options.path);
  const nlohmann::json program = nlohmann::json::parse(ask(options.address, "/v1/program"));
  const nlohmann::json &inputs = program.at("entries").at(0).at("inputs");
  if (inputs.size() != 1) throw std::runtime_error("the program has not one input");
  weft::Shape shape;
  for (const nlohmann::json &size : inputs.at(0).at("shape"))
    shape.push_back(size.is_null() ? 1 : size.get<std::int64_t>());
  shape[0] = options.rows;
  const auto dtype = weft::parse_dtype(inputs.at(0).at("dtype").get<std::string>());
  const weft::Tensor input = weft::random::uniform(shape, {.seed = 1}).astype(dtype.value());
  if (options.format == "npy")
    return post_request(options.address, "/v1/predict", "application/octet-stream",
                        weft::encode_npy(input));
  std::string body = serve::format_predictions({input});
  body.replace(body.find("predictions"), std::string("predictions").size(), "instances");
  return post_request(options.address, "/v1/predict", "application/json", body);
}

nlohmann::ordered_json times(const Latencies &latencies) {
  return {{"p50_us", latencies.quantile_us(0.5)},
          {"p90_us", latencies.quantile_us(0.9)},
          {"p99_us", latencies.quantile_us(0.99)},
          {"p999_us", latencies.quantile_us(0.999)},
          {"max_us", latencies.max_us()}};
}

std::string words(const Latencies &latencies) {
  char text[160];
  std::snprintf(text, sizeof text, "p50 %.0f us, p90 %.0f, p99 %.0f, p99.9 %.0f, max %.0f",
                latencies.quantile_us(0.5), latencies.quantile_us(0.9), latencies.quantile_us(0.99),
                latencies.quantile_us(0.999), latencies.max_us());
  return text;
}

void print(const Outcome &outcome, const Latencies &idle, const Trend &memory) {
  std::printf("round trip of GET /v1/health: %s\n", words(idle).c_str());
  std::printf("offered %.1f requests/s, achieved %.1f; %llu answered, %llu lost;", outcome.offered,
              outcome.achieved, static_cast<unsigned long long>(outcome.latencies.count()),
              static_cast<unsigned long long>(outcome.lost));
  for (const auto &[status, count] : outcome.statuses)
    std::printf(" %d: %llu", status, static_cast<unsigned long long>(count));
  std::printf("\nlatency from the moment of the schedule: %s\n", words(outcome.latencies).c_str());
  if (memory.seconds > 0)
    std::printf("memory of the server: %.1f MiB, %+.1f KiB/minute over %.0f s: %s\n",
                memory.kib / 1024, memory.kib_per_minute, memory.seconds,
                memory.flat() ? "flat" : "it grows");
}

void print_json(const Outcome &outcome, const Latencies &idle, const Trend &memory) {
  nlohmann::ordered_json object = {{"offered", outcome.offered},
                                   {"achieved", outcome.achieved},
                                   {"answered", outcome.latencies.count()},
                                   {"lost", outcome.lost},
                                   {"latency", times(outcome.latencies)},
                                   {"round_trip", times(idle)}};
  for (const auto &[status, count] : outcome.statuses)
    object["statuses"][std::to_string(status)] = count;
  if (memory.seconds > 0)
    object["memory"] = {
        {"kib", memory.kib}, {"kib_per_minute", memory.kib_per_minute}, {"flat", memory.flat()}};
  std::printf("%s\n", object.dump().c_str());
}

/// Says which of the limits that were asked for is not kept; whether all are.
bool keeps_limits(const Options &options, const Outcome &outcome, const Trend &memory) {
  bool kept = true;
  const auto miss = [&](const std::string &what) {
    std::cerr << "weft-serve-load: " << what << '\n';
    kept = false;
  };
  if (outcome.lost > 0) miss(std::to_string(outcome.lost) + " requests have no reply");
  for (const auto &[status, count] : outcome.statuses)
    if (status != 200)
      miss(std::to_string(count) + " requests were answered " + std::to_string(status));
  const double p99 = outcome.latencies.quantile_us(0.99);
  if (options.max_p99_us > 0 && p99 > options.max_p99_us)
    miss("p99 is " + std::to_string(p99) + " us, more than --max-p99-us");
  if (options.flat_memory && memory.seconds == 0) miss("there are too few samples of the memory");
  if (options.flat_memory && !memory.flat()) miss("the server's memory grows");
  return kept;
}

int measure(const Options &options) {
  if (options.cpu >= 0) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(options.cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0)
      throw std::runtime_error("there is no processor " + std::to_string(options.cpu));
  }
  prctl(PR_SET_TIMERSLACK, 1); // requests go out when they are due, not up to 50 us later
  const std::string request = make_request(options);
  const Latencies idle =
      round_trips(options.address, get_request(options.address, "/v1/health"), options.round_trips);
  const Outcome outcome = run(options.address, request, options.schedule);
  const Trend memory = trend(outcome.memory);
  (options.json ? print_json : print)(outcome, idle, memory);
  return keeps_limits(options, outcome, memory) ? 0 : 1;
}

void add_options(CLI::App &app, Options &options) {
  app.add_option("--host", options.address.host, "The server's address")->capture_default_str();
  app.add_option("--port", options.address.port, "Its port")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  app.add_option("--rate", options.schedule.rate, "Requests per second")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--seconds", options.schedule.seconds, "How long is measured")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--warm-up", options.schedule.warm_up, "Seconds before, which do not count")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--connections", options.schedule.connections, "Connections to the server")
      ->check(CLI::Range(1, 900))
      ->capture_default_str();
  app.add_option("--path", options.path, "What is asked; a path but this one with GET")
      ->capture_default_str();
  app.add_option("--rows", options.rows, "Rows of each request")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--format", options.format, "npy or json")
      ->check(CLI::IsMember({"npy", "json"}))
      ->capture_default_str();
  app.add_option("--round-trips", options.round_trips, "How often GET /v1/health is timed before")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--cpu", options.cpu, "The one processor to run on")->check(CLI::Range(0, 1023));
  app.add_flag(
      "--busy", options.schedule.busy,
      "Never sleep, so that the client's own waking up is not measured; takes a processor");
  app.add_option("--pid", options.schedule.pid, "The server's process: look at its memory")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--max-p99-us", options.max_p99_us, "Exit with 1 if the latency's p99 is above");
  app.add_flag("--flat-memory", options.flat_memory, "Exit with 1 if the server's memory grows")
      ->needs("--pid");
  app.add_flag("--json", options.json, "Print one line of JSON");
}

} // namespace

} // namespace load

int main(int argc, char **argv) {
  load::Options options;
  CLI::App app(
      "Sends requests to weft-serve on a fixed schedule and says how long they took. Exits "
      "with 1 if one was not answered with 200 or a limit is not kept.",
      "weft-serve-load");
  load::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    return load::measure(options);
  } catch (const std::exception &error) {
    std::cerr << "weft-serve-load: " << error.what() << '\n';
    return 1;
  }
}
