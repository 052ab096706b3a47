// Gradients that leave the backward pass one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "Train/ReadyGradients.h"

#include <weft/weft.h>

#include <weft/train/fit.h>

namespace weft::train::detail {
namespace {

constexpr std::size_t kBack = 99;
std::vector<std::size_t> events; // NOLINT: of one thread

/// Notes when the backward pass comes by.
Tensor noted(const Tensor &x) {
  return custom_gradient([](const Tensor &value) {
    return Pullback{value, [](const Tensor &cotangent) {
                      return host_call(
                          [](const Tensor &given) {
                            events.push_back(kBack);
                            return given;
                          },
                          {.results = {cotangent.type()}}, cotangent);
                    }};
  })(x);
}

TEST(ReadyGradients, ComeBeforeEarlierLayersAreDifferentiated) {
  // The embedding is gathered from twice, and the last layer's kernel used twice.
  const nn::Embedding words(7, 4);
  const nn::Dense first(4, {.activation = noted}), last(4, {.activation = tanh});
  const Variable unused(ones({3}));
  const Tensor x = tensor({1, 5, 1});
  const auto loss_of = [&](const Tensor &ids) {
    return mean(last(last(first(words(ids) + words(ids * 0)))));
  };
  static_cast<void>(loss_of(x));
  const std::vector<nn::NamedVariable> variables = {
      {"words", words.embeddings}, {"first", first.kernel}, {"bias", *first.bias},
      {"unused", unused},          {"last", last.kernel},   {"last_bias", *last.bias}};
  const auto gradients_of = [&](const Tensor &ids) {
    GradientTape tape;
    const Tensor loss = loss_of(ids);
    std::vector<std::optional<Tensor>> all;
    for (Tensor &gradient : replica_gradients(tape, loss, variables))
      all.push_back(gradient.defined() ? std::optional(std::move(gradient)) : std::nullopt);
    return all;
  };
  const auto expected = gradients_of(x);
  EXPECT_FALSE(expected[3].has_value());
  std::vector<Tensor> taken(variables.size());
  const ReadyGradients ready(0, [&](std::size_t number, const Tensor &gradient) {
    events.push_back(number);
    taken[number] = gradient;
  });
  const std::function<std::vector<std::optional<Tensor>>(const Tensor &)> eager = gradients_of;
  const auto compiled = function(gradients_of);
  for (const bool compile : {false, true}) {
    events.clear();
    taken.assign(taken.size(), Tensor());
    const auto given = compile ? compiled(x) : eager(x);
    ASSERT_EQ(events.size(), 6U);
    EXPECT_THAT(std::vector(events.begin(), events.begin() + 2),
                testing::UnorderedElementsAre(4, 5));
    EXPECT_EQ(events[2], kBack);
    EXPECT_THAT(std::vector(events.begin() + 3, events.begin() + 5),
                testing::UnorderedElementsAre(1, 2));
    EXPECT_EQ(events[5], 0U);
    for (std::size_t i = 0; i < taken.size(); ++i) {
      ASSERT_EQ(taken[i].defined(), i != 3);
      if (i == 3) continue;
      EXPECT_EQ(taken[i].to_vector<float>(), expected[i]->to_vector<float>()) << i;
      EXPECT_EQ(given[i]->to_vector<float>(), expected[i]->to_vector<float>()) << i;
    }
  }
}

TEST(ReadyGradients, OfSmallModelsStay) {
  const nn::Dense layer(4);
  const auto gradients_of = [&] {
    GradientTape tape;
    return replica_gradients(tape, mean(layer(ones({2, 3}))),
                             {{"kernel", layer.kernel}, {"bias", *layer.bias}});
  };
  static_cast<void>(layer(ones({2, 3})));
  constexpr std::size_t kBytes = (3 * 4 + 4) * sizeof(float);
  for (const std::size_t least : {kBytes, kBytes - 1}) {
    int taken = 0;
    const ReadyGradients ready(least, [&](std::size_t, const Tensor &) { ++taken; });
    static_cast<void>(gradients_of());
    EXPECT_EQ(taken, least < kBytes ? 2 : 0);
  }
}

} // namespace
} // namespace weft::train::detail
