// weft-serve: answers HTTP requests with the predictions of a model, in batches.
//
// Usage: weft-serve model.weft [--port=N] ...; weft-serve --help names the options.
#include "Service.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include <sched.h>

#include <CLI/CLI.hpp>

namespace serve {

namespace {

struct Options {
  bool demo = false;
  std::string program, save, device = "cpu";
  std::string data = "examples/digits/data", host = "127.0.0.1";
  int port = 8080, threads = 1, time_calls = 0;
  double call_rate = 0;
  BatcherOptions batching{.parallel_batches = 0};
  HttpLimits limits;
  std::int64_t delay_us = 0, timeout_ms = 1000, body_kib = 16384, header_ms = 5000, body_ms = 15000;
};

void add_options(CLI::App &app, Options &options) {
  auto *what = app.add_option_group("model", "What to serve");
  what->add_option("program", options.program, "A program that weft::export_program wrote");
  what->add_flag("--demo", options.demo, "A network that reads digits, trained at the start");
  what->require_option(1);
  app.add_option("--save", options.save, "Serve nothing: write the demo's program to this file");
  app.add_option("--data", options.data, "Where the demo's digits are")->capture_default_str();
  app.add_option("--device", options.device, "Where the program runs: cpu, or gpu:0")
      ->capture_default_str();
  app.add_option("--host", options.host, "The address to listen on")->capture_default_str();
  app.add_option("--port", options.port, "The port to listen on; 0: a free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  app.add_option("--max-batch", options.batching.max_batch, "The most rows of a batch")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--max-queue-delay-us", options.delay_us,
                 "How long a request waits for others to share its batch")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  app.add_option("--max-queue", options.batching.max_queue, "The most requests that wait")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--queue-timeout-ms", options.timeout_ms, "How long a request waits at most")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  app.add_option("--parallel-batches", options.batching.parallel_batches,
                 "Batches that run at the same time; 0: one for each --threads processors")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "Threads of one batch. Small models are fastest with one")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--max-connections", options.limits.max_connections, "The most open connections")
      ->check(CLI::Range(1, 900))
      ->capture_default_str();
  app.add_option("--max-body-kib", options.body_kib, "The most of a request's body, in KiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--header-timeout-ms", options.header_ms, "Within which a request's headers come")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  app.add_option("--body-timeout-ms", options.body_ms, "Within which a request's body comes")
      ->check(CLI::Range(1, 3'600'000))
      ->capture_default_str();
  app.add_option("--time-calls", options.time_calls,
                 "Serve nothing: time so many calls of the model with one row, and stop")
      ->check(CLI::Range(1, 10'000'000));
  app.add_option("--call-rate", options.call_rate,
                 "So many calls per second, not one after the other")
      ->check(CLI::Range(0.1, 1e6))
      ->needs("--time-calls");
}

/// The times of the bare model, which those of requests are compared with.
int time_calls(const Model &model, int count, double rate) {
  const weft::TensorType type = model.entries.front().inputs.front();
  const std::vector<weft::Tensor> inputs = {weft::zeros(type.shape, type.dtype)};
  std::vector<double> times;
  auto due = std::chrono::steady_clock::now();
  for (int i = -count / 10; i < count; ++i) {
    if (rate > 0) {
      due += std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / rate));
      std::this_thread::sleep_until(due);
    }
    const auto start = std::chrono::steady_clock::now();
    model.run(inputs);
    const std::chrono::duration<double, std::micro> spent =
        std::chrono::steady_clock::now() - start;
    if (i >= 0) times.push_back(spent.count());
  }
  std::ranges::sort(times);
  std::printf("{\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f}\n", times[times.size() / 2],
              times[times.size() * 99 / 100], times.back());
  return 0;
}

/// Those that this process may run on.
int processors() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

HttpServer *signalled = nullptr;

/// Lets the signals that end a program stop the server. A second one ends the program.
void stop_on_signals(HttpServer &server) {
  signalled = &server;
  struct sigaction action = {};
  action.sa_handler = [](int) { signalled->stop(); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

int run(Options &options) {
  // Before Weft looks at it.
  setenv("WEFT_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
  if (options.batching.parallel_batches == 0)
    options.batching.parallel_batches = std::max(1, processors() / options.threads);
  options.batching.max_queue_delay = std::chrono::microseconds(options.delay_us);
  options.batching.queue_timeout = std::chrono::milliseconds(options.timeout_ms);
  options.limits.max_body = static_cast<std::size_t>(options.body_kib) << 10;
  options.limits.header_timeout = std::chrono::milliseconds(options.header_ms);
  options.limits.body_timeout = std::chrono::milliseconds(options.body_ms);
  if (!options.save.empty()) {
    if (!options.demo) throw weft::ValueError("--save writes the program of --demo");
    save_demo(options.data, options.batching.max_batch, options.save);
    return 0;
  }
  if (options.demo && options.device != "cpu")
    throw weft::ValueError("--device is of a program: write the demo's by --save first");
  Model model = options.demo ? demo_model(options.data, options.batching.max_batch)
                             : program_model(options.program, options.device);
  if (options.time_calls > 0) return time_calls(model, options.time_calls, options.call_rate);
  Service service(std::move(model), options.batching, options.limits);
  const int port = service.server().bind(options.host, options.port);
  stop_on_signals(service.server());
  std::printf("serving on http://%s:%d\n", options.host.c_str(), port);
  std::fflush(stdout);
  service.serve();
  std::printf("stopped\n");
  return 0;
}

} // namespace

} // namespace serve

int main(int argc, char **argv) {
  serve::Options options;
  CLI::App app("Answers HTTP requests with the predictions of a model, in batches.", "weft-serve");
  serve::add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    return serve::run(options);
  } catch (const std::exception &error) {
    std::cerr << "weft-serve: " << error.what() << '\n';
    return 1;
  }
}
