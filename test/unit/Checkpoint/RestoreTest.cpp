// What is saved of a structure, what restoring it finds, and what it refuses.
#include <weft/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "../Testing.h"
#include "Files.h"
#include <weft/function.h>
#include <weft/gradient_tape.h>
#include <weft/metrics.h>
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/optimizers.h>
#include <weft/random.h>
#include <weft/safetensors.h>

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// A position that may be at most its size.
class Position final : public Stateful {
public:
  explicit Position(int size = 10) : size(size) {}
  std::string saved_state() const override { return std::to_string(at); }
  void check_state(std::string_view text) const override {
    if (std::stoi(std::string(text)) > size)
      throw ValueError("the position " + std::string(text) + " is behind the end, " +
                       std::to_string(size));
  }
  void restore_state(std::string_view text) override { at = std::stoi(std::string(text)); }
  void weft_visit(StructureVisitor &visitor) { visitor.stateful(*this); }
  void weft_visit(StructureVisitor &visitor) const {
    visitor.stateful(const_cast<Position &>(*this));
  }
  int size, at = 0;
};

enum class Stage : std::uint8_t { warmup, main };

struct Training {
  nn::Sequential model{nn::Dense(3, {.activation = relu}), nn::Dense(2)};
  optimizers::Adam adam{model, {.learning_rate = 0.1, .average = 0.9}};
  Position digits;
  Variable epoch{0};
  Tensor mask;
  std::int64_t count = 0;
  double best = 0;
  bool done = false;
  Stage stage = Stage::warmup;
  std::string note;
  std::map<std::string, Variable> more{{"a", Variable(1.5)}};
  WEFT_FIELDS(Training, model, adam, digits, epoch, mask, count, best, done, stage, note, more)

  void step() {
    const Tensor x = full({4, 5}, 0.5F, f32);
    adam.minimize([&] { return mean(square(model(x) - 1)); });
  }
};

std::vector<std::string> texts_of(const Training &run) {
  std::vector<std::string> all;
  for (const auto &[path, variable] : nn::named_variables(run))
    all.push_back(path + " " + to_string(variable.value()));
  return all;
}

TEST(Checkpoint, AWholeRunComesBackInAFreshOne) {
  const std::string folder = fresh_folder("run");
  Training run;
  nn::seed(run.model, 5);
  run.step();
  run.step();
  run.digits.at = 7;
  run.epoch.assign(3);
  run.mask = tensor({true, false});
  run.count = std::numeric_limits<std::int64_t>::min();
  run.best = 0.1;
  run.done = true;
  run.stage = Stage::main;
  run.note = "ü\n\"";
  run.more.at("a").assign(2.5);
  const std::string path = Checkpoint(run).save(folder);
  EXPECT_EQ(path, folder + "/ckpt-1.safetensors");
  const std::vector<std::string> saved = texts_of(run);

  // One that has taken other steps, and one that was never called: it gets its values when it is.
  Training other;
  nn::seed(other.model, 6);
  other.step();
  Checkpoint(other).restore(path).assert_consumed();
  EXPECT_EQ(texts_of(other), saved);
  Training fresh;
  RestoreStatus status = Checkpoint(fresh).restore(path);
  EXPECT_THAT(status.waiting(),
              UnorderedElementsAre("model.0.kernel", "adam.slots.m.0.kernel",
                                   "adam.slots.v.0.kernel", "adam.slots.average.0.kernel",
                                   "model.1.kernel", "adam.slots.m.1.kernel",
                                   "adam.slots.v.1.kernel", "adam.slots.average.1.kernel"));
  static_cast<void>(fresh.model(zeros({1, 5}, f32)));
  static_cast<void>(fresh.adam.state());
  status.assert_consumed();
  EXPECT_EQ(texts_of(fresh), saved);
  for (const Training *one : {&other, &fresh}) {
    EXPECT_EQ(one->digits.at, 7);
    EXPECT_EQ(one->epoch.value().item<std::int32_t>(), 3);
    EXPECT_EQ(values_of<bool>(one->mask), (std::vector<bool>{true, false}));
    EXPECT_EQ(one->count, std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(one->best, 0.1);
    EXPECT_TRUE(one->done);
    EXPECT_EQ(one->stage, Stage::main);
    EXPECT_EQ(one->note, "ü\n\"");
  }
  // They go on alike, bit for bit.
  for (Training *one : {&run, &other, &fresh}) one->step();
  EXPECT_EQ(texts_of(other), texts_of(run));
  EXPECT_EQ(texts_of(fresh), texts_of(run));
}

TEST(Checkpoint, AFirstTraceStartsFromTheRestoredValues) {
  const std::string folder = fresh_folder("trace");
  const auto losses = [](Training &run, int steps) {
    auto step = function([&](const Tensor &x) {
      return run.adam.minimize([&] { return mean(square(run.model(x) - 1)); });
    });
    std::vector<float> all;
    for (int i = 0; i < steps; ++i) all.push_back(step(full({4, 5}, 0.5F, f32)).item<float>());
    return all;
  };
  Training run;
  nn::seed(run.model, 5);
  losses(run, 2);
  const std::string path = Checkpoint(run).save(folder);
  Training fresh;
  RestoreStatus status = Checkpoint(fresh).restore(path);
  EXPECT_EQ(losses(fresh, 3), losses(run, 3));
  status.assert_consumed();
}

TEST(Checkpoint, NamesInTheFileAreThePaths) {
  const std::string folder = fresh_folder("names");
  Training run;
  run.step();
  const SafetensorsFile file(Checkpoint(run).save(folder));
  std::vector<std::string> names;
  for (const auto &entry : file.entries()) names.push_back(entry.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"model.0.kernel", "model.1.bias", "adam.step", "epoch",
                                            "adam.slots.average.1.kernel", "more.a"}));
  EXPECT_EQ(names.size(), 4 * 4 + 3U) << "the model's weights are there once";
  EXPECT_EQ(file.metadata().at("weft.alias.adam.slots.weight.0.kernel"), "model.0.kernel");
  EXPECT_EQ(file.metadata().at("weft.number.best"), "0");
  EXPECT_EQ(file.metadata().at("weft.state.digits"), "0");
}

