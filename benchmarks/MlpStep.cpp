// mlp_train_step_*: one training step of the small classifier, eager and compiled.
#include "Benchmarks.h"
#include "Mlp.h"

namespace weft::bench {

Row mlp_train_step_eager(const std::string &name, const Session &session) {
  Trainer trainer;
  std::vector<Contender> contenders = {
      {"weft", [&] {
         return 1e6 * seconds_per_call([&](std::int64_t count) {
                  for (std::int64_t i = 0; i < count; ++i)
                    keep(trainer.step(trainer.x(), trainer.labels()));
                });
       }}};
  // At this size libtorch's threads cost it more than they bring: it may choose.
  if (auto peer = session.libtorch("mlp", 1)) contenders.push_back(*peer);
  if (session.threads > 1)
    if (auto peer = session.libtorch("mlp", session.threads)) contenders.push_back(*peer);
  return compare(name, "us", contenders, session.repeats);
}

Row mlp_train_step_compiled(const std::string &name, const Session &session) {
  Trainer trainer;
  const auto step = function([&](Tensor x, Tensor labels) { return trainer.step(x, labels); });
  std::vector<Contender> contenders = {{"weft", [&] {
                                          return 1e6 * seconds_per_call([&](std::int64_t count) {
                                                   for (std::int64_t i = 0; i < count; ++i)
                                                     keep(step(trainer.x(), trainer.labels()));
                                                 });
                                        }}};
  if (auto peer = session.python("iree_compiled.py", "step")) contenders.push_back(*peer);
  if (auto peer = session.python("jax_mlp.py", "step")) contenders.push_back(*peer);
  return compare(name, "us", contenders, session.repeats);
}

} // namespace weft::bench
