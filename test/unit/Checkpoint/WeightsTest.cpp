// Weights by names: our own files, and those of other programs.
#include <weft/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../Testing.h"
#include "Files.h"
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/safetensors.h>

namespace weft {
namespace {

using testing::ElementsAre;

const std::string kReference = WEFT_SOURCE_DIR "/test/unit/IO/Reference/";

struct Net {
  Variable weight{zeros({3, 2}, f32)}, bias{zeros({2}, f32)};
  WEFT_FIELDS(Net, weight, bias)
};

TEST(Weights, OtherProgramsNamesAreMapped) {
  // Two files with an index, as the package safetensors has written them.
  const std::string index = kReference + "model.safetensors.index.json";
  Net net;
  load_weights(index, net, {.names = {{"weight", "fc.weight"}, {"bias", "fc.bias"}}});
  EXPECT_EQ(values_of<float>(net.bias.value()), (std::vector<float>{-50 / 32.F, -13 / 32.F}));
  Net other;
  load_weights(index, other, {.names = [](const std::string &path) { return "fc." + path; }});
  EXPECT_EQ(to_string(other.weight.value()), to_string(net.weight.value()));
}

TEST(Weights, WhatDoesNotMatchIsListedBeforeAnythingChanges) {
  const std::string path = fresh_folder("strict.safetensors");
  save_safetensors(path, {{"fc.weight", ones({2, 3}, f32)}, {"bias", ones({2}, f32)}});
  Net net;
  EXPECT_THROWS(load_weights(path, net), IOError,
                path + ": does not fit what load_weights was given: 'weight' is not in the file "
                       "(is it 'fc.weight' there?); 'fc.weight' is in the file, but not here");
  EXPECT_THROWS(load_weights(path, net, {.names = {{"weight", "fc.weight"}}}), IOError,
                path + ": does not fit what load_weights was given: 'weight' is f32(3, 2), but in "
                       "the file f32(2, 3)");
  EXPECT_THROWS(
      load_weights(path, net, {.names = {{"weight", "fc.wait"}}}), IOError,
      path +
          ": does not fit what load_weights was given: 'fc.wait', which 'weight' is to be there, "
          "is not in the file; 'fc.weight' is in the file, but not here");
  EXPECT_THROWS(load_weights(path, net, {.names = {{"wait", "fc.weight"}}}), ValueError,
                "load_weights: the map of names has 'wait', which is no variable of the model");
  EXPECT_EQ(net.bias.value().span<float>()[0], 0);
  RestoreStatus status = load_weights(path, net, {.strict = false});
  EXPECT_THAT(status.missing(), ElementsAre("weight"));
  EXPECT_THAT(status.unused(), ElementsAre("fc.weight"));
  EXPECT_EQ(net.bias.value().span<float>()[0], 1);
  status.expect_partial();
}

TEST(Weights, NarrowDtypesAreWidenedIfAskedFor) {
  struct Half {
    Variable f16{zeros({9}, f32)};
    WEFT_FIELDS(Half, f16)
  } half;
  const std::string path = kReference + "narrow.safetensors";
  EXPECT_THROW(load_weights(path, half, {.strict = false}), IOError);
  load_weights(path, half, {.strict = false, .widen = true}).expect_partial();
  EXPECT_EQ(half.f16.value().span<float>()[5], 1);
}

TEST(Weights, AModelThatWasNeverCalledTakesThemWhenItIs) {
  const std::string path = fresh_folder("deferred.safetensors");
  nn::Sequential model{nn::Dense(4, {.activation = relu}), nn::Dense(2)};
  nn::Sequential other{nn::Dense(4, {.activation = relu}), nn::Dense(2)};
  EXPECT_THROWS(save_weights(path, model), StateError,
                "save_weights: '0.kernel' has no value yet: it gets it when its layer is first "
                "called");
  const Tensor x = full({1, 3}, 0.5F, f32), y = model(x);
  save_weights(path, model);
  load_weights(path, other);
  EXPECT_EQ(to_string(other(x)), to_string(y));
}

TEST(Weights, AreFoundInACheckpointToo) {
  const std::string folder = fresh_folder("of-checkpoint");
  Net net, other;
  net.bias.assign(3);
  int epoch = 2;
  const std::string path = Checkpoint{{"model", net}, {"epoch", epoch}}.save(folder);
  load_weights(path, other,
               {.names = [](const std::string &name) { return "model." + name; }, .strict = false})
      .expect_partial();
  EXPECT_EQ(other.bias.value().span<float>()[0], 3);
}

} // namespace
} // namespace weft
