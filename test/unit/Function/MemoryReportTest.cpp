// Reports on the memory of compiled calls: a training step copies nothing, and reasons have names.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

using Kind = MemoryNote::Kind;

std::vector<MemoryNote> notes_of(const CompileReport &report, Kind kind) {
  std::vector<MemoryNote> notes;
  for (const MemoryNote &note : report.memory)
    if (note.kind == kind) notes.push_back(note);
  return notes;
}

/// Two layers and Adam: the main job's network.
struct Trainer {
  nn::Sequential model{nn::Dense(8, 16, {.activation = relu, .seed = 1}),
                       nn::Dense(16, 4, {.seed = 2})};
  optimizers::Adam optimizer{model.parameters(), {.learning_rate = 2e-3}};
};

/// Every variable in place, no copies, nothing allocated but results.
void expect_outputs_only(const CompileReport &report, std::size_t outputs, std::size_t variables) {
  EXPECT_EQ(report.copies(), 0u) << report.memory_text();
  EXPECT_EQ(notes_of(report, Kind::allocation).size(), 0u) << report.memory_text();
  EXPECT_EQ(notes_of(report, Kind::output).size(), outputs) << report.memory_text();
  const std::vector<MemoryNote> updates = notes_of(report, Kind::update);
  EXPECT_EQ(updates.size(), variables) << report.memory_text();
  for (const MemoryNote &update : updates) EXPECT_EQ(update.reason, "") << report.memory_text();
}

TEST(MemoryReport, ATrainingStepCopiesNothing) {
  Trainer trainer;
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, trainer.model(x));
    trainer.optimizer.apply_gradients(tape.gradient(loss, trainer.model.parameters()));
    return loss;
  });
  // Four parameters, two moments of each, the number of the step.
  expect_outputs_only(step.report(ones({32, 8}), zeros({32}, i32)), 1, 13);
}

TEST(MemoryReport, AnAssertBeforeTheAssignsCostsNoCopy) {
  Trainer trainer;
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, trainer.model(x));
    check(loss < 1e6f, "the loss is finite", loss);
    trainer.optimizer.apply_gradients(tape.gradient(loss, trainer.model.parameters()));
    return loss;
  });
  expect_outputs_only(step.report(ones({32, 8}), zeros({32}, i32)), 1, 13);
}

TEST(MemoryReport, AnAssertAfterTheAssignsCostsNoCopy) {
  Trainer trainer;
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, trainer.model(x));
    trainer.optimizer.apply_gradients(tape.gradient(loss, trainer.model.parameters()));
    check(loss < 1e6f, "the loss is finite", loss);
    print("loss", loss);
    return loss;
  });
  expect_outputs_only(step.report(ones({32, 8}), zeros({32}, i32)), 1, 13);
}

TEST(MemoryReport, RecordsAndText) {
  const Variable w(zeros({4}), "w"), v(zeros({4}), "v");
  auto f = function([&](const Tensor &x) {
    w.assign(w + x);
    v.assign(x);
    return x;
  });
  const CompileReport report = f.report(ones({4}));
  ASSERT_EQ(report.memory.size(), 5u) << report.memory_text();
  EXPECT_EQ(report.copies(), 2u);
  const std::vector<MemoryNote> updates = notes_of(report, Kind::update),
                                copies = notes_of(report, Kind::copy);
  EXPECT_EQ(updates[0].what, "@w");
  EXPECT_EQ(updates[0].reason, "");
  EXPECT_EQ(updates[1].what, "@v");
  EXPECT_EQ(updates[1].reason, "@v is given the value of result 0");
  EXPECT_EQ(copies[0].bytes, 16);
  const std::string text = report.memory_text();
  EXPECT_EQ(text.substr(0, text.find('\n')), "2 copies, 0 allocations, 1 output; 1 of 2 variables "
                                             "updated in place; no temporaries");
  EXPECT_NE(text.find("  update  16 B  @w        in place\n"), std::string::npos) << text;
}

TEST(MemoryReport, UnknownSizesAreFormulas) {
  auto f = function(
      [](const Tensor &x) {
        const Tensor e = exp(x);
        return sum(matmul(e, transpose(e, {1, 0})));
      },
      {.signature = {spec(f32, {unknown, 3})}});
  const CompileReport report = f.report(ones({2, 3}));
  const std::vector<MemoryNote> allocations = notes_of(report, Kind::allocation);
  ASSERT_FALSE(allocations.empty()) << report.memory_text();
  for (const MemoryNote &note : allocations) {
    EXPECT_EQ(note.bytes, -1);
    EXPECT_NE(note.formula.find("argument 0.size(0)"), std::string::npos) << note.formula;
    EXPECT_EQ(note.reason, "its size is known only when it runs");
  }
}

} // namespace
} // namespace weft
