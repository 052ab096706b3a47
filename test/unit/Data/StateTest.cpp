// The position of data sets: a loop that resumes hands out what the uninterrupted one would have.
#include <weft/data/dataset.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/nn/model.h>
#include <weft/ops.h>

#include <functional>
#include <set>

namespace weft::data {
namespace {

using testing::HasSubstr;
using Elements = std::vector<std::vector<std::int64_t>>;
using Make = std::function<BasicDataset<Tensor>()>;

Elements epoch(const BasicDataset<Tensor> &dataset) {
  Elements all;
  for (const Tensor &x : dataset) all.push_back(x.to_vector<std::int64_t>());
  return all;
}

// What a visitor of checkpoints does: takes the states of a structure.
struct States {
  void tensor(const Tensor &) {}
  void variable(const Variable &) {}
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}
  void stateful(Stateful &value) { all.push_back(&value); }
  std::vector<Stateful *> all;
};

template <class T>
Stateful &state_of(const T &structure) {
  States states;
  visit_structure(structure, states);
  EXPECT_EQ(states.all.size(), 1u);
  return *states.all.at(0);
}

std::string saved(const BasicDataset<Tensor> &dataset) { return state_of(dataset).saved_state(); }
void restore(const BasicDataset<Tensor> &dataset, const std::string &text) {
  state_of(dataset).check_state(text);
  state_of(dataset).restore_state(text);
}

// Interrupts the second epoch behind each of its elements, goes on in a data set created anew, and
// compares what is left of this epoch, and the next one.
void check_resumes(const Make &make) {
  const auto whole = make();
  epoch(whole);
  const Elements second = epoch(whole), third = epoch(whole);
  ASSERT_FALSE(second.empty());
  for (std::size_t stop = 1; stop <= second.size(); ++stop) {
    const auto before = make();
    epoch(before);
    std::string state;
    std::size_t seen = 0;
    for (const Tensor &x : before) {
      ASSERT_EQ(x.to_vector<std::int64_t>(), second[seen]);
      if (++seen == stop) {
        state = saved(before);
        break;
      }
    }
    const auto after = make();
    restore(after, state);
    EXPECT_EQ(saved(after), state);
    const Elements rest(second.begin() + static_cast<std::ptrdiff_t>(stop), second.end());
    EXPECT_EQ(epoch(after), rest) << "stopped behind element " << stop;
    EXPECT_EQ(epoch(after), third) << "stopped behind element " << stop;
  }
}

Tensor doubled(const Tensor &x) { return x * 2; }
Tensor noisy(const Tensor &x, const random::Generator &generator) {
  return x + generator.randint({}, 0, 1000);
}

TEST(State, RowsResume) {
  check_resumes([] {
    return from_tensors(arange(17, DType::i64)).shuffle({.buffer = 5, .seed = 1}).batch(3);
  });
  check_resumes([] { return range(12).shuffle({.seed = 2}).repeat(2).shard(3, 1); });
  check_resumes(
      [] { return concatenate(range(5).shuffle({.seed = 1}), range(5, 9)).skip(1).take(7); });
}

TEST(State, StreamsResumeAtAnyNumberOfWorkers) {
  for (const int workers : {0, 1, 4})
    check_resumes([workers] {
      return range(20)
          .map(noisy, {.workers = workers, .seed = 3})
          .filter([](const Tensor &x) { return x.item<std::int64_t>() % 3 != 0; })
          .shuffle({.buffer = 4, .seed = 2})
          .map(doubled, {.workers = workers})
          .batch(3)
          .prefetch(2);
    });
}

TEST(State, GeneratorsResume) {
  check_resumes([] {
    return from_generator([i = 0]() mutable -> std::optional<int> {
             return i < 9 ? std::optional(i++) : std::nullopt;
           })
        .map([](const Tensor &x) { return x.astype(DType::i64); })
        .shuffle({.buffer = 3, .seed = 1});
  });
}

TEST(State, OtherStagesResume) {
  check_resumes([] { return range(9).shuffle({.seed = 4}).cache().shuffle({.seed = 5}); });
  check_resumes([] {
    return range(4)
        .shuffle({.seed = 4})
        .interleave([](const Tensor &x) { return range(x.item<std::int64_t>(), 6); },
                    {.cycle = 2, .block = 2});
  });
  check_resumes([] {
    return range(10).map(doubled).bucket([](const Tensor &x) { return x; },
                                         {.boundaries = {8}, .batch_sizes = {2, 3}});
  });
  check_resumes([] {
    return zip(range(8).shuffle({.seed = 1}), range(9).shuffle({.seed = 1}))
        .map([](const Tensor &a, const Tensor &b) { return a * 100 + b; });
  });
  check_resumes(
      [] { return range(10).shuffle({.seed = 8}).split(0.6).first.shuffle({.seed = 1}); });
}

TEST(State, OrderDoesNotDependOnWorkers) {
  const auto with = [](int workers) {
    const auto dataset = range(50)
                             .shuffle({.buffer = 7, .seed = 9})
                             .map(noisy, {.workers = workers, .seed = 1})
                             .batch(4)
                             .prefetch(3);
    Elements all = epoch(dataset);
    for (auto &batch : epoch(dataset)) all.push_back(std::move(batch));
    return all;
  };
  EXPECT_EQ(with(1), with(0));
  EXPECT_EQ(with(4), with(0));
}

TEST(State, ADrawnSeedIsPartOfIt) {
  random::set_seed(1);
  const auto dataset = range(30).shuffle();
  const std::string before = saved(dataset);
  const Elements first = epoch(dataset);
  random::set_seed(2);
  const auto other = range(30).shuffle();
  EXPECT_NE(epoch(other), first);
  restore(other, before);
  EXPECT_EQ(epoch(other), first);
}

struct Training {
  Variable weights{tensor({1.f})};
  Dataset digits;
  WEFT_FIELDS(Training, weights, digits)
};

TEST(State, IsAFieldOfModels) {
  Training run;
  run.digits = from_tensors(tensor({1, 2, 3}), tensor({4, 5, 6})).shuffle({.seed = 1});
  EXPECT_EQ(nn::variables(run).size(), 1u);
  for (auto [x, y] : run.digits) break;
  const Training copy = run; // a copy of handles
  EXPECT_EQ(state_of(copy).saved_state(), state_of(run).saved_state());
  EXPECT_THAT(state_of(run).saved_state(), HasSubstr("\"position\":1"));
}

TEST(State, EveryLoopIsAnEpoch) {
  const auto dataset = range(10).shuffle({.seed = 1});
  const auto epochs = range(10).shuffle({.seed = 1});
  for (const Tensor &x : dataset) {
    static_cast<void>(x);
    break;
  }
  epoch(epochs);
  EXPECT_EQ(epoch(dataset), epoch(epochs)); // the second of both
}

TEST(State, LoopsInsideEachOtherKeepTheirElements) {
  const auto dataset = range(3);
  Elements pairs;
  for (const Tensor &a : dataset)
    for (const Tensor &b : dataset)
      pairs.push_back({a.item<std::int64_t>(), b.item<std::int64_t>()});
  EXPECT_EQ(pairs.size(), 9u);
  EXPECT_EQ(pairs[5], (std::vector<std::int64_t>{1, 2}));
}

template <class Run>
std::string message_of(const Run &run) {
  try {
    run();
  } catch (const ValueError &error) {
    return std::string(error.message());
  }
  return "no ValueError";
}

TEST(State, IsRefusedByOtherPipelines) {
  const std::string state = saved(range(10).shuffle({.seed = 1}).batch(2));
  const auto differs = [&](const BasicDataset<Tensor> &dataset) {
    return message_of([&] { state_of(dataset).check_state(state); });
  };
  EXPECT_EQ(differs(range(10).shuffle({.seed = 1}).batch(2)), "no ValueError");
  EXPECT_EQ(differs(range(10).map(doubled).shuffle({.seed = 1}).batch(2)),
            "the state of a data set: it is of another pipeline: stage 1 is 'shuffle(buffer=all, "
            "seed=1)' in the state and 'map' here");
  EXPECT_THAT(differs(range(11).shuffle({.seed = 1}).batch(2)), HasSubstr("stage 0"));
  EXPECT_THAT(differs(range(10).shuffle({.seed = 2}).batch(2)), HasSubstr("stage 1"));
  EXPECT_THAT(differs(range(10).shuffle({.seed = 1}).batch(3)), HasSubstr("batch(3)"));
  EXPECT_THAT(differs(range(10).shuffle({.seed = 1})), HasSubstr("nothing here"));
  // What decides nothing does not matter.
  EXPECT_EQ(differs(range(10).shuffle({.seed = 1}).batch(2).prefetch(7)), "no ValueError");
}

TEST(State, RefusesTextsThatAreNone) {
  const auto dataset = range(10);
  const std::string good = saved(dataset);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(message_of([&] { state_of(dataset).check_state(good.substr(0, length)); }),
              "no ValueError");
  const auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return message_of([&] { state_of(dataset).check_state(text); });
  };
  EXPECT_THAT(with("\"position\":0", "\"position\":11"), HasSubstr("there are 10"));
  EXPECT_THAT(with("\"position\":0", "\"position\":-1"), HasSubstr("'position'"));
  EXPECT_THAT(with("\"epoch\":0", "\"epoch\":0.5"), HasSubstr("'epoch'"));
  EXPECT_THAT(with("\"version\":1", "\"version\":2"), HasSubstr("version 2"));
  EXPECT_EQ(with("\"position\":0", "\"position\":10"), "no ValueError");
}

