// Derivatives through control flow, compiled: against central differences and closed forms, in
// reverse, forward and second order.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "Samples.h"
#include "TextProgram.h"
#include <weft/weft.h>

namespace weft::test {
namespace {

/// An argument of a program: its type in the text and its value.
struct Argument {
  std::string type;
  Tensor value;
};

/// A program with a function @f whose one result is an f64 scalar, and its arguments.
struct Case {
  std::string name, text;
  std::vector<Argument> arguments;

  friend void PrintTo(const Case &one, std::ostream *out) { *out << one.name; }
};

std::string joined(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Adds functions for @f and its derivatives to a program. `v` stands for a direction per floating
/// argument.
///
///   @value(x..)          f(x)
///   @reverse(x..)        its gradient by all floating arguments
///   @push(x.., v..)      its directional derivative, forward
///   @curve(x.., v..)     the Hessian times v: reverse over reverse
///   @push_slope(x.., v..)  the same: forward over reverse
///   @slope_push(x.., v..)  the same: reverse over forward
class Derivatives {
public:
  /// Gradients keep what `checkpoint` allows, those of functions with gradients in them `outer`.
  explicit Derivatives(const Case &one, const std::string &checkpoint = "none",
                       const std::string &outer = "")
      : checkpoint_(" {checkpoint = \"" + checkpoint + "\"}"),
        outer_(outer.empty() ? checkpoint_ : " {checkpoint = \"" + outer + "\"}") {
    for (std::size_t i = 0; i < one.arguments.size(); ++i) {
      const auto &[type, value] = one.arguments[i];
      values_.push_back(value);
      types_.push_back(type);
      names_.push_back("%x" + std::to_string(i));
      if (!is_floating(value.dtype())) continue;
      float_types_.push_back(type);
      directions_.push_back("%v" + std::to_string(i));
      indices_.push_back(i);
    }
    program_ = shared(one.text + functions());
  }

  std::vector<Tensor> value(const std::vector<Tensor> &x) { return program_->call("value", x); }
  std::vector<Tensor> call(const std::string &function, std::vector<Tensor> x,
                           const std::vector<Tensor> &more = {}) {
    x.insert(x.end(), more.begin(), more.end());
    return program_->call(function, x);
  }

  const std::vector<Tensor> &values() const { return values_; }
  /// Where the floating arguments are.
  const std::vector<std::size_t> &indices() const { return indices_; }

private:
  /// What has been compiled of a text once is for all tests and arguments: compiling is nearly all
  /// that takes time here.
  static std::shared_ptr<TextProgram> shared(const std::string &text) {
    static auto *programs = new std::map<std::string, std::shared_ptr<TextProgram>>;
    std::shared_ptr<TextProgram> &program = (*programs)[text];
    if (!program) program = std::make_shared<TextProgram>(text);
    return program;
  }

  std::string list(const std::vector<std::string> &names,
                   const std::vector<std::string> &types) const {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < names.size(); ++i) parts.push_back(names[i] + ": " + types[i]);
    return joined(parts);
  }

  /// A function of the arguments and directions that calls `op` and returns some of its results.
  std::string functions() const {
    const std::string x = joined(names_), xt = joined(types_), v = joined(directions_),
                      vt = joined(float_types_), scalar = "tensor<f64>";
    const std::string xs = list(names_, types_), vs = list(directions_, float_types_);
    const std::size_t count = directions_.size();
    std::vector<std::string> numbers, given;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back(std::to_string(indices_[i]));
      given.push_back("%g#" + std::to_string(i + 1));
    }
    const std::string wrt = " wrt [" + joined(numbers) + "]";
    const std::string grads = joined(given);
    std::string text;
    text += "\nfunc.func @value(" + xs + ") -> " + scalar + " {\n  %y = func.call @f(" + x +
            ") : (" + xt + ") -> " + scalar + "\n  return %y : " + scalar + "\n}\n";
    const std::string results = "%g:" + std::to_string(count + 1) + " = ";
    auto returning = [&](const std::string &what, const std::string &types) {
      return "\n  return " + what + " : " + types + "\n}\n";
    };
    text += "func.func @reverse(" + xs + ") -> (" + vt + ") {\n  " + results + "weft.gradient @f(" +
            x + ")" + wrt + checkpoint_ + " : (" + xt + ") -> (" + scalar + ", " + vt + ")" +
            returning(grads, vt);
    text += "func.func @push(" + xs + ", " + vs + ") -> " + scalar + " {\n  %g:2 = weft.jvp @f(" +
            x + ") tangents(" + v + ")" + wrt + " : (" + xt + ", " + vt + ") -> (" + scalar + ", " +
            scalar + ")" + returning("%g#1", scalar);
    // The slope along v, from the gradient.
    text += "func.func private @slope(" + xs + ", " + vs + ") -> " + scalar + " {\n  " + results +
            "weft.gradient @f(" + x + ")" + wrt + checkpoint_ + " : (" + xt + ") -> (" + scalar +
            ", " + vt + ")\n  %s0 = weft.constant dense<0.0> : " + scalar + "\n";
    for (std::size_t i = 0; i < count; ++i) {
      const std::string n = std::to_string(i), type = float_types_[i];
      std::vector<std::string> axes;
      for (std::int64_t axis = 0; axis < values_[indices_[i]].rank(); ++axis)
        axes.push_back(std::to_string(axis));
      const std::string all = axes.empty() ? "" : ": " + joined(axes);
      text += "  %p" + n + " = weft.multiply " + given[i] + ", " + directions_[i] + " : " + type +
              "\n  %q" + n + " = weft.sum %p" + n + " {axes = array<i64" + all + ">} : (" + type +
              ") -> " + scalar + "\n  %s" + std::to_string(i + 1) + " = weft.add %s" + n + ", %q" +
              n + " : " + scalar + "\n";
    }
    text += "  return %s" + std::to_string(count) + " : " + scalar + "\n}\n";
    const std::string of = "weft.gradient @";
    auto second = [&](const std::string &name, const std::string &callee) {
      return "func.func @" + name + "(" + xs + ", " + vs + ") -> (" + vt + ") {\n  " + results +
             of + callee + "(" + x + ", " + v + ")" + wrt + outer_ + " : (" + xt + ", " + vt +
             ") -> (" + scalar + ", " + vt + ")" + returning(grads, vt);
    };
    text += second("curve", "slope") + second("slope_push", "push");
    std::vector<std::string> tangents;
    for (std::size_t i = 0; i < count; ++i) tangents.push_back("%g#" + std::to_string(count + i));
    text += "func.func @push_slope(" + xs + ", " + vs + ") -> (" + vt +
            ") {\n  %g:" + std::to_string(2 * count) + " = weft.jvp @reverse(" + x + ") tangents(" +
            v + ")" + wrt + " : (" + xt + ", " + vt + ") -> (" + vt + ", " + vt + ")" +
            returning(joined(tangents), vt);
    return text;
  }

