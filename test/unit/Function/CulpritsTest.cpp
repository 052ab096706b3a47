// Functions that are made of others: what goes wrong inside begins with the name of the one that
// was called, and its line, on values and while a function is traced.
#include "../Testing.h"

#include <filesystem>
#include <functional>
#include <limits>
#include <optional>

#include <unistd.h>
#include <weft/weft.h>

namespace weft {
namespace {

/// The error that `run` throws on values, or in a trace.
std::optional<Error> error_of(const std::function<void()> &run, bool traced) {
  try {
    if (traced) {
      auto f = function([&](const Tensor &x) {
        run();
        return x;
      });
      static_cast<void>(f(tensor(0.f)));
    } else {
      run();
    }
  } catch (const Error &error) {
    return error;
  }
  return std::nullopt;
}

/// The expression throws an error that begins with this name and names this line, on values and
/// while a function is traced, or on values only: what a trace finds out when it runs is dropped
/// where nobody wants the result.
#define EXPECT_CULPRIT(name, expression) EXPECT_CULPRIT_IN(name, expression, false, true)
#define EXPECT_CULPRIT_OF_VALUES(name, expression) EXPECT_CULPRIT_IN(name, expression, false)
#define EXPECT_CULPRIT_IN(name, expression, ...)                                                   \
  for (const bool traced : {__VA_ARGS__}) {                                                        \
    const std::optional<Error> error = error_of([&] { static_cast<void>(expression); }, traced);   \
    ASSERT_TRUE(error) << #expression " threw nothing" << (traced ? " in a trace" : "");           \
    EXPECT_TRUE(error->message().starts_with(name ": ")) << error->what();                         \
    EXPECT_EQ(error->location().file, __FILE__) << error->what();                                  \
    EXPECT_EQ(error->location().line, __LINE__) << error->what();                                  \
  }

const std::int64_t most = std::numeric_limits<std::int64_t>::max();
const Tensor undefined, flag = tensor(true), number = tensor(1.f), pair = tensor({1.f, 2.f}),
                        matrix = ones({2, 3});

TEST(Culprits, MadeOfOps) {
  EXPECT_CULPRIT("square", square(flag));
  EXPECT_CULPRIT("square", square(undefined));
  EXPECT_CULPRIT("relu", relu(undefined));
  EXPECT_CULPRIT("sort", sort(number));
  EXPECT_CULPRIT("sort", sort(flag, {.axis = 3}));
  EXPECT_CULPRIT("sort", sort(undefined));
  EXPECT_CULPRIT("top_k", top_k(number, 1));
  EXPECT_CULPRIT("top_k", top_k(pair, -1));
  EXPECT_CULPRIT("top_k", top_k(pair, 3));
  EXPECT_CULPRIT("top_k", top_k(undefined, 3));
  EXPECT_CULPRIT("index", (matrix[{0, 9}]));
  EXPECT_CULPRIT("index", (matrix[{0, 0, 0}]));
  EXPECT_CULPRIT("index", matrix[slice(0, 1, 0)]);
  EXPECT_CULPRIT("mT", pair.mT());
  EXPECT_CULPRIT("astype", undefined.astype(f32));
  EXPECT_CULPRIT("astype", pair.astype(static_cast<DType>(77)));
  EXPECT_CULPRIT("zeros_like", zeros_like(undefined));
  EXPECT_CULPRIT("ones_like", ones_like(undefined));
  EXPECT_CULPRIT("print", print("x is", undefined));
  EXPECT_CULPRIT("print", print("{} and {}", pair));
  EXPECT_CULPRIT("check", check(undefined, "holds"));
  EXPECT_CULPRIT("check", check(pair, "holds"));
  EXPECT_CULPRIT("check", check(flag, "holds", undefined));
  EXPECT_CULPRIT("sum", pair.sum(Ints{1}));
  EXPECT_CULPRIT("mean", undefined.mean());
  EXPECT_CULPRIT("reshape", pair.reshape({3}));
}

TEST(Culprits, ThatMakeTensors) {
  EXPECT_CULPRIT("full", full({-1}, 2));
  EXPECT_CULPRIT("zeros", zeros({-1}));
  EXPECT_CULPRIT("ones", ones({most, most}));
  EXPECT_CULPRIT("ones", ones({2}, static_cast<DType>(77)));
  EXPECT_CULPRIT("eye", eye(-1));
  EXPECT_CULPRIT("arange", arange(5, static_cast<DType>(77)));
  EXPECT_CULPRIT("arange", arange(0, 1, 0));
  EXPECT_CULPRIT("arange", arange(3e9, 3e9 + 3, 1, i32));
  EXPECT_CULPRIT("arange", arange(0, 3e38 * 2, 1e38 * 2, f32));
  EXPECT_CULPRIT("tensor", tensor({{1, 2}, {3}}));
  EXPECT_CULPRIT("tensor", tensor(std::vector<float>{1}, {-1}));
}

TEST(Culprits, ThatLookAtTensors) {
  EXPECT_CULPRIT("item", pair.item<float>());
  EXPECT_CULPRIT("item", undefined.item<float>());
  EXPECT_CULPRIT("span", pair.span<int>());
  EXPECT_CULPRIT("to_vector", undefined.to_vector<int>());
  EXPECT_CULPRIT("size", pair.size(1));
  EXPECT_CULPRIT("to", pair.to({DeviceKind::gpu, 200}));
  EXPECT_CULPRIT("to", pair.to(static_cast<DeviceKind>(9)));
}

TEST(Culprits, Variables) {
  const Variable v(pair, "v"), on(flag, "on");
  EXPECT_CULPRIT("Variable", Variable(undefined, "w"));
  EXPECT_CULPRIT("assign", v.assign(matrix));
  EXPECT_CULPRIT("assign", v.assign(undefined));
  EXPECT_CULPRIT("assign_add", v.assign_add(matrix));
  EXPECT_CULPRIT("assign_sub", v.assign_sub(matrix));
  EXPECT_CULPRIT("assign_sub", on.assign_sub(flag));
}

// Where the standard library makes the call, there is no line of the user's to name.
TEST(Culprits, VariablesInTheStandardLibrary) {
  std::optional<Variable> v;
  std::vector<Variable> all;
  for (const auto &make : {std::function<void()>([&] { v.emplace(undefined, "w"); }),
                           std::function<void()>([&] { all.emplace_back(undefined, "w"); }),
                           std::function<void()>([&] { std::make_unique<Variable>(undefined); })}) {
    const std::optional<Error> error = error_of(make, false);
    ASSERT_TRUE(error);
    EXPECT_FALSE(error->location().known()) << error->what();
    EXPECT_TRUE(error->message().starts_with("Variable: ")) << error->what();
  }
}

TEST(Culprits, RandomNumbers) {
  const random::Generator g(1);
  EXPECT_CULPRIT("random::uniform", random::uniform({-1}));
  EXPECT_CULPRIT("random::uniform", g.uniform({most, most}));
  EXPECT_CULPRIT("random::uniform", random::uniform({2}, {.dtype = static_cast<DType>(77)}));
  EXPECT_CULPRIT("random::normal", random::normal({2}, {.stddev = -1}));
  EXPECT_CULPRIT("random::normal", g.normal({most, most}));
  EXPECT_CULPRIT("random::truncated_normal", g.truncated_normal({most, most}));
  EXPECT_CULPRIT("random::bernoulli", g.bernoulli({2}, 2));
  EXPECT_CULPRIT("random::bernoulli", g.bernoulli({2}, ones({3})));
  EXPECT_CULPRIT("random::bernoulli", g.bernoulli(undefined));
  EXPECT_CULPRIT("random::randint", g.randint({2}, 3, 2));
  EXPECT_CULPRIT("random::randint", random::randint({most, most}, 2, 3));
  EXPECT_CULPRIT("random::permutation", random::permutation(-1));
  EXPECT_CULPRIT("random::permutation", g.permutation(most));
  EXPECT_CULPRIT("random::shuffle", g.shuffle(number));
  EXPECT_CULPRIT("random::shuffle", g.shuffle(undefined));
  EXPECT_CULPRIT("random::like", random::like(undefined));
  EXPECT_CULPRIT("random::Generator", random::Generator(Variable(pair)));
}

TEST(Culprits, LayersLossesMetrics) {
  const nn::Dense dense(4, 5);
  const Tensor labels = tensor({0, 1});
  EXPECT_CULPRIT("Dense", nn::Dense(-1, 4));
  EXPECT_CULPRIT("Dense", nn::Dense(most, most));
  EXPECT_CULPRIT("Dense", dense(matrix));
  EXPECT_CULPRIT("Dense", dense(undefined));
  EXPECT_CULPRIT("Dense", (nn::Sequential{dense}(matrix)));
  EXPECT_CULPRIT("Sequential", nn::Sequential().add("a", dense).add("a", dense));
  EXPECT_CULPRIT("dropout", nn::dropout(pair, 1));
  EXPECT_CULPRIT("dropout", nn::dropout(undefined, 0.5));
  EXPECT_CULPRIT("dropout", nn::Dropout(2));
  EXPECT_CULPRIT("softmax", nn::softmax(number));
  EXPECT_CULPRIT("softmax", nn::softmax(undefined));
  EXPECT_CULPRIT("softmax", nn::softmax(ones({2, 2}, DType::boolean)));
  EXPECT_CULPRIT("log_softmax", nn::log_softmax(number));
  EXPECT_CULPRIT("one_hot", nn::one_hot(pair, 3));
  EXPECT_CULPRIT("one_hot", nn::one_hot(labels, -3));
  EXPECT_CULPRIT("one_hot", nn::one_hot(labels, most));
  EXPECT_CULPRIT("one_hot", nn::one_hot(labels, 3, static_cast<DType>(77)));
  EXPECT_CULPRIT("softmax_cross_entropy", losses::softmax_cross_entropy(labels, undefined));
  EXPECT_CULPRIT("softmax_cross_entropy", losses::softmax_cross_entropy(undefined, matrix));
  EXPECT_CULPRIT("softmax_cross_entropy", losses::softmax_cross_entropy(labels, pair));
  EXPECT_CULPRIT_OF_VALUES("softmax_cross_entropy",
                           losses::softmax_cross_entropy(labels + 2, matrix));
  EXPECT_CULPRIT("mean_squared_error", losses::mean_squared_error(pair, matrix));
  EXPECT_CULPRIT("mean_squared_error", losses::mean_squared_error(flag, flag));
  EXPECT_CULPRIT("accuracy", metrics::accuracy(labels, pair));
  EXPECT_CULPRIT_OF_VALUES("accuracy", metrics::accuracy(labels + 2, matrix));
  EXPECT_CULPRIT("accuracy", metrics::accuracy(labels, ones({2, 3}, DType::boolean)));
}

TEST(Culprits, Optimizers) {
  const Variable v(pair, "v"), n(0, "n");
  const optimizers::SGD sgd({v});
  const optimizers::Adam adam({v});
  const SlicedGradient wrong = IndexedSlices{ones({1}), tensor({7}), {2}};
  EXPECT_CULPRIT("SGD", optimizers::SGD({n}));
  EXPECT_CULPRIT("SGD", sgd.apply_gradients({matrix}));
  EXPECT_CULPRIT("SGD", sgd.apply_gradients({undefined}));
  EXPECT_CULPRIT("SGD", sgd.apply_sliced_gradients({wrong}));
  EXPECT_CULPRIT("Adam", optimizers::Adam({v, v}));
  EXPECT_CULPRIT("Adam", adam.apply_gradients({matrix}));
  EXPECT_CULPRIT("Adam", adam.apply_gradients({}));
  EXPECT_CULPRIT("Adam", adam.apply_sliced_gradients({wrong}));
  EXPECT_CULPRIT_OF_VALUES("IndexedSlices::dense", std::get<IndexedSlices>(wrong).dense());
}

TEST(Culprits, Arrays) {
  const TensorArray array(f32, {2}, 3);
  EXPECT_CULPRIT_OF_VALUES("TensorArray", TensorArray(f32, {2}, -1));
  EXPECT_CULPRIT("TensorArray", TensorArray(f32, {2}, number));
  EXPECT_CULPRIT("TensorArray", TensorArray(static_cast<DType>(77), {2}, 1));
  EXPECT_CULPRIT("TensorArray::unstack", TensorArray::unstack(number));
  EXPECT_CULPRIT("TensorArray::write", array.write(number, pair));
  EXPECT_CULPRIT("TensorArray::write", array.write(1, matrix));
  EXPECT_CULPRIT("TensorArray::write", array.write(1, undefined));
  EXPECT_CULPRIT("TensorArray::append", array.append(matrix));
  EXPECT_CULPRIT("TensorArray::read", array.read(number));
  EXPECT_CULPRIT("TensorArray::gather", array.gather(number));
  EXPECT_CULPRIT("TensorArray::concat", TensorArray(f32, {}, 3).concat());
}

TEST(Culprits, Files) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("weft-culprits-" + std::to_string(getpid()));
  EXPECT_CULPRIT("read_idx", data::read_idx(path));
  const std::uint32_t line = __LINE__ + 1;
  const auto loads = [&] { static_cast<void>(load_npy(path)); };
  const std::optional<Error> error = error_of(loads, false);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->location().line, line) << error->what();
}

// Equal shapes whose joined size is too large are not said to differ.
TEST(Culprits, AnOverflowingConcatenate) {
  const Tensor x = zeros({std::int64_t{1} << 62, 0});
  EXPECT_THROWS(concatenate({x, x}), ShapeError,
                "concatenate: the sizes of axis 0 add up to more than 2^63 - 1");
}

} // namespace
} // namespace weft
