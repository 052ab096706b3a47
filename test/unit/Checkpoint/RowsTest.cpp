// The lines of the user's guides of TensorFlow 2 that are about saving, by their numbers there.
#include <weft/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "../Testing.h"
#include "Files.h"
#include <weft/memory.h>
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/optimizers.h>

namespace weft {
namespace {

// A variable lives until its last handle goes, and its memory with it; a checkpoint is no handle.
TEST(Rows, S002_22) {
  auto v = std::make_unique<Variable>(zeros({1000, 1000}, f32));
  const std::weak_ptr<VariableState> watched = v->state();
  {
    const Checkpoint checkpoint{{"v", *v}};
    checkpoint.save(fresh_folder("S002-22"));
    v.reset();
  }
  EXPECT_TRUE(watched.expired());
}

// model.save_weights('weights'); status = model.load_weights('weights')
TEST(Rows, S002_23) {
  const std::string path = fresh_folder("S002-23");
  nn::Sequential model{nn::Dense(2)};
  const Tensor x = full({1, 3}, 1.F, f32), before = model(x);
  save_weights(path, model);
  for (const Variable &variable : model.parameters()) variable.assign(0);
  RestoreStatus status = load_weights(path, model);
  status.assert_consumed();
  EXPECT_EQ(to_string(model(x)), to_string(before));
}

// checkpoint = tf.train.Checkpoint(x=x); x.assign(2.); checkpoint.save('./ckpt/')
TEST(Rows, S002_24) {
  const std::string folder = fresh_folder("S002-24") + "/ckpt/";
  const Variable x(10.);
  const Checkpoint checkpoint{{"x", x}};
  x.assign(2.);
  EXPECT_EQ(checkpoint.save(folder), folder + "ckpt-1.safetensors");
  EXPECT_EQ(checkpoint.save(folder), folder + "ckpt-2.safetensors");
}

// x.assign(11.); checkpoint.restore(tf.train.latest_checkpoint('./ckpt/')); print(x) => 2.0
TEST(Rows, S002_25) {
  const std::string folder = fresh_folder("S002-25");
  const Variable x(10.);
  const Checkpoint checkpoint{{"x", x}};
  x.assign(2.);
  checkpoint.save(folder);
  x.assign(11.);
  checkpoint.restore(latest_checkpoint(folder));
  EXPECT_EQ(x.value().item<double>(), 2.);
}

struct Root {
  nn::Sequential model{nn::Conv2D(16, 3, {.activation = relu}), nn::GlobalAveragePooling2D(),
                       nn::Dense(10)};
  optimizers::Adam optimizer{model, {.learning_rate = 0.001}};
  WEFT_FIELDS(Root, optimizer, model)
};

// root = tf.train.Checkpoint(optimizer=optimizer, model=model); root.save(prefix);
// root.restore(tf.train.latest_checkpoint(dir)), all before the model was ever called
TEST(Rows, S002_26) {
  const std::string folder = fresh_folder("S002-26") + "/made/with/its/parents";
  Root root;
  Checkpoint checkpoint(root);
  checkpoint.save(folder);
  RestoreStatus status = checkpoint.restore(latest_checkpoint(folder));
  status.assert_consumed(); // the step; nothing else has a value, here or there
  EXPECT_TRUE(status.waiting().empty());
  static_cast<void>(root.model(zeros({1, 8, 8, 1}, f32))); // draws its first values as ever
}

// Variables that are created after the restore get their values when they are created, slots of
// optimizers too; the asserts say when all have.
TEST(Rows, S002_27) {
  const std::string folder = fresh_folder("S002-27");
  const Tensor x = full({1, 8, 8, 1}, 0.5F, f32);
  const auto step = [&](Root &root) {
    root.optimizer.minimize([&] { return mean(square(root.model(x))); });
  };
  Root root;
  step(root);
  Checkpoint(root).save(folder);
  Root later;
  RestoreStatus status = Checkpoint(later).restore(latest_checkpoint(folder));
  status.assert_existing_objects_matched();
  EXPECT_THROW(status.assert_consumed(), AssertionError) << "nothing is created yet";
  step(later); // makes all, inside
  step(root);
  status.assert_consumed();
  EXPECT_EQ(to_string(later.model(x)), to_string(root.model(x)));
  EXPECT_EQ(later.optimizer.step().item<std::int64_t>(), 2);
}

// tfe.Checkpoint: model, optimizer and a global step are saved and restored together, and the
// objects hold all state that there is.
TEST(Rows, S004_8) {
  const std::string folder = fresh_folder("S004-8");
  struct All {
    nn::Sequential model{nn::Dense(1)};
    optimizers::SGD optimizer{model, {.learning_rate = 0.01, .momentum = 0.9}};
    Variable global_step{std::int64_t{0}};
    WEFT_FIELDS(All, model, optimizer, global_step)

    Tensor step() {
      global_step.assign_add(1);
      return optimizer.minimize([&] { return mean(square(model(full({2, 3}, 1.F, f32)) - 1)); });
    }
  } all;
  for (int i = 0; i < 3; ++i) all.step();
  const std::string path = Checkpoint(all).save(folder);
  std::vector<std::string> expected;
  for (int i = 0; i < 3; ++i) expected.push_back(to_string(all.step()));
  All other;
  other.step();
  Checkpoint(other).restore(path).assert_consumed();
  EXPECT_EQ(other.global_step.value().item<std::int64_t>(), 3);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(to_string(other.step()), expected[static_cast<std::size_t>(i)]);
}

} // namespace
} // namespace weft