  std::string checkpoint_, outer_;
  std::vector<Tensor> values_;
  std::vector<std::string> types_, names_, float_types_, directions_;
  std::vector<std::size_t> indices_;
  std::shared_ptr<TextProgram> program_;
};

class ControlFlow : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    of = std::make_unique<Derivatives>(GetParam());
    x = of->values();
    int seed = 3;
    for (std::size_t index : of->indices())
      v.push_back(test::values(x[index].shape(), -1, 1, seed++));
  }

  /// x + t v.
  std::vector<Tensor> moved(double t) const {
    std::vector<Tensor> at = x;
    for (std::size_t i = 0; i < v.size(); ++i)
      at[of->indices()[i]] = at[of->indices()[i]] + t * v[i];
    return at;
  }

  static double scalar(const Tensor &tensor) { return tensor.item<double>(); }

  /// The sum of the products of elements.
  double along(const std::vector<Tensor> &gradients) const {
    double total = 0;
    for (std::size_t i = 0; i < v.size(); ++i) total += scalar(sum(gradients[i] * v[i]));
    return total;
  }

  static void expect_near(double actual, double expected, double tolerance) {
    EXPECT_NEAR(actual, expected, tolerance * (1 + std::abs(expected)));
  }

  std::unique_ptr<Derivatives> of;
  std::vector<Tensor> x, v;
};

