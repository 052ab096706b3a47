// Neural style (Gatys et al. 2016): an image that has the shapes of one and the texture of another,
// as features of a network tell them. Two losses, whose gradients come from one tape.
#include <cstdio>
#include <string>
#include <tuple>

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kSize = 32, kSteps = 400;

/// A network of random weights, whose features are good enough for textures (Ustyuzhaninov et al.
/// 2017).
struct Features {
  nn::Conv2D near{32, 7, {.activation = relu}}, far{32, 3, {.activation = relu}};
  nn::AveragePooling2D pool{4};
  WEFT_FIELDS(Features, near, far, pool)

  /// What shows textures, and what shows shapes, each (1, height, width, channels).
  std::pair<Tensor, Tensor> operator()(const Tensor &image) const {
    const Tensor texture = near(image);
    return {texture, far(pool(texture))};
  }
};

/// Which channels are on together, wherever that is: their Gram matrix.
Tensor gram(const Tensor &features) {
  const Tensor x = reshape(features, {-1, features.size(-1)});
  return matmul(x, x, {.transpose_lhs = true}) / x.size(0);
}

/// The mean of squared differences, as a share of that of squares.
Tensor difference(const Tensor &wanted, const Tensor &shown) {
  return mean(square(shown - wanted)) / mean(square(wanted));
}

void draw(std::initializer_list<Tensor> images) {
  for (std::int64_t y = 0; y < kSize; y += 2) { // letters are twice as high as wide
    std::string line;
    for (const Tensor &image : images) {
      for (const double grey : image[{0, y, all, 0}].to_vector<double>())
        line += " .:-=+*#%@"[static_cast<int>(9.99 * grey)];
      line += "   ";
    }
    std::printf("%s\n", line.c_str());
  }
}

} // namespace

int main() {
  const Tensor y = iota(f32, {1, kSize, kSize, 1}, {.axis = 1}),
               x = iota(f32, {1, kSize, kSize, 1}, {.axis = 2});
  const Tensor radius = sqrt(square(x - 15.5) + square(y - 15.5));
  const Tensor content = exp(-square((radius - 10) / 3)); // a ring
  const Tensor style = 0.5 + 0.5 * sin(1.2 * (x + y));    // stripes

  const Features features;
  nn::seed(features, 1);
  const Tensor texture = gram(features(style).first), shapes = features(content).second;
  const Variable image(random::uniform(content.shape(), {.seed = 2}), "image");
  const optimizers::Adam adam({image}, {.learning_rate = 0.02});
  const auto step = function([&] {
    GradientTape tape({.persistent = true});
    const auto [near, far] = features(image);
    const Tensor content_loss = difference(shapes, far),
                 style_loss = difference(texture, gram(near));
    const Tensor by_content = tape.gradient(content_loss, image),
                 by_style = tape.gradient(style_loss, image);
    adam.apply_gradients(std::vector{by_content + by_style});
    image.assign(minimum(maximum(image, 0), 1));
    // 1 where both pull the same way, -1 where one undoes what the other does.
    const Tensor agreement =
        sum(by_content * by_style) / sqrt(sum(square(by_content)) * sum(square(by_style)));
    return std::tuple(content_loss, style_loss, agreement);
  });

  for (std::int64_t i = 1; i <= kSteps; ++i) {
    const auto [content_loss, style_loss, agreement] = step();
    if (i == 1 || i % 100 == 0)
      std::printf("step %3lld: content loss %.3f, style loss %.3f, cosine %.2f\n",
                  static_cast<long long>(i), content_loss.item<double>(), style_loss.item<double>(),
                  agreement.item<double>());
  }
  draw({content, style, image});
}
