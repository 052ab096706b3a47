// The shapes of work that are ops on windows: convolution, pooling, and gradients of both.
#include "ShapesOfWork.h"

namespace weft::bench {

namespace {

Tensors conv_valid(const Tensors &in) { return {convolution(in[0], in[1])}; }
Tensors conv_same(const Tensors &in) {
  return {convolution(in[0], in[1], {.padding = Padding::same})};
}
Tensors conv_depthwise(const Tensors &in) {
  return {convolution(in[0], in[1], {.padding = Padding::same, .groups = in[0].size(-1)})};
}
Tensors pooled(const Tensors &in) { return {max_pool(in[0], {2, 2})}; }

/// The gradients of `run` by what it takes, from the cotangent that comes last.
template <Tensors (*Run)(const Tensors &)>
Tensors gradients(const Tensors &in) {
  const auto [y, back] =
      vjp([](const Tensor &x, const Tensor &k) { return Run({x, k})[0]; }, in[0], in[1]);
  const auto [dx, dk] = back(in[2]);
  return {dx, dk};
}

Tensors pooled_gradient(const Tensors &in) {
  const auto [y, back] = vjp([](const Tensor &x) { return pooled({x})[0]; }, in[0]);
  return {back(in[1])};
}

Tensors conv_same_dx(const Tensors &in) {
  return {convolution_transpose(in[1], in[0], {.padding = Padding::same})};
}

Tensors conv_same_dk(const Tensors &in) {
  const auto [y, back] =
      vjp([&](const Tensor &k) { return convolution(in[0], k, {.padding = Padding::same}); },
          zeros({3, 3, in[0].size(-1), in[1].size(-1)}));
  return {back(in[1])};
}

/// The two rows of a convolution, itself and its gradients.
void add_convolution(std::vector<Work> &list, const std::string &name, const std::string &what,
                     const std::vector<std::int64_t> &x, const std::vector<std::int64_t> &kernel,
                     const std::vector<std::int64_t> &y, Tensors (*run)(const Tensors &),
                     Tensors (*slopes)(const Tensors &)) {
  constexpr int kPeers = kTorch | kJax;
  list.push_back({name, what, {uniform(x), uniform(kernel)}, run, kPeers});
  list.push_back({name + "_grad",
                  "the gradients of " + name + " by images and kernel",
                  {uniform(x), uniform(kernel), uniform(y)},
                  slopes,
                  kPeers});
}

} // namespace

std::vector<Work> window_works() {
  constexpr int kPeers = kTorch | kJax;
  const WorkInput large = uniform({1, 200, 200, 100}), kernel = uniform({3, 3, 100, 100});
  std::vector<Work> list = {
      {"conv_3x3_100",
       "convolution of 1 x 200 x 200 x 100 to 100 channels, 3 x 3, same",
       {large, kernel},
       conv_same,
       kPeers},
      {"conv_3x3_100_dx", "its gradient by the image", {kernel, large}, conv_same_dx, kPeers},
      {"conv_3x3_100_dk",
       "its gradient by the kernel; eagerly with the convolution itself",
       {large, large},
       conv_same_dk,
       kPeers},
  };
  add_convolution(list, "conv_first",
                  "convolution of 64 x 28 x 28 x 1 to 16 channels, 3 x 3, valid", {64, 28, 28, 1},
                  {3, 3, 1, 16}, {64, 26, 26, 16}, conv_valid, gradients<conv_valid>);
  add_convolution(list, "conv_32_64",
                  "convolution of 64 x 28 x 28 x 32 to 64 channels, 3 x 3, same", {64, 28, 28, 32},
                  {3, 3, 32, 64}, {64, 28, 28, 64}, conv_same, gradients<conv_same>);
  add_convolution(list, "conv_1x1", "convolution of 32 x 56 x 56 x 64 to 256 channels, 1 x 1",
                  {32, 56, 56, 64}, {1, 1, 64, 256}, {32, 56, 56, 256}, conv_valid,
                  gradients<conv_valid>);
  add_convolution(list, "conv_depthwise",
                  "convolution of 32 x 56 x 56 x 64, each channel by its own, 3 x 3, same",
                  {32, 56, 56, 64}, {3, 3, 1, 64}, {32, 56, 56, 64}, conv_depthwise,
                  gradients<conv_depthwise>);
  list.push_back({"max_pool",
                  "the largest of each 2 x 2 of 64 x 28 x 28 x 32",
                  {uniform({64, 28, 28, 32})},
                  pooled,
                  kPeers});
  list.push_back({"max_pool_grad",
                  "its gradient",
                  {uniform({64, 28, 28, 32}), uniform({64, 14, 14, 32})},
                  pooled_gradient,
                  kPeers});
  return list;
}

} // namespace weft::bench
