// Calls of ops on windows of images.
#include "Calls.h"

namespace weft::fuzz {

namespace {

constexpr ErrorKinds kErrors = errors({ErrorKind::dtype});

/// Images and how many spatial axes they have: mostly what was drawn in another shape.
struct Images {
  Tensor x;
  std::size_t axes;
};
Images drawn_images(Draw &draw) {
  const Tensor x = draw.tensor("x");
  switch (draw.choose(8)) {
  case 0:
  case 1:
  case 2: return {reshape(x, {1, unknown, 1}), 1};
  case 3:
  case 4: return {reshape(x, {1, unknown, 1, 1}), 2};
  case 5: return {reshape(x, {unknown, 1, 1, 1, 1}), 3};
  default: return {x, x.rank() >= 3 && x.rank() <= 5 ? static_cast<std::size_t>(x.rank()) - 2 : 1};
  }
}

/// Mostly a small number for each axis, or none.
Ints drawn_list(Draw &draw, const char *name, std::size_t axes, bool may_lack = true) {
  const std::uint64_t kind = draw.choose(8);
  if (kind == 0) return draw.value<Ints>(name);
  if (kind < 3 && may_lack) return {};
  Ints list;
  for (std::size_t i = 0; i < axes; ++i)
    list.push_back(1 + static_cast<std::int64_t>(draw.choose(3)));
  return list;
}

Padding drawn_padding(Draw &draw) {
  const auto one = [&] {
    return static_cast<std::int64_t>(draw.choose(4)) - (draw.choose(9) == 0);
  };
  switch (draw.choose(6)) {
  case 0: return Padding::causal;
  case 1:
  case 2: return Padding::same;
  case 3: return {{one(), one()}};
  case 4: return {{one(), one()}, {one(), one()}};
  default: return Padding::valid;
  }
}

/// A kernel for images, of which mostly all but the dtype fits.
Tensor drawn_kernel(Draw &draw, const Images &images, bool transposed) {
  const Tensor drawn = draw.tensor("kernel");
  if (draw.choose(6) == 0) return drawn;
  Ints shape = drawn_list(draw, "window", images.axes, /*may_lack=*/false);
  const std::int64_t channels = images.x.rank() == 0 ? 1 : images.x.shape()[images.x.rank() - 1];
  const auto others = static_cast<std::int64_t>(draw.choose(4));
  shape.push_back(transposed ? others : channels);
  shape.push_back(transposed ? channels : others);
  for (std::int64_t &size : shape)
    if (size < 0 || size > 100) size = 1;
  const Tensor like = draw.choose(5) == 0 ? drawn : images.x;
  return ones(Shape(std::span<const std::int64_t>(shape)),
              like.dtype() == boolean ? f32 : like.dtype());
}

std::vector<Tensor> pooled(Draw &draw,
                           Tensor (*pool)(const Operand &, const Ints &, const PoolOptions &)) {
  const Images images = drawn_images(draw);
  const Ints window = drawn_list(draw, "window", images.axes, /*may_lack=*/false);
  const Ints strides = drawn_list(draw, "strides", images.axes);
  return results(pool(images.x, window, {.strides = strides, .padding = drawn_padding(draw)}));
}

const CallEntry kCalls[] = {
    {.name = "convolution",
     .call =
         [](Draw &draw) {
           const Images images = drawn_images(draw);
           const Tensor kernel = drawn_kernel(draw, images, false);
           const Ints strides = drawn_list(draw, "strides", images.axes);
           const Padding padding = drawn_padding(draw);
           const Ints dilations = drawn_list(draw, "dilations", images.axes);
           const std::int64_t groups = draw.choose(4) == 0 ? draw.value<std::int64_t>("groups") : 1;
           return results(convolution(
               images.x, kernel,
               {.strides = strides, .padding = padding, .dilations = dilations, .groups = groups}));
         },
     .raises = kErrors},
    {.name = "convolution_transpose",
     .call =
         [](Draw &draw) {
           const Images images = drawn_images(draw);
           const Tensor kernel = drawn_kernel(draw, images, true);
           const Ints strides = drawn_list(draw, "strides", images.axes);
           const Padding padding = drawn_padding(draw);
           const Ints dilations = drawn_list(draw, "dilations", images.axes);
           const Ints extra =
               draw.choose(4) == 0 ? drawn_list(draw, "output_padding", images.axes) : Ints();
           // Strides may be of any size, and results as large.
           for (const std::int64_t stride : strides)
             if (stride > 1000) return std::vector<Tensor>();
           return results(convolution_transpose(images.x, kernel,
                                                {.strides = strides,
                                                 .padding = padding,
                                                 .dilations = dilations,
                                                 .output_padding = extra}));
         },
     .raises = kErrors},
    {.name = "reduce_window",
     .call =
         [](Draw &draw) {
           const Images images = drawn_images(draw);
           const auto reduction = static_cast<WindowReduction>(draw.choose(4));
           const Ints window = drawn_list(draw, "window", images.axes, /*may_lack=*/false);
           const Ints strides = drawn_list(draw, "strides", images.axes);
           const Padding padding = drawn_padding(draw);
           const Ints dilations = drawn_list(draw, "dilations", images.axes);
           const bool count_padding = draw.choose(2) == 0;
           return results(reduce_window(images.x, reduction, window,
                                        {.strides = strides,
                                         .padding = padding,
                                         .dilations = dilations,
                                         .count_padding = count_padding}));
         },
     .raises = kErrors},
    {.name = "max_pool",
     .call = [](Draw &draw) { return pooled(draw, max_pool); },
     .raises = kErrors},
    {.name = "min_pool",
     .call = [](Draw &draw) { return pooled(draw, min_pool); },
     .raises = kErrors},
    {.name = "average_pool",
     .call =
         [](Draw &draw) {
           return pooled(draw,
                         [](const Operand &x, const Ints &window, const PoolOptions &options) {
                           return average_pool(
                               x, window, {.strides = options.strides, .padding = options.padding});
                         });
         },
     .raises = kErrors},
    {.name = "resize_image",
     .call =
         [](Draw &draw) {
           const Images images = drawn_images(draw);
           const Ints size = drawn_list(draw, "size", images.axes, /*may_lack=*/false);
           // Sizes may be drawn of any size, and results as large.
           for (const std::int64_t wanted : size)
             if (wanted > 1000 && wanted < std::int64_t{1} << 31) return std::vector<Tensor>();
           return results(resize_image(images.x, size, static_cast<Resize>(draw.choose(2))));
         },
     .raises = kErrors},
};

} // namespace

std::span<const CallEntry> window_calls() { return kCalls; }

} // namespace weft::fuzz
