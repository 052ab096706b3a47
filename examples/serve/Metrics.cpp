// Counts and histograms as text.
#include "Metrics.h"

#include <cstdio>
#include <fstream>
#include <unistd.h>

#include <weft/memory.h>

namespace serve {

namespace {

/// Seconds, from 50 us to 1 s.
constexpr std::array<double, 14> kSeconds = {5e-5, 1e-4, 2e-4, 3e-4, 5e-4, 1e-3, 2e-3,
                                             5e-3, 0.01, 0.02, 0.05, 0.1,  0.5,  1};
constexpr std::array<double, 9> kRows = {1, 2, 4, 8, 16, 32, 64, 128, 256};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void describe(std::string &text, const std::string &name, const char *type, const char *what) {
  text += "# HELP " + name + " " + what + "\n# TYPE " + name + " " + type + "\n";
}

void append_value(std::string &text, const std::string &name, const char *type, const char *what,
                  double value) {
  describe(text, name, type, what);
  text += name + " " + number(value) + "\n";
}

} // namespace

template <std::size_t N>
void Histogram<N>::append_to(std::string &text, const std::string &name) const {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i <= N; ++i) {
    below += counts_[i].load(std::memory_order_relaxed);
    text += name + "_bucket{le=\"" + (i < N ? number(bounds_[i]) : "+Inf") + "\"} " +
            std::to_string(below) + "\n";
  }
  text += name + "_sum " + number(sum_.load(std::memory_order_relaxed)) + "\n";
  text += name + "_count " + std::to_string(below) + "\n";
}

Metrics::Metrics() : latency_(kSeconds), run_(kSeconds), rows_(kRows) {}

void Metrics::count_request(const std::string &path, int status, double seconds) {
  latency_.observe(seconds);
  const std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
}

void Metrics::count_batch(std::int64_t rows, std::int64_t padded, double seconds) {
  run_.observe(seconds);
  rows_.observe(static_cast<double>(rows));
  padded_.fetch_add(static_cast<std::uint64_t>(padded), std::memory_order_relaxed);
}

std::string Metrics::text(const Gauges &gauges) const {
  std::string text;
  describe(text, "weft_serve_requests_total", "counter", "Requests that were answered.");
  {
    const std::lock_guard lock(mutex_);
    for (const auto &[key, count] : requests_)
      text += "weft_serve_requests_total{path=\"" + key.first + "\",status=\"" +
              std::to_string(key.second) + "\"} " + std::to_string(count) + "\n";
  }
  describe(text, "weft_serve_request_seconds", "histogram",
           "From the first byte of a request to its reply.");
  latency_.append_to(text, "weft_serve_request_seconds");
  describe(text, "weft_serve_run_seconds", "histogram", "Runs of the model.");
  run_.append_to(text, "weft_serve_run_seconds");
  describe(text, "weft_serve_batch_rows", "histogram", "Rows of requests in a batch.");
  rows_.append_to(text, "weft_serve_batch_rows");
  append_value(text, "weft_serve_padded_rows_total", "counter",
               "Rows that filled batches up to the size of an entry.",
               static_cast<double>(padded_.load(std::memory_order_relaxed)));
  append_value(text, "weft_serve_lost_connections_total", "counter",
               "Connections refused, or closed before a request was complete.",
               static_cast<double>(lost_.load(std::memory_order_relaxed)));
  append_value(text, "weft_serve_queue_length", "gauge", "Requests that wait for a batch.",
               static_cast<double>(gauges.queue));
  append_value(text, "weft_serve_connections", "gauge", "Open connections.",
               static_cast<double>(gauges.connections));
  const weft::MemoryStats memory = weft::memory_stats();
  append_value(text, "weft_tensor_memory_bytes", "gauge", "Memory that tensors hold.",
               static_cast<double>(memory.current));
  append_value(text, "weft_cached_memory_bytes", "gauge",
               "Memory that Weft keeps for tensors to come.", static_cast<double>(memory.cached));
  append_value(text, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
               static_cast<double>(resident_bytes()));
  return text;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace serve