TEST_P(ControlFlow, ReverseIsTheDifference) {
  const double h = 1e-5;
  const double difference =
      (scalar(of->value(moved(h))[0]) - scalar(of->value(moved(-h))[0])) / (2 * h);
  const std::vector<Tensor> gradients = of->call("reverse", x);
  for (const Tensor &gradient : gradients) EXPECT_TRUE(all_finite(gradient));
  expect_near(along(gradients), difference, 1e-8);
}

TEST_P(ControlFlow, ForwardIsReverse) {
  expect_near(scalar(of->call("push", x, v)[0]), along(of->call("reverse", x)), 1e-12);
}

TEST_P(ControlFlow, SecondOrderIsTheDifference) {
  const double h = 1e-5;
  const std::vector<Tensor> above = of->call("reverse", moved(h)),
                            below = of->call("reverse", moved(-h));
  for (const char *way : {"curve", "push_slope", "slope_push"}) {
    SCOPED_TRACE(way);
    const std::vector<Tensor> product = of->call(way, x, v);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Tensor difference = (above[i] - below[i]) / (2 * h);
      ASSERT_EQ(product[i].shape(), x[of->indices()[i]].shape());
      const std::vector<double> actual = product[i].to_vector<double>(),
                                expected = difference.to_vector<double>();
      for (std::size_t k = 0; k < actual.size(); ++k) expect_near(actual[k], expected[k], 1e-7);
    }
  }
}

/// The elements' bits: equal NaNs are equal, and zeros of different signs are not.
std::vector<std::uint64_t> bits(const Tensor &tensor) {
  std::vector<std::uint64_t> all;
  for (const double element : tensor.to_vector<double>())
    all.push_back(std::bit_cast<std::uint64_t>(element));
  return all;
}

constexpr std::array kBudgets = {"sqrt", "binomial<1>", "binomial<3>", "bytes<100>"};

/// Whether each bit of the second derivative is compared. It takes long to compile where loops are
/// in each other or sizes change, so that those have one budget each.
bool comparesSecond(const std::string &name, const std::string &budget) {
  if (name.starts_with("nested")) return name == "nested_3" && budget == "binomial<1>";
  if (name.starts_with("growing")) return name == "growing_3" && budget == "binomial<3>";
  if (name == "open_sizes") return budget == "bytes<100>";
  return true;
}

/// The gradient of a function has the same bits whatever its budget is, that of a gradient too. The
/// gradient itself, run by other budgets, is another program of the same function: its derivative
/// adds the same numbers in another order.
TEST_P(ControlFlow, BudgetsChangeNoBit) {
  const std::vector<Tensor> expected = of->call("reverse", x), curve = of->call("curve", x, v);
  for (const std::string budget : kBudgets) {
    SCOPED_TRACE(budget);
    Derivatives kept(GetParam(), budget);
    const std::vector<Tensor> actual = kept.call("reverse", x);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(bits(actual[i]), bits(expected[i]));
    const bool comparesBits = comparesSecond(GetParam().name, budget);
    if (!comparesBits && budget != "sqrt") continue;
    const std::vector<Tensor> second = kept.call("curve", x, v);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const std::vector<double> elements = second[i].to_vector<double>(),
                                wanted = curve[i].to_vector<double>();
      for (std::size_t k = 0; k < elements.size(); ++k) expect_near(elements[k], wanted[k], 1e-12);
    }
    if (!comparesBits) continue;
    const std::vector<Tensor> same = Derivatives(GetParam(), budget, "none").call("curve", x, v);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(bits(second[i]), bits(same[i]));
  }
}

