// reductions_250_compile: the first call of a function that is many equal loops.
#include "ShapesOfWork.h"

namespace weft::bench {

Row reductions_250_compile(const std::string &name, const Session &session) {
  const Tensors arguments(250, ones({64, 64}));
  std::vector<Contender> contenders = {{"weft", [&] {
                                          // A function of its own each time: nothing is compiled
                                          // yet.
                                          const auto f = function([](const Tensors &xs) {
                                            Tensors sums;
                                            for (const Tensor &x : xs)
                                              sums.push_back(sum(x, {.axes = Ints{1}}));
                                            return sums;
                                          });
                                          const double start = now();
                                          keep(f(arguments));
                                          return 1e3 * (now() - start);
                                        }}};
  for (Contender &peer : peers_at_work(name, kJax, {}, session))
    contenders.push_back(std::move(peer));
  return compare(name, "ms", contenders, std::min(session.repeats, 3));
}

} // namespace weft::bench