struct Pair {
  Variable a{tensor({1.F, 2.F})}, b{tensor({3.F})};
  WEFT_FIELDS(Pair, a, b)
};
struct Turned { // the same two, the other way round, and once more
  Variable b{tensor({0.F})}, a{tensor({0.F, 0.F})}, again = a;
  WEFT_FIELDS(Turned, b, a, again)
};

TEST(Checkpoint, AliasesAreSavedOnceAndFoundByEitherName) {
  const std::string folder = fresh_folder("aliases");
  Turned turned;
  turned.a.assign(tensor({5.F, 6.F}));
  const std::string path = Checkpoint(turned).save(folder);
  EXPECT_EQ(load_safetensors(path).size(), 2U);
  struct Again { // has but the second name
    Variable again{tensor({0.F, 0.F})}, b{tensor({0.F})};
    WEFT_FIELDS(Again, again, b)
  } again;
  Checkpoint(again).restore(path).assert_consumed();
  EXPECT_EQ(values_of<float>(again.again.value()), (std::vector<float>{5, 6}));
}

TEST(Checkpoint, SeveralPartsHaveNames) {
  const std::string folder = fresh_folder("parts");
  Pair pair;
  int epoch = 4;
  const std::string path = Checkpoint{{"pair", pair}, {"epoch", epoch}}.save(folder);
  Pair other;
  other.a.assign(0);
  int number = 0;
  Checkpoint{{"pair", other}, {"epoch", number}}.restore(path).assert_consumed();
  EXPECT_EQ(values_of<float>(other.a.value()), (std::vector<float>{1, 2}));
  EXPECT_EQ(number, 4);
  EXPECT_THROWS((Checkpoint{{"pair", pair}, {"pair", other}}.save(folder)), ValueError,
                "Checkpoint: two parts have the path 'pair.a': call one of them something else");
}

TEST(Checkpoint, WhatDoesNotFitIsListedBeforeAnythingChanges) {
  const std::string folder = fresh_folder("misfits");
  struct Saved {
    Variable a{tensor({1.F, 2.F})}, b{tensor({3.F})}, c{tensor({4.F})};
    Position digits{20};
    int small = 300;
    WEFT_FIELDS(Saved, a, b, c, digits, small)
  } saved;
  saved.digits.at = 15;
  const std::string path = Checkpoint(saved).save(folder);
  struct Other {
    Variable a{tensor({0.F, 0.F, 0.F})}, b{tensor({0})}, c{tensor({0.F})};
    Position digits{10};
    signed char small = 1;
    WEFT_FIELDS(Other, a, b, c, digits, small)
  } other;
  EXPECT_THROWS(Checkpoint(other).restore(path), IOError,
                path + ": does not fit what Checkpoint::restore was given: 'a' is f32(3,), but in "
                       "the file f32(2,); 'b' is i32(1,), but in the file f32(1,); 'small' is 1, "
                       "but in the file '300', which its type cannot hold; 'digits': the position "
                       "15 is behind the end, 10");
  EXPECT_EQ(other.c.value().item<float>(), 0);
  EXPECT_EQ(other.digits.at, 0);
}