/// A counted loop in a loop that ends by its state, around another: `n` iterations, and few of each
/// inner one. `%k` is state that no derivative needs, and the elements of `%ys` are never read
/// again.
constexpr const char *kManyIterations = R"(
  func.func private @f(%x: tensor<3xf64>, %w: tensor<3x3xf64>, %n: tensor<i64>) -> tensor<f64> {
    %n0 = weft.item %n : tensor<i64>
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c7 = arith.constant 7 : i64
    %one = weft.constant dense<1> : tensor<i64>
    %zero = weft.constant dense<0> : tensor<i64>
    %few = weft.constant dense<5> : tensor<i64>
    %r = scf.for %i = %c0 to %n0 step %c1 iter_args(%h = %x) -> (tensor<3xf64>) : i64 {
      %0 = weft.matmul %w, %h : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
      %1 = weft.sin %0 : tensor<3xf64>
      %2 = weft.add %1, %x : tensor<3xf64>
      scf.yield %2 : tensor<3xf64>
    }
    %none = weft.constant dense<0.0> : tensor<8x3xf64>
    %s:4 = scf.while (%k = %n, %h = %r, %ys = %none, %q = %zero)
        : (tensor<i64>, tensor<3xf64>, tensor<8x3xf64>, tensor<i64>) -> (tensor<i64>, tensor<3xf64>, tensor<8x3xf64>, tensor<i64>) {
      %g = weft.greater %k, %zero : tensor<i64>
      %c = weft.item %g : tensor<i1>
      scf.condition(%c) %k, %h, %ys, %q : tensor<i64>, tensor<3xf64>, tensor<8x3xf64>, tensor<i64>
    } do {
    ^bb0(%k: tensor<i64>, %h: tensor<3xf64>, %ys: tensor<8x3xf64>, %q: tensor<i64>):
      %k1 = weft.subtract %k, %one : tensor<i64>
      %p = weft.max %h {axes = array<i64: 0>} : (tensor<3xf64>) -> tensor<f64>
      %a = scf.for %j = %c0 to %c7 step %c1 iter_args(%b = %h) -> (tensor<3xf64>) : i64 {
        %0 = weft.multiply %b, %p : tensor<3xf64>, tensor<f64>
        %1 = weft.cos %0 : tensor<3xf64>
        scf.yield %1 : tensor<3xf64>
      }
      %t:2 = scf.while (%m = %few, %b = %a) : (tensor<i64>, tensor<3xf64>) -> (tensor<i64>, tensor<3xf64>) {
        %g = weft.greater %m, %zero : tensor<i64>
        %c = weft.item %g : tensor<i1>
        %0 = weft.matmul %w, %b : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
        scf.condition(%c) %m, %0 : tensor<i64>, tensor<3xf64>
      } do {
      ^bb0(%m: tensor<i64>, %b: tensor<3xf64>):
        %m1 = weft.subtract %m, %one : tensor<i64>
        %0 = weft.tanh %b : tensor<3xf64>
        %1 = weft.multiply %0, %h : tensor<3xf64>
        scf.yield %m1, %1 : tensor<i64>, tensor<3xf64>
      }
      %n8 = weft.constant dense<7> : tensor<i64>
      %at = weft.minimum %q, %n8 : tensor<i64>
      %more = weft.update_slice %ys, %at, %t#1 {axis = 0 : i64} : (tensor<8x3xf64>, tensor<i64>, tensor<3xf64>) -> tensor<8x3xf64>
      %q1 = weft.add %q, %one : tensor<i64>
      scf.yield %k1, %t#1, %more, %q1 : tensor<i64>, tensor<3xf64>, tensor<8x3xf64>, tensor<i64>
    }
    %0 = weft.multiply %s#2, %s#2 : tensor<8x3xf64>
    %1 = weft.sum %0 {axes = array<i64: 0>} : (tensor<8x3xf64>) -> tensor<3xf64>
    %2 = weft.multiply %1, %s#1 : tensor<3xf64>
    %3 = weft.add %2, %r : tensor<3xf64>
    %4 = weft.sum %3 {axes = array<i64: 0>} : (tensor<3xf64>) -> tensor<f64>
    return %4 : tensor<f64>
  })";

