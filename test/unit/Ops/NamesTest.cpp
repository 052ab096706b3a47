// weft::names beside names that users have for other things.
#include "../Testing.h"

#include <weft/names.h>

using namespace weft::names; // what is tested

namespace {

using u8 = unsigned char;
using i32 = int;
using f32 = float;
using f64 = double;
struct Node {
  int value;
};

} // namespace

namespace train {
constexpr int epoch = 2;
}
namespace data {
constexpr int rows = 3;
}

namespace {

TEST(Names, StandBesideThoseOfUsers) {
  const Node node{1};
  const f32 scale = 1.5F;
  const i32 total = data::rows + train::epoch + node.value + u8{0} + static_cast<int>(f64{0});
  const Tensor x = ones({2, 3});
  EXPECT_EQ(sum(x * scale + total, 1).to_vector<float>(), (std::vector<float>{22.5F, 22.5F}));
  const auto f = function([](const Tensor &a) { return clip(hypot(a, 2), 0, 1); });
  EXPECT_EQ((f(x)[{0, all}].shape()), (Shape{3}));
  EXPECT_EQ(abs(-2.5), 2.5);
  EXPECT_EQ(linalg::trace(ones({2, 2})).item<f32>(), 2);
  EXPECT_EQ(fft::ifft(fft::fft(x)).shape(), x.shape());
  EXPECT_THROW(x + ones({4}), ShapeError);
  const nn::Dense dense(3);
  EXPECT_EQ(dense(x).shape(), (Shape{2, 3}));
}

} // namespace