TEST(Checkpoint, AnotherModelsFileIsRefusedWithAllDifferences) {
  struct Layers {
    std::vector<Variable> all;
    WEFT_FIELDS(Layers, all)
  };
  Layers saved, other;
  for (int i = 0; i < 40; ++i) {
    saved.all.emplace_back(ones({2, 3}));
    // Every other one of another shape or dtype, and some that fit.
    if (i % 3 == 0) other.all.emplace_back(zeros({3, 2}));
    else if (i % 3 == 1) other.all.emplace_back(zeros({2, 3}, DType::f64));
    else other.all.emplace_back(zeros({2, 3}));
  }
  const std::string path = fresh_folder("another") + ".safetensors";
  Checkpoint(saved).write(path);
  std::string words;
  try {
    Checkpoint(other).restore(path);
  } catch (const IOError &error) {
    words = error.message();
  }
  for (int i = 0; i < 40; ++i) {
    const std::string name = "'all." + std::to_string(i) + "' is ";
    const std::size_t at = words.find(name);
    if (i % 3 == 2) {
      EXPECT_EQ(at, std::string::npos) << name;
      continue;
    }
    ASSERT_NE(at, std::string::npos) << name << words;
    const std::string wanted = i % 3 == 0 ? "f32(3, 2), but in the file f32(2, 3)"
                                          : "f64(2, 3), but in the file f32(2, 3)";
    EXPECT_EQ(words.substr(at + name.size(), wanted.size()), wanted);
  }
  for (const Variable &one : other.all)
    EXPECT_EQ(sum(one.value()).astype(DType::f64).item<double>(), 0); // nothing was assigned
}

TEST(Checkpoint, TheStatusSaysWhatDidNotMatch) {
  const std::string folder = fresh_folder("status");
  Pair pair;
  const std::string path = Checkpoint{{"pair", pair}}.save(folder);
  struct Other {
    Variable a{tensor({0.F, 0.F})}, c{tensor({0.F})};
    WEFT_FIELDS(Other, a, c)
  } other;
  const Checkpoint checkpoint{{"pair", other}};
  const Logged log;
  {
    RestoreStatus status = checkpoint.restore(path);
    EXPECT_THAT(status.missing(), ElementsAre("pair.c"));
    EXPECT_THAT(status.unused(), ElementsAre("pair.b"));
    EXPECT_THROWS(status.assert_consumed(), AssertionError,
                  "assert_consumed: " + path +
                      ": 'pair.b' is in the file, but not here; 'pair.c' "
                      "is not in the file");
    EXPECT_THROWS(status.assert_existing_objects_matched(), AssertionError,
                  "assert_existing_objects_matched: " + path + ": 'pair.c' is not in the file");
    status.assert_nontrivial_match();
    EXPECT_EQ(values_of<float>(other.a.value()), (std::vector<float>{1, 2}));
  }
  EXPECT_THAT(log.lines, ElementsAre());
  checkpoint.restore(path).expect_partial();
  EXPECT_THAT(log.lines, ElementsAre());
  static_cast<void>(checkpoint.restore(path));
  EXPECT_THAT(log.lines, ElementsAre(path + ": not all of it was restored. The file has no "
                                            "'pair.c'. Nothing here is called 'pair.b'. Ask the "
                                            "status for it, or call expect_partial()."));
  Variable unrelated(1.F);
  RestoreStatus status = Checkpoint{{"unrelated", unrelated}}.restore(path);
  EXPECT_THROWS(status.assert_nontrivial_match(), AssertionError,
                "assert_nontrivial_match: " + path + ": nothing in the file is here");
  RestoreStatus none = checkpoint.restore(std::nullopt);
  EXPECT_THROWS(none.assert_consumed(), AssertionError,
                "assert_consumed: there was no checkpoint to restore");
}

TEST(Checkpoint, PartsThatComeLaterGetTheirValuesWhenTheStatusIsAsked) {
  const std::string folder = fresh_folder("later");
  struct Growing {
    std::vector<Variable> all;
    WEFT_FIELDS(Growing, all)
  } saved{{Variable(1.F), Variable(2.F)}}, growing{{Variable(0.F)}};
  const std::string path = Checkpoint(saved).save(folder);
  RestoreStatus status = Checkpoint(growing).restore(path);
  EXPECT_THAT(status.unused(), ElementsAre("all.1"));
  growing.all[0].assign(7); // its own since it was restored
  growing.all.emplace_back(0.F);
  status.assert_consumed();
  EXPECT_EQ(growing.all[1].value().item<float>(), 2);
  EXPECT_EQ(growing.all[0].value().item<float>(), 7);
}

