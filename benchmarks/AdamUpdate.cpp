// adam_update_1000x10k: an update of 1,000 parameters by Adam, against a copy of as many bytes.
#include "ShapesOfWork.h"

#include "Support/Threads.h"

#include <cstring>
#include <memory>

namespace weft::bench {

namespace {

constexpr std::int64_t kParameters = 1000, kElements = 10'000;
/// Weight, gradient and two moments are read, and all but the gradient written.
constexpr std::int64_t kMoved = 7 * kParameters * kElements;

} // namespace

Row adam_update_1000x10k(const std::string &name, const Session &session) {
  std::vector<Variable> variables;
  std::vector<Tensor> gradients;
  for (std::int64_t i = 0; i < kParameters; ++i) {
    variables.emplace_back(full({kElements}, 0.5));
    gradients.push_back(full({kElements}, 0.25));
  }
  const optimizers::Adam adam(variables);
  adam.apply_gradients(gradients); // makes the moments
  // Half of what is moved is read, and half written.
  const std::int64_t count = kMoved / 2;
  const std::vector<float> from(count, 1);
  std::vector<float> to(count);
  const auto copy = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += 1024)
      std::copy_n(from.data() + i, std::min<std::int64_t>(1024, end - i), to.data() + i);
  };
  std::vector<Contender> contenders = {timed("weft", 1e3,
                                             [&](std::int64_t times) {
                                               for (std::int64_t i = 0; i < times; ++i)
                                                 adam.apply_gradients(gradients);
                                             }),
                                       timed("copy (loop)", 1e3, [&](std::int64_t times) {
                                         for (std::int64_t i = 0; i < times; ++i) {
                                           threads::parallel_for(0, count, count / 64, copy);
                                           keep(*to.data());
                                         }
                                       })};
  for (Contender &peer : peers_at_work(name, kTorch | kJax, {}, session))
    contenders.push_back(std::move(peer));
  return compare(name, "ms", contenders, session.repeats);
}

} // namespace weft::bench
