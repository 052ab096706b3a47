// Requests on a fixed schedule, whatever the server does, and what became of them.
#pragma once

#include "Client.h"
#include "Latencies.h"

#include <map>
#include <vector>

namespace load {

struct Schedule {
  double rate = 100;   ///< requests per second
  double seconds = 10; ///< that are measured
  double warm_up = 2;  ///< seconds before, at the same rate
  int connections = 8;
  bool busy = false; ///< never sleeps: the client's own waking up is not part of the times
  int pid = 0;       ///< whose memory is looked at, each second; 0: nobody's
};

struct Sample {
  double seconds = 0; ///< since the measured part began
  double kib = 0;     ///< resident
};

struct Outcome {
  /// From the moment at which the schedule has a request, sent or not, to the end of its reply: a
  /// server that stalls does not put off the requests that would have met the stall.
  Latencies latencies;
  std::map<int, std::uint64_t> statuses;
  std::uint64_t lost = 0; ///< connections that the server closed, and requests without a reply
  double offered = 0, achieved = 0; ///< requests per second
  std::vector<Sample> memory;
};

/// Throws std::runtime_error if the server cannot be reached.
Outcome run(const Address &address, const std::string &request, const Schedule &schedule);

/// The times of one request after the other on one connection.
Latencies round_trips(const Address &address, const std::string &request, int count);

/// A line through the samples of the second half, or of the last four fifths of less than two
/// minutes. Before that the caches of allocators fill, a block for each size, thread and moment.
struct Trend {
  double kib = 0;            ///< the mean
  double kib_per_minute = 0; ///< the slope
  double seconds = 0;        ///< that it is a line through
  /// Whether what it rises by is within 1 % of the whole, or 1 MiB.
  bool flat() const;
};
Trend trend(const std::vector<Sample> &samples);

} // namespace load
