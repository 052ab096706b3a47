// eager_mlp_peak: the memory of an eager training step.
#include "Mlp.h"
#include "ShapesOfWork.h"

#include <weft/memory.h>

namespace weft::bench {

Row eager_mlp_peak(const std::string &name, const Session &session) {
  std::vector<Contender> contenders = {
      {"weft", [] {
         const auto before = static_cast<double>(memory_stats().current);
         Trainer trainer(1024, 1024);
         // The first makes the optimizer's state, if that is not there yet.
         keep(trainer.step(trainer.x(), trainer.labels()));
         reset_peak();
         keep(trainer.step(trainer.x(), trainer.labels()));
         return (static_cast<double>(memory_stats().peak) - before) / (1 << 20);
       }}};
  for (Contender &peer : peers_at_work(name, kTorch, {}, session))
    contenders.push_back(std::move(peer));
  return compare(name, "MiB", contenders, std::min(session.repeats, 3));
}

} // namespace weft::bench