TEST(Checkpoints, AnyNumberOfIterations) {
  const Tensor x = values({3}, 0.3, 1.2, 1), w = values({3, 3}, -0.5, 0.6, 2);
  const Case one{
      "many",
      kManyIterations,
      {{"tensor<3xf64>", x}, {"tensor<3x3xf64>", w}, {"tensor<i64>", tensor(std::int64_t{3})}}};
  Derivatives all(one);
  for (const char *budget : kBudgets) {
    SCOPED_TRACE(budget);
    Derivatives kept(one, budget);
    for (const std::int64_t iterations : {0, 1, 2, 3, 7, 30, 1000}) {
      SCOPED_TRACE(iterations);
      const std::vector<Tensor> expected = all.call("reverse", {x, w, tensor(iterations)}),
                                actual = kept.call("reverse", {x, w, tensor(iterations)});
      for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(bits(actual[i]), bits(expected[i]));
    }
  }
}

Tensor integer(std::int64_t number) { return tensor(number); }

std::vector<Case> cases();

INSTANTIATE_TEST_SUITE_P(Programs, ControlFlow, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

std::vector<Case> cases() {
  std::vector<Case> all;
  auto add = [&](std::string name, std::string text, std::vector<Argument> arguments) {
    all.push_back({std::move(name), std::move(text), std::move(arguments)});
  };
  auto positive = [](const Shape &shape, int seed) { return values(shape, 0.3, 1.2, seed); };

  const std::string branch = R"(
    func.func private @f(%x: tensor<3xf64>, %p: tensor<i1>) -> tensor<f64> {
      %c = weft.item %p : tensor<i1>
      %a = weft.exp %x : tensor<3xf64>
      %r:2 = scf.if %c -> (tensor<3xf64>, tensor<3xf64>) {
        %0 = weft.multiply %a, %x : tensor<3xf64>
        %m = weft.max %0 {axes = array<i64: 0>, keepdims = true} : (tensor<3xf64>) -> tensor<1xf64>
        %n = weft.multiply %0, %m : tensor<3xf64>, tensor<1xf64>
        scf.yield %n, %a : tensor<3xf64>, tensor<3xf64>
      } else {
        scf.yield %a, %x : tensor<3xf64>, tensor<3xf64>
      }
      %t = weft.multiply %r#0, %r#1 : tensor<3xf64>
      %s = weft.sum %t {axes = array<i64: 0>} : (tensor<3xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })";
  add("branch_taken", branch, {{"tensor<3xf64>", positive({3}, 1)}, {"tensor<i1>", tensor(true)}});
  add("branch_left", branch, {{"tensor<3xf64>", positive({3}, 1)}, {"tensor<i1>", tensor(false)}});

  const std::string choice = R"(
    func.func private @f(%x: tensor<2xf64>, %i: tensor<i64>) -> tensor<f64> {
      %n = weft.item %i : tensor<i64>
      %k = arith.index_cast %n : i64 to index
      %r = scf.index_switch %k -> tensor<2xf64>
      case 0 {
        %0 = weft.sin %x : tensor<2xf64>
        scf.yield %0 : tensor<2xf64>
      }
      case 3 {
        %0 = weft.prod %x {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
        %1 = weft.multiply %0, %0 : tensor<f64>
        %2 = weft.multiply %x, %1 : tensor<2xf64>, tensor<f64>
        scf.yield %2 : tensor<2xf64>
      }
      default {
        %0 = weft.constant dense<2.0> : tensor<2xf64>
        scf.yield %0 : tensor<2xf64>
      }
      %t = weft.multiply %r, %x : tensor<2xf64>
      %s = weft.sum %t {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })";
  for (std::int64_t i : {0, 3, 7})
    add("choice_" + std::to_string(i), choice,
        {{"tensor<2xf64>", positive({2}, 2)}, {"tensor<i64>", integer(i)}});

  const std::string recurrence = R"(
    func.func private @f(%x: tensor<3xf64>, %w: tensor<3x3xf64>, %n: tensor<i64>) -> tensor<f64> {
      %n0 = weft.item %n : tensor<i64>
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %r = scf.for %i = %c0 to %n0 step %c1 iter_args(%h = %x) -> (tensor<3xf64>) : i64 {
        %0 = weft.matmul %w, %h : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
        %m = weft.tanh %0 : tensor<3xf64>
        scf.yield %m : tensor<3xf64>
      }
      %s = weft.sum %r {axes = array<i64: 0>} : (tensor<3xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })";
  for (std::int64_t n : {0, 1, 5})
    add("recurrence_" + std::to_string(n), recurrence,
        {{"tensor<3xf64>", positive({3}, 1)},
         {"tensor<3x3xf64>", positive({3, 3}, 2)},
         {"tensor<i64>", integer(n)}});

  // Bounds and steps that are no 0 and 1, known; the number of the iteration is used; two values
  // trade places, and one is not carried on.
  add("counting", R"(
    func.func private @f(%x: tensor<f64>, %z: tensor<f64>) -> tensor<f64> {
      %low = arith.constant 3 : index
      %high = arith.constant 10 : index
      %step = arith.constant 2 : index
      %r:3 = scf.for %i = %low to %high step %step iter_args(%a = %x, %b = %z, %c = %x)
          -> (tensor<f64>, tensor<f64>, tensor<f64>) {
        %j = arith.index_cast %i : index to i64
        %k = tensor.from_elements %j : tensor<i64>
        %q = weft.cast %k to f64 : tensor<i64>
        %0 = weft.multiply %a, %q : tensor<f64>
        %1 = weft.sin %0 : tensor<f64>
        %2 = weft.add %1, %x : tensor<f64>
        %3 = weft.multiply %b, %z : tensor<f64>
        scf.yield %3, %2, %q : tensor<f64>, tensor<f64>, tensor<f64>
      }
      %0 = weft.multiply %r#0, %r#1 : tensor<f64>
      %1 = weft.multiply %0, %r#2 : tensor<f64>
      return %1 : tensor<f64>
    })",
      {{"tensor<f64>", tensor(0.7)}, {"tensor<f64>", tensor(1.3)}});

  const std::string power = R"(
    func.func private @f(%x: tensor<f64>, %n: tensor<i64>) -> tensor<f64> {
      %one = weft.constant dense<1> : tensor<i64>
      %zero = weft.constant dense<0> : tensor<i64>
      %start = weft.constant dense<1.0> : tensor<f64>
      %r:2 = scf.while (%k = %n, %y = %start) : (tensor<i64>, tensor<f64>) -> (tensor<i64>, tensor<f64>) {
        %g = weft.greater %k, %zero : tensor<i64>
        %c = weft.item %g : tensor<i1>
        scf.condition(%c) %k, %y : tensor<i64>, tensor<f64>
      } do {
      ^bb0(%k: tensor<i64>, %y: tensor<f64>):
        %k1 = weft.subtract %k, %one : tensor<i64>
        %y1 = weft.multiply %y, %x : tensor<f64>
        scf.yield %k1, %y1 : tensor<i64>, tensor<f64>
      }
      return %r#1 : tensor<f64>
    })";
  for (std::int64_t n : {0, 1, 2, 9})
    add("power_" + std::to_string(n), power,
        {{"tensor<f64>", tensor(1.1)}, {"tensor<i64>", integer(n)}});

  // The condition computes what it hands on, from its state and from around the loop.
  add("work_in_condition", R"(
    func.func private @f(%x: tensor<2xf64>, %w: tensor<2xf64>) -> tensor<f64> {
      %limit = weft.constant dense<40.0> : tensor<f64>
      %r = scf.while (%a = %x) : (tensor<2xf64>) -> tensor<2xf64> {
        %0 = weft.multiply %a, %w : tensor<2xf64>
        %p = weft.prod %0 {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
        %1 = weft.add %0, %p : tensor<2xf64>, tensor<f64>
        %s = weft.sum %1 {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
        %l = weft.less %s, %limit : tensor<f64>
        %c = weft.item %l : tensor<i1>
        scf.condition(%c) %1 : tensor<2xf64>
      } do {
      ^bb0(%b: tensor<2xf64>):
        %e = weft.sqrt %b : tensor<2xf64>
        %m = weft.max %e {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
        %d = weft.multiply %b, %m : tensor<2xf64>, tensor<f64>
        scf.yield %d : tensor<2xf64>
      }
      %s = weft.sum %r {axes = array<i64: 0>} : (tensor<2xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })",
      {{"tensor<2xf64>", tensor({1.5, 1.1})}, {"tensor<2xf64>", tensor({1.2, 0.9})}});

  // A while loop in a counted one in a branch, with a call; sizes of no matter to the program.
  const std::string nested = R"(
    func.func private @inner(%y: tensor<?xf64>, %w: tensor<?xf64>) -> tensor<?xf64> {
      %limit = weft.constant dense<6.0> : tensor<f64>
      %two = weft.constant dense<1.5> : tensor<f64>
      %r = scf.while (%a = %y) : (tensor<?xf64>) -> tensor<?xf64> {
        %s = weft.sum %a {axes = array<i64: 0>} : (tensor<?xf64>) -> tensor<f64>
        %l = weft.less %s, %limit : tensor<f64>
        %c = weft.item %l : tensor<i1>
        scf.condition(%c) %a : tensor<?xf64>
      } do {
      ^bb0(%a: tensor<?xf64>):
        %0 = weft.multiply %a, %w : tensor<?xf64>
        %m = weft.mean %0 {axes = array<i64: 0>} : (tensor<?xf64>) -> tensor<f64>
        %1 = weft.add %0, %m : tensor<?xf64>, tensor<f64>
        %2 = weft.multiply %1, %two : tensor<?xf64>, tensor<f64>
        scf.yield %2 : tensor<?xf64>
      }
      return %r : tensor<?xf64>
    }
    func.func private @f(%x: tensor<?xf64>, %w: tensor<?xf64>, %p: tensor<i1>, %n: tensor<i64>) -> tensor<f64> {
      %c = weft.item %p : tensor<i1>
      %n0 = weft.item %n : tensor<i64>
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %third = weft.constant dense<0.3> : tensor<f64>
      %r = scf.if %c -> (tensor<?xf64>) {
        %e = weft.tanh %x : tensor<?xf64>
        %q = scf.for %i = %c0 to %n0 step %c1 iter_args(%h = %e) -> (tensor<?xf64>) : i64 {
          %0 = weft.multiply %h, %third : tensor<?xf64>, tensor<f64>
          %1 = func.call @inner(%0, %w) : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
          %2 = weft.sin %1 : tensor<?xf64>
          %3 = weft.add %2, %h : tensor<?xf64>
          scf.yield %3 : tensor<?xf64>
        }
        %m = weft.multiply %q, %q : tensor<?xf64>
        scf.yield %m : tensor<?xf64>
      } else {
        scf.yield %w : tensor<?xf64>
      }
      %s = weft.sum %r {axes = array<i64: 0>} : (tensor<?xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })";
  for (std::int64_t n : {0, 3})
    add("nested_" + std::to_string(n), nested,
        {{"tensor<?xf64>", positive({4}, 5)},
         {"tensor<?xf64>", positive({4}, 6)},
         {"tensor<i1>", tensor(true)},
         {"tensor<i64>", integer(n)}});
  add("nested_left", nested,
      {{"tensor<?xf64>", positive({4}, 5)},
       {"tensor<?xf64>", positive({4}, 6)},
       {"tensor<i1>", tensor(false)},
       {"tensor<i64>", integer(3)}});

  // Counted loops in each other, of known sizes, that fill and read slices.
  add("slices", R"(
    func.func private @f(%x: tensor<4x2xf64>, %w: tensor<2x2xf64>) -> tensor<f64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %none = weft.constant dense<0.0> : tensor<4x2xf64>
      %h0 = weft.constant dense<0.5> : tensor<2xf64>
      %r:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%h = %h0, %ys = %none) -> (tensor<2xf64>, tensor<4x2xf64>) {
        %j = arith.index_cast %i : index to i64
        %k = tensor.from_elements %j : tensor<i64>
        %xi = weft.gather %x, %k {axis = 0 : i64} : (tensor<4x2xf64>, tensor<i64>) -> tensor<2xf64>
        %g = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %h) -> (tensor<2xf64>) {
          %0 = weft.matmul %w, %a : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2xf64>
          %1 = weft.add %0, %xi : tensor<2xf64>
          %2 = weft.tanh %1 : tensor<2xf64>
          scf.yield %2 : tensor<2xf64>
        }
        %more = weft.update_slice %ys, %k, %g {axis = 0 : i64} : (tensor<4x2xf64>, tensor<i64>, tensor<2xf64>) -> tensor<4x2xf64>
        scf.yield %g, %more : tensor<2xf64>, tensor<4x2xf64>
      }
      %0 = weft.multiply %r#1, %r#1 : tensor<4x2xf64>
      %1 = weft.multiply %0, %x : tensor<4x2xf64>
      %s = weft.sum %1 {axes = array<i64: 0, 1>} : (tensor<4x2xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })",
      {{"tensor<4x2xf64>", positive({4, 2}, 7)}, {"tensor<2x2xf64>", positive({2, 2}, 8)}});

  // Sizes that only run time knows, and iterations enough for every budget.
  add("open_sizes", R"(
    func.func private @f(%x: tensor<?xf64>, %n: tensor<i64>) -> tensor<f64> {
      %n0 = weft.item %n : tensor<i64>
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %r = scf.for %i = %c0 to %n0 step %c1 iter_args(%h = %x) -> (tensor<?xf64>) : i64 {
        %m = weft.sin %h : tensor<?xf64>
        %p = weft.max %m {axes = array<i64: 0>} : (tensor<?xf64>) -> tensor<f64>
        %q = weft.multiply %m, %p : tensor<?xf64>, tensor<f64>
        %s = weft.add %q, %x : tensor<?xf64>
        scf.yield %s : tensor<?xf64>
      }
      %s = weft.sum %r {axes = array<i64: 0>} : (tensor<?xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })",
      {{"tensor<?xf64>", positive({3}, 4)}, {"tensor<i64>", integer(11)}});

  // State that doubles its size in every iteration, of which each iteration needs all.
  for (std::int64_t n : {0, 1, 3})
    add("growing_" + std::to_string(n), R"(
    func.func private @f(%x: tensor<?x2xf64>, %n: tensor<i64>) -> tensor<f64> {
      %n0 = weft.item %n : tensor<i64>
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %r = scf.for %i = %c0 to %n0 step %c1 iter_args(%a = %x) -> (tensor<?x2xf64>) : i64 {
        %p = weft.prod %a {axes = array<i64: 1>, keepdims = true} : (tensor<?x2xf64>) -> tensor<?x1xf64>
        %b = weft.multiply %a, %p : tensor<?x2xf64>, tensor<?x1xf64>
        %m = weft.mean %a {axes = array<i64: 0, 1>} : (tensor<?x2xf64>) -> tensor<f64>
        %z = weft.size %a {axis = 0 : i64} : (tensor<?x2xf64>) -> tensor<i64>
        %zero = weft.constant dense<0.0> : tensor<f64>
        %g = weft.pad %b, %zero low [0, 0] high [%z, 0] : (tensor<?x2xf64>, tensor<f64>) -> tensor<?x2xf64>
        %0 = weft.add %g, %m : tensor<?x2xf64>, tensor<f64>
        scf.yield %0 : tensor<?x2xf64>
      }
      %0 = weft.multiply %r, %r : tensor<?x2xf64>
      %s = weft.sum %0 {axes = array<i64: 0, 1>} : (tensor<?x2xf64>) -> tensor<f64>
      return %s : tensor<f64>
    })",
        {{"tensor<?x2xf64>", positive({2, 2}, 9)}, {"tensor<i64>", integer(n)}});
  return all;
}

} // namespace
} // namespace weft::test
