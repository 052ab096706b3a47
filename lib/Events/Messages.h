// The messages of event files (tensorboard/compat/proto), as Weft writes them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "IO/Protobuf.h"
#include <weft/events.h>

namespace weft::events::detail {

/// Where and when a value was added.
struct Stamp {
  double wall_time;
  std::int64_t step;
};

/// The first record of every file.
std::string version_event(double wall_time);
/// What makes readers drop what earlier files have from that step on.
std::string start_event(const Stamp &stamp);

std::string scalar_event(const Stamp &stamp, std::string_view tag, float value);
/// `buckets` are rows of left, right, count.
std::string histogram_event(const Stamp &stamp, std::string_view tag,
                            std::span<const double> buckets);
/// Strings: rank 0 for one, rank 1 for more.
std::string strings_event(const Stamp &stamp, std::string_view tag, std::string_view plugin,
                          const std::vector<std::string> &strings);
/// The hyperparameters and metrics that there are, and the values of this run: two events.
std::vector<std::string> hyperparameter_events(double wall_time,
                                               const std::map<std::string, Hyperparameter> &values,
                                               const std::vector<std::string> &metrics);
/// A GraphDef.
std::string graph_event(double wall_time, const Graph &graph);
std::string finished_event(double wall_time, Status status);

} // namespace weft::events::detail