TEST(Checkpoint, ARestoreThatIsSharedGoesOnIntoOtherParts) {
  const std::string folder = fresh_folder("shared");
  struct Growing {
    std::vector<Variable> all;
    WEFT_FIELDS(Growing, all)
  } saved{{Variable(1.F), Variable(2.F)}}, growing{{Variable(0.F)}};
  const std::string path = Checkpoint(saved).save(folder);
  const Logged log;
  {
    RestoreStatus status = Checkpoint(growing).restore(path);
    RestoreStatus later = status.shared();
    growing.all[0].assign(7); // its own since it was restored
    growing.all.emplace_back(0.F);
    growing.all.emplace_back(9.F); // which the file does not have
    later.restore_into({CheckpointPart::whole(growing)});
    EXPECT_THAT(status.unused(), ElementsAre());
    EXPECT_THAT(status.missing(), ElementsAre());
  }
  EXPECT_THAT(log.lines, ElementsAre());
  EXPECT_EQ(growing.all[0].value().item<float>(), 7);
  EXPECT_EQ(growing.all[1].value().item<float>(), 2);
  EXPECT_EQ(growing.all[2].value().item<float>(), 9);
}

TEST(Checkpoint, ARestoredShapeMustBeThatOfTheFirstCall) {
  const std::string folder = fresh_folder("shape");
  nn::Sequential model{nn::Dense(2)}, other{nn::Dense(2)};
  static_cast<void>(model(zeros({1, 5}, f32)));
  RestoreStatus status = Checkpoint(other).restore(Checkpoint(model).save(folder));
  try {
    static_cast<void>(other(zeros({1, 4}, f32)));
    ADD_FAILURE() << "the layer was built for 4 inputs and has the weights for 5";
  } catch (const ShapeError &error) {
    EXPECT_THAT(error.what(), HasSubstr("is to be of shape (4, 2), but the value restored for it "
                                        "is f32(5, 2)"));
  }
  static_cast<void>(other(zeros({1, 5}, f32))); // the value still waits
  status.assert_consumed();
}

TEST(Checkpoint, NumbersOfLayersAndMetricsStayAsTheProgramSays) {
  const std::string folder = fresh_folder("numbers");
  struct Both {
    metrics::TopKAccuracy top;
    const int version;
    WEFT_FIELDS(Both, top, version)
  } saved{metrics::TopKAccuracy(5), 1}, other{metrics::TopKAccuracy(2), 2};
  const std::string path = Checkpoint(saved).save(folder);
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata().count("weft.number.version"), 1U);
  EXPECT_EQ(file.metadata().count("weft.number.top.k"), 0U);
  Checkpoint(other).restore(path).assert_consumed();
  EXPECT_EQ(other.version, 2);
}

TEST(Checkpoint, SavingInsideOfATraceIsRefused) {
  Pair pair;
  auto traced = function([&](const Tensor &x) {
    Checkpoint(pair).write(fresh_folder("never"));
    return x + pair.a;
  });
  try {
    traced(tensor({1.F, 1.F}));
    ADD_FAILURE() << "a checkpoint was saved while a function was traced";
  } catch (const StateError &error) {
    EXPECT_THAT(error.what(), HasSubstr("inside of a traced function there are no values"));
  }
}

TEST(Checkpoint, OptimizersOfListsHaveTheSameNamesInAnotherProcess) {
  const std::string folder = fresh_folder("list");
  const auto saved_names = [&] {
    const Variable w(1.F), b(2.F); // called by numbers that never come again
    optimizers::SGD sgd({w, b}, {.momentum = 0.9});
    sgd.minimize([&] { return w * b; });
    std::vector<std::string> names;
    const SafetensorsFile file(Checkpoint{{"sgd", sgd}}.save(folder));
    for (const auto &entry : file.entries()) names.push_back(entry.name);
    return names;
  };
  const std::vector<std::string> first = saved_names();
  EXPECT_THAT(first,
              UnorderedElementsAre("sgd.step", "sgd.slots.momentum.0", "sgd.slots.momentum.1",
                                   "sgd.slots.weight.0", "sgd.slots.weight.1"));
  EXPECT_EQ(saved_names(), first);
}

TEST(Checkpoint, FilesThatAreNoCheckpointsSaySo) {
  const std::string path = fresh_folder("weights.safetensors");
  Pair pair;
  save_weights(path, pair);
  EXPECT_THROWS(Checkpoint(pair).restore(path), IOError,
                path + ": is no checkpoint of Weft's: it has no 'weft.format'");
  EXPECT_THROWS(Checkpoint(pair).restore("/nowhere/x"), IOError,
                "/nowhere/x: cannot be opened: No such file or directory");
}

} // namespace
} // namespace weft
