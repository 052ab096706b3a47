// compile_mlp_step: the first call of the traced training step in a fresh process, and where its
// time goes.
#include "Benchmarks.h"
#include "PeerProcess.h"

#include <map>
#include <memory>

namespace weft::bench {

Row compile_mlp_step(const std::string &name, const Session &session) {
  std::map<std::string, std::vector<double>> times;
  std::vector<std::string> order;
  std::vector<Contender> contenders = {
      {"weft", [&] {
         PeerProcess process({session.program("weft-bench-first-call")}, session.threads);
         const double milliseconds = process.repeat();
         const auto answer = nlohmann::ordered_json::parse(process.answer());
         for (const auto &[phase, time] : answer.at("phases").items()) {
           if (!times.contains(phase)) order.push_back(phase);
           times[phase].push_back(time.get<double>());
         }
         return milliseconds;
       }}};
  if (auto peer = session.first_call("jax_mlp.py")) contenders.push_back(*peer);
  Row row = compare(name, "ms", contenders, session.repeats);
  for (const std::string &phase : order) row.fields["phases"][phase] = median(times[phase]);
  return row;
}

} // namespace weft::bench