TEST(State, OfHostileTextsIsRefusedAndEndsSoon) {
  // No epoch has so many elements, not one without end either.
  const auto endless = range(7).shuffle({.seed = 1}).repeat();
  std::string text = saved(endless);
  text.replace(text.find("\"position\":0"), 12, "\"position\":18446744073709551615");
  EXPECT_THAT(message_of([&] { state_of(endless).check_state(text); }),
              HasSubstr("behind element 18446744073709551615"));
  // Whole rounds are passed over at once, where a look at each would take years.
  text.replace(text.find("18446744073709551615"), 20, "4611686018427387904");
  restore(endless, text);
  std::set<std::int64_t> seen;
  for (const Tensor &x : endless) {
    seen.insert(x.item<std::int64_t>());
    if (seen.size() == 7) break;
  }
  // What a loop makes of the largest position is a state as well.
  text.replace(text.find("4611686018427387904"), 19, "9223372036854775807");
  restore(endless, text);
  for ([[maybe_unused]] const Tensor &x : endless) break;
  restore(endless, saved(endless));
  for (const std::int64_t depth : {3, 1'000'000}) {
    const std::string deep(static_cast<std::size_t>(depth), '[');
    EXPECT_NE(message_of([&] { state_of(endless).check_state("{\"pipeline\":" + deep); }),
              "no ValueError");
  }
}

TEST(State, RoundsThatAreSkippedAreThoseThatWouldHaveBeen) {
  for (const std::optional<std::int64_t> count :
       {std::optional<std::int64_t>(5), std::optional<std::int64_t>()}) {
    const auto dataset = range(6).shuffle({.seed = 3}).repeat(count).take(30);
    const Elements all = epoch(dataset);
    ASSERT_EQ(all.size(), 30U);
    for (std::int64_t passed = 0; passed <= 30; ++passed)
      EXPECT_EQ(epoch(dataset.skip(passed)), Elements(all.begin() + passed, all.end()));
  }
}

TEST(State, SaysThatTheDataBecameFewer) {
  auto left = std::make_shared<std::int64_t>(10);
  const auto dataset =
      range(10).filter([left](const Tensor &x) { return x.item<std::int64_t>() < *left; });
  std::string state;
  for (const Tensor &x : dataset)
    if (x.item<std::int64_t>() == 7) state = saved(dataset);
  *left = 3;
  restore(dataset, state);
  EXPECT_THROW(epoch(dataset), StateError);
}

} // namespace
} // namespace weft::data
