// Data sets: what each stage hands out, against sequences written by hand and slow references.
#include <weft/data/dataset.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/ops.h>

#include <map>
#include <numeric>
#include <set>

namespace weft::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

// One epoch of a data set of whole numbers.
Numbers numbers(const BasicDataset<Tensor> &dataset) {
  Numbers all;
  for (const Tensor &x : dataset) all.push_back(x.item<std::int64_t>());
  return all;
}

// The same for data sets of batches.
std::vector<Numbers> rows(const BasicDataset<Tensor> &dataset) {
  std::vector<Numbers> all;
  for (const Tensor &x : dataset) all.push_back(x.to_vector<std::int64_t>());
  return all;
}

Numbers counted(std::int64_t n) {
  Numbers all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

template <class Run>
std::string message_of(const Run &run) {
  try {
    run();
  } catch (const Error &error) {
    return std::string(error.message());
  }
  return "no error";
}

TEST(Pipeline, RangesCount) {
  EXPECT_EQ(numbers(range(4)), counted(4));
  EXPECT_THAT(numbers(range(10, 0, -4)), ElementsAre(10, 6, 2));
  EXPECT_THAT(numbers(range(5, 5)), ElementsAre());
  EXPECT_EQ(range(0, 10, 3).size(), 4);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(numbers(range(least, std::numeric_limits<std::int64_t>::max()).take(1)),
              ElementsAre(least));
  EXPECT_THROW(range(0, 1, 0), ValueError);
}

TEST(Pipeline, TensorsGiveTheirRows) {
  const Tensor x = tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), y = tensor({7, 8, 9});
  std::vector<float> seen;
  std::vector<std::int32_t> labels;
  const Dataset both = from_tensors(x, y);
  for (auto [a, b] : both) {
    EXPECT_EQ(a.shape(), Shape({2}));
    EXPECT_EQ(b.shape(), Shape());
    seen.push_back(a[1].item<float>());
    labels.push_back(b.item<std::int32_t>());
  }
  EXPECT_THAT(seen, ElementsAre(2, 4, 6));
  EXPECT_THAT(labels, ElementsAre(7, 8, 9));
  EXPECT_EQ(both.size(), 3);
}

TEST(Pipeline, TensorsMayBeViews) {
  const Tensor x = transpose(tensor({{1, 2, 3}, {4, 5, 6}}), {1, 0});
  EXPECT_THAT(rows(from_tensors(x)),
              ElementsAre(ElementsAre(1, 4), ElementsAre(2, 5), ElementsAre(3, 6)));
}

struct Sample {
  Tensor pixels;
  std::map<std::string, Tensor> labels;
  WEFT_FIELDS(Sample, pixels, labels)
};

TEST(Pipeline, ElementsAreAnyStructure) {
  const Sample all{tensor({{1, 2}, {3, 4}}), {{"age", tensor({5, 6})}, {"kind", tensor({7, 8})}}};
  const auto dataset = from_tensors(all);
  std::vector<int> kinds;
  for (const Sample &sample : dataset)
    kinds.push_back(sample.labels.at("kind").item<std::int32_t>());
  EXPECT_THAT(kinds, ElementsAre(7, 8));
  for (const Sample &batch : dataset.batch(2))
    EXPECT_EQ(batch.labels.at("age").to_vector<std::int32_t>(), (std::vector<std::int32_t>{5, 6}));
}

TEST(Pipeline, RefusesTensorsThatDoNotFit) {
  EXPECT_THAT(message_of([] { from_tensors(tensor({1, 2}), tensor({1, 2, 3})); }),
              HasSubstr("from_tensors: tensor 1 has 3 rows and tensor 0 has 2"));
  EXPECT_THROW(from_tensors(tensor(1)), ShapeError);
  EXPECT_THROW(from_tensors(Tensor()), StateError);
}

TEST(Pipeline, RangesOfCppGiveTheirValues) {
  const auto names = from_range(std::vector<std::string>{"a", "bc", ""});
  std::vector<std::string> seen;
  for (const std::string &name : names) seen.push_back(name);
  EXPECT_THAT(seen, ElementsAre("a", "bc", ""));
  const auto lengths = names.map([](const std::string &name) { return std::int64_t(name.size()); });
  EXPECT_THAT(numbers(lengths), ElementsAre(1, 2, 0));
  EXPECT_THAT(numbers(from_range(std::set<int>{3, 1, 2})), ElementsAre(1, 2, 3));
}

