// compiled_call: what a call of a compiled function costs when the function itself does next to
// nothing.
#include "Benchmarks.h"

#include <weft/weft.h>

namespace weft::bench {

Row compiled_call(const std::string &name, const Session &session) {
  const Tensor x = arange(8, DType::f32), y = ones({8});
  const auto sum = function([](Tensor a, Tensor b) { return a + b; });
  keep(sum(x, y));
  std::vector<Contender> contenders = {{"weft", [&] {
                                          return 1e9 * seconds_per_call([&](std::int64_t count) {
                                                   for (std::int64_t i = 0; i < count; ++i)
                                                     keep(sum(x, y));
                                                 });
                                        }}};
  if (auto peer = session.python("iree_compiled.py", "add")) contenders.push_back(*peer);
  return compare(name, "ns", contenders, session.repeats);
}

} // namespace weft::bench
