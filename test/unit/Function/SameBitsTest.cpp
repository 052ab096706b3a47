// Compiled results equal eager ones bit for bit where the two choose their own code.
#include "../Testing.h"

#include <cstring>

#include <weft/random.h>
#include <weft/weft.h>

namespace weft {
namespace {

template <class F>
void expect_same_bits(const F &compute, const Tensor &x, const std::string &what) {
  const Tensor eager = compute(x);
  auto f = function(compute);
  const Tensor compiled = f(x);
  ASSERT_EQ(eager.type(), compiled.type()) << what;
  const std::vector<double> a = eager.to_vector<double>(), b = compiled.to_vector<double>();
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(double)), 0)
      << what << ": " << to_string(eager) << " and " << to_string(compiled);
}

TEST(SameBits, LogisticTail) {
  expect_same_bits([](const Tensor &x) { return logistic(x); }, arange(4096) * 0.03f - 105.f,
                   "logistic");
}

} // namespace
} // namespace weft