TEST(Pipeline, GeneratorsStartAnewEachEpoch) {
  const auto squares = from_generator([i = 0]() mutable -> std::optional<int> {
    if (i == 4) return std::nullopt;
    ++i;
    return i * i;
  });
  EXPECT_THAT(numbers(squares), ElementsAre(1, 4, 9, 16));
  EXPECT_THAT(numbers(squares), ElementsAre(1, 4, 9, 16));
  EXPECT_EQ(squares.size(), std::nullopt);
}

TEST(Pipeline, MapTakesElementsOrTheirParts) {
  const Dataset pairs = from_tensors(tensor({1, 2, 3}), tensor({10, 20, 30}));
  const auto sums = pairs.map([](const Tensor &x, const Tensor &y) { return x + y; });
  const auto whole = pairs.map([](const std::pair<Tensor, Tensor> &p) { return p.first; });
  EXPECT_THAT(numbers(sums), ElementsAre(11, 22, 33));
  EXPECT_THAT(numbers(whole), ElementsAre(1, 2, 3));
  const auto twice = sums.map([](const Tensor &x) { return std::pair(x, x * 2); });
  static_assert(std::is_same_v<decltype(twice), const Dataset>);
}

TEST(Pipeline, FilterKeepsWhatIsTrue) {
  EXPECT_THAT(numbers(range(7).filter([](const Tensor &x) { return x.item<int>() % 3 == 0; })),
              ElementsAre(0, 3, 6));
  EXPECT_THAT(numbers(range(4).filter([](const Tensor &x) { return x > 1; })), ElementsAre(2, 3));
}

