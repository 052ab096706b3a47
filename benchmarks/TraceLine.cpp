// trace_20k_ops: tracing and compiling a straight line of 20,000 ops.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <map>

namespace weft::bench {

Row trace_20k_ops(const std::string &name, const Session &session) {
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> order;
  std::vector<Contender> contenders = {
      {"weft", [&] {
         PeerProcess process({session.program("weft-bench-straight-line")}, session.threads);
         const double seconds = process.repeat();
         const auto answer = nlohmann::ordered_json::parse(process.answer());
         for (const auto &[phase, time] : answer.at("phases").items()) {
           if (!times.contains(phase)) order.push_back(phase);
           times[phase].push_back(time.get<double>());
         }
         return seconds;
       }}};
  if (auto peer = session.first_call("jax_line.py")) contenders.push_back(*peer);
  // A repeat takes seconds, and a first call is one; there is nothing to warm up.
  Row row = compare(name, "s", contenders, std::min(session.repeats, 3));
  for (const std::string &phase : order) row.fields["phases"][phase] = median(times[phase]);
  return row;
}

} // namespace weft::bench