TEST(Pipeline, BatchesStackAndKeepOrDropTheRest) {
  EXPECT_THAT(rows(range(5).batch(2)),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
  EXPECT_THAT(rows(range(5).batch(2, {.drop_remainder = true})),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_EQ(range(5).batch(2).size(), 3);
  EXPECT_EQ(range(5).batch(2, {.drop_remainder = true}).size(), 2);
  for (const Tensor &x : range(8).batch(2).batch(3, {.drop_remainder = true}))
    EXPECT_EQ(x.shape(), Shape({3, 2}));
}

TEST(Pipeline, BatchesAreTheSameHoweverTheyAreComputed) {
  const Tensor x = reshape(arange(60), {12, 5}), y = arange(12);
  const auto rows_of = [](const Dataset &dataset) {
    std::vector<Numbers> all;
    for (const auto &[a, b] : dataset) {
      all.push_back(a.to_vector<std::int64_t>());
      all.push_back(b.to_vector<std::int64_t>());
    }
    return all;
  };
  const Dataset gathered = from_tensors(x, y);
  const Dataset zipped = zip(from_tensors(x), from_tensors(y));
  const Dataset given =
      gathered.map([](const Tensor &a, const Tensor &b) { return std::pair(a, b); });
  const auto wanted = rows_of(gathered.shuffle({.seed = 3}).batch(5));
  EXPECT_EQ(wanted.size(), 6u);
  EXPECT_EQ(rows_of(zipped.shuffle({.seed = 3}).batch(5)), wanted);
  EXPECT_EQ(rows_of(given.shuffle({.seed = 3}).batch(5)), wanted);
}

// Elements of the lengths 0 to n - 1, filled with their length.
BasicDataset<Tensor> ragged(std::int64_t n) {
  return range(n).map(
      [](const Tensor &x) { return full({x.item<std::int64_t>()}, x, DType::i64); });
}

TEST(Pipeline, PaddedBatchesAreFilledUp) {
  const auto batches = ragged(4).skip(1).batch(3, {.padding = -1});
  for (const Tensor &x : batches)
    EXPECT_EQ(x.to_vector<std::int64_t>(), (Numbers{1, -1, -1, 2, 2, -1, 3, 3, 3}));
  EXPECT_THAT(
      message_of([] {
        for (const Tensor &x : ragged(3).batch(2)) static_cast<void>(x);
      }),
      HasSubstr("element 1 of the batch: tensor 0 is i64(1,) and that of the first is i64(0,)"));
}

TEST(Pipeline, BucketsHoldElementsOfSimilarLength) {
  const auto of_length = [](const Tensor &x) { return x.size(); };
  const auto batches = range(8).map([](const Tensor &x) {
    const std::int64_t n = x.item<std::int64_t>() % 4;
    return full({n}, x, DType::i64);
  });
  const auto bucketed =
      batches.bucket(of_length, {.boundaries = {2}, .batch_sizes = {3, 2}, .padding = 9});
  EXPECT_THAT(rows(bucketed),
              ElementsAre(ElementsAre(2, 2, 9, 3, 3, 3), // 2 and 3 fill the bucket of long ones
                          ElementsAre(9, 1, 9),          // 0, 1, 4: of lengths 0, 1, 0
                          ElementsAre(6, 6, 9, 7, 7, 7), ElementsAre(5)));
  EXPECT_THROW(batches.bucket(of_length, {.boundaries = {2, 2}, .batch_sizes = {1}}), ValueError);
  EXPECT_THROW(batches.bucket(of_length, {.boundaries = {2}, .batch_sizes = {1, 2, 3}}),
               ValueError);
}

TEST(Pipeline, TakeSkipShardSplit) {
  EXPECT_THAT(numbers(range(9).skip(2).take(3)), ElementsAre(2, 3, 4));
  EXPECT_THAT(numbers(range(3).skip(5)), ElementsAre());
  EXPECT_EQ(range(9).skip(2).take(30).size(), 7);
  EXPECT_THAT(numbers(range(8).shard(3, 1)), ElementsAre(1, 4, 7));
  EXPECT_EQ(range(8).shard(3, 2).size(), 2);
  const auto [train, test] = range(10).split(0.7);
  EXPECT_EQ(numbers(train), counted(7));
  EXPECT_THAT(numbers(test), ElementsAre(7, 8, 9));
  EXPECT_THROW(range(3).shard(2, 2), ValueError);
  EXPECT_THROW(range(3).split(1.5), ValueError);
  EXPECT_THROW(range(3).filter([](const Tensor &) { return true; }).split(0.5), ValueError);
}

TEST(Pipeline, SplitsOfShuffledElementsStayApart) {
  const auto [train, test] = range(50).shuffle({.seed = 1}).split(0.5);
  const Numbers first = numbers(train);
  EXPECT_EQ(numbers(train), first); // the second epoch
  EXPECT_THROW(range(50).shuffle().split(0.5), ValueError);
  std::multiset<std::int64_t> all(first.begin(), first.end());
  for (const std::int64_t x : numbers(test)) all.insert(x);
  const Numbers whole = counted(50);
  EXPECT_EQ(all, std::multiset<std::int64_t>(whole.begin(), whole.end()));
}

TEST(Pipeline, RepeatConcatenateZipEnumerate) {
  EXPECT_THAT(numbers(range(2).repeat(3)), ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(numbers(range(2).repeat().take(5)), ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(numbers(range(0).repeat()), ElementsAre()); // not a loop without end
  EXPECT_EQ(range(2).repeat().size(), std::nullopt);
  EXPECT_THAT(numbers(concatenate(range(2), range(5, 7), range(1))), ElementsAre(0, 1, 5, 6, 0));
  EXPECT_EQ(range(2).concatenate(range(3)).size(), 5);
  Numbers sums;
  const auto zipped = zip(range(10), range(0, 30, 10), range(4));
  for (auto [a, b, c] : zipped) sums.push_back((a + b + c).item<std::int64_t>());
  EXPECT_THAT(sums, ElementsAre(0, 12, 24));
  EXPECT_EQ(zipped.size(), 3);
  Numbers products;
  for (auto [i, x] : range(5, 8).enumerate()) products.push_back((i * x).item<std::int64_t>());
  EXPECT_THAT(products, ElementsAre(0, 6, 14));
}

TEST(Pipeline, InterleaveAlternates) {
  // As tf.data: Dataset.range(1, 5).interleave(lambda x: Dataset.from_tensors(x).repeat(6),
  // cycle_length=2, block_length=4), from its documentation.
  const auto interleaved = range(1, 5).interleave(
      [](const Tensor &x) { return from_tensors(reshape(x, {1})).repeat(6); },
      {.cycle = 2, .block = 4});
  EXPECT_THAT(numbers(interleaved),
              ElementsAre(1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4));
}

// tf.data's shuffle, by its description: a buffer, of which one element is handed out and replaced.
// Whatever is chosen, an element is handed out no earlier than buffer - 1 positions before its own.
TEST(Pipeline, ShuffleLooksAheadAsFarAsTheBuffer) {
  const Numbers shuffled = numbers(range(200).shuffle({.buffer = 10, .seed = 2}));
  EXPECT_THAT(shuffled, testing::UnorderedElementsAreArray(counted(200)));
  EXPECT_NE(shuffled, counted(200));
  for (std::size_t i = 0; i < shuffled.size(); ++i)
    EXPECT_LT(shuffled[i], static_cast<std::int64_t>(i) + 10);
  EXPECT_EQ(numbers(range(5).shuffle({.buffer = 1, .seed = 2})), counted(5));
}

TEST(Pipeline, ShuffleIsUniform) {
  // 4! orders, 24,000 epochs: chi-square with 23 degrees of freedom is above 49.7 once in 1,000.
  const auto shuffled = range(4).shuffle({.seed = 11});
  std::map<Numbers, int> orders;
  for (int i = 0; i < 24'000; ++i) ++orders[numbers(shuffled)];
  double chi_square = 0;
  for (const auto &[order, count] : orders)
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_EQ(orders.size(), 24u);
  EXPECT_LT(chi_square, 49.7);
}

TEST(Pipeline, ShuffleHasAnOrderForEachEpochAndSeed) {
  const auto shuffled = range(100).shuffle({.seed = 5});
  const Numbers first = numbers(shuffled), second = numbers(shuffled);
  EXPECT_NE(first, second);
  EXPECT_EQ(numbers(range(100).shuffle({.seed = 5})), first);
  EXPECT_NE(numbers(range(100).shuffle({.seed = 6})), first);
  const auto same = range(100).shuffle({.seed = 5, .reshuffle = false});
  EXPECT_EQ(numbers(same), numbers(same));
  // Rounds of repeat are epochs; two shuffles of one pipeline draw from streams of their own.
  Numbers rounds = numbers(range(100).shuffle({.seed = 5}).repeat(2));
  EXPECT_EQ(Numbers(rounds.begin(), rounds.begin() + 100), first);
  EXPECT_EQ(Numbers(rounds.begin() + 100, rounds.end()), second);
}

TEST(Pipeline, WithoutASeedTheProcessDecides) {
  random::set_seed(3);
  const Numbers first = numbers(range(100).shuffle());
  const Numbers second = numbers(range(100).shuffle());
  EXPECT_NE(first, second);
  random::set_seed(3);
  EXPECT_EQ(numbers(range(100).shuffle()), first);
}

TEST(Pipeline, ShuffleOfWhatHasNoEndNeedsABuffer) {
  EXPECT_THROW(range(3).repeat().shuffle(), ValueError);
  EXPECT_EQ(numbers(range(3).repeat().shuffle({.buffer = 2}).take(4)).size(), 4u);
}

TEST(Pipeline, CachedElementsAreComputedOnce) {
  auto calls = std::make_shared<int>(0);
  const auto cached = range(4)
                          .shuffle({.seed = 1})
                          .map([calls](const Tensor &x) {
                            ++*calls;
                            return x;
                          })
                          .cache();
  Numbers first;
  for (const Tensor &x : cached) {
    first.push_back(x.item<std::int64_t>());
    if (first.size() == 2) break;
  }
  const Numbers whole = numbers(cached);
  EXPECT_EQ(Numbers(whole.begin(), whole.begin() + 2), first);
  EXPECT_EQ(numbers(cached), whole);
  EXPECT_EQ(*calls, 4);
}

TEST(Pipeline, DrawsOfAMapBelongToTheElement) {
  const auto draw = [](const Tensor &x, const random::Generator &generator) {
    return x + generator.randint({}, 0, 1'000'000'000);
  };
  const Numbers alone = numbers(range(40).map(draw, {.seed = 7}));
  EXPECT_EQ(numbers(range(40).map(draw, {.workers = 3, .seed = 7})), alone);
  EXPECT_EQ(std::set<std::int64_t>(alone.begin(), alone.end()).size(), 40u);
  const auto dataset = range(40).map(draw, {.seed = 7});
  EXPECT_EQ(numbers(dataset), alone);
  EXPECT_NE(numbers(dataset), alone); // the next epoch
}

TEST(Pipeline, ElementsThatDoNotFitAreRefusedByBatches) {
  EXPECT_THAT(message_of([] {
                for (const std::string &x : from_range(std::vector<std::string>{"a", "b"}).batch(2))
                  static_cast<void>(x);
              }),
              HasSubstr("batch: element 1 of the batch has another structure"));
  EXPECT_THROW(range(3).batch(0), ValueError);
  EXPECT_THROW(range(3).take(-1), ValueError);
  EXPECT_THROW(range(3).map([](const Tensor &x) { return x; }, {.workers = -1}), ValueError);
}

TEST(Pipeline, ErrorsOfFunctionsNameStageAndRecord) {
  const auto failing =
      from_range(std::vector<int>{5, 6, 7}).shuffle({.seed = 1}).map([](const Tensor &x) -> Tensor {
        if (x.item<int>() == 6) throw ShapeError("what I want is a triangle");
        return x;
      });
  EXPECT_THAT(
      message_of([&] { numbers(failing); }),
      testing::MatchesRegex("map: element [012] \\(record 1\\): what I want is a triangle"));
}

TEST(Pipeline, CountsWhatItHandsOut) {
  const auto dataset = range(10).batch(4);
  EXPECT_EQ(dataset.stats().elements, 0);
  for (int epoch = 0; epoch < 2; ++epoch) rows(dataset);
  const DatasetStats stats = dataset.stats();
  EXPECT_EQ(stats.elements, 6);
  EXPECT_EQ(stats.bytes, 160);
  EXPECT_GT(stats.seconds, 0);
  EXPECT_LE(stats.waited_seconds, stats.seconds);
}

TEST(Pipeline, AnEmptyDatasetHasNoElements) {
  const Dataset none;
  for (auto [x, y] : none) ADD_FAILURE() << x << y;
  EXPECT_EQ(none.size(), 0);
}

/// What a function of another language throws.
struct Foreign final : std::exception, detail::ForeignError {
  void add_note(const std::string &note) noexcept override { notes.push_back(note); }
  std::vector<std::string> notes;
};

TEST(Pipeline, TellsForeignErrorsWhereTheyWere) {
  const auto bad = range(10).map(
      [](const Tensor &x) -> Tensor {
        if (x.item<std::int64_t>() == 4) throw Foreign();
        return x;
      },
      {.workers = 2});
  std::vector<std::string> notes;
  try {
    for (const Tensor &batch : bad.batch(2).prefetch()) EXPECT_LT(batch.size(), 3);
  } catch (const Foreign &error) {
    notes = error.notes;
  }
  EXPECT_EQ(notes, std::vector<std::string>{"map: element 4"});
}

TEST(Pipeline, GeneratorsKnowWhenOnlyTypesAreWanted) {
  std::vector<bool> asked;
  const detail::Pipeline pipeline =
      detail::Pipeline::generator(std::function<detail::Generator(bool)>([&](bool for_types) {
        asked.push_back(for_types);
        return [left = 2]() mutable -> std::optional<detail::Item> {
          if (left-- == 0) return std::nullopt;
          return detail::Item{{tensor(1.f)}, nullptr};
        };
      }));
  EXPECT_EQ(pipeline.types().tensors.size(), 1u);
  const auto pass = pipeline.start();
  detail::Item item;
  EXPECT_TRUE(pass->next(item) && pass->next(item) && !pass->next(item));
  EXPECT_EQ(asked, (std::vector<bool>{true, false}));
}

TEST(Pipeline, KeepsWhatItIsTold) {
  auto what = std::make_shared<int>(1);
  const std::weak_ptr<int> gone = what;
  auto pipeline = std::optional(range(3).pipeline().keeping(std::move(what)));
  auto pass = pipeline->start();
  pipeline.reset();
  EXPECT_FALSE(gone.expired());
  pass.reset();
  EXPECT_TRUE(gone.expired());
}

} // namespace
} // namespace weft::data
