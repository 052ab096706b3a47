// Runs a program in all the ways in which its derivatives can be had, and compares.
#include "Check.h"

#include "../unit/Function/Printed.h"
#include "Interpret.h"
#include "Workers.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <sstream>

namespace weft::fuzz {

namespace {

using Tensors = std::vector<Tensor>;

/// A fault, or a reason to leave something out.
struct Finding {
  Verdict::Kind kind;
  std::string what, detail;
};

[[noreturn]] void fail(std::string what, std::string detail = "") {
  throw Finding{Verdict::Kind::failed, std::move(what), std::move(detail)};
}

/// What docs/control-flow.md and docs/autodiff.md say is refused.
struct Refusal {
  ErrorKind kind;
  std::string_view words;
};
constexpr Refusal kRefusals[] = {
    {ErrorKind::state, "a second derivative in a traced function runs "},
    {ErrorKind::state, "a tangent of a gradient in a traced function runs "},
    {ErrorKind::state, "has an effect, and "},
    {ErrorKind::state, " differ by member, so there is no one shape for all"},
    {ErrorKind::shape, "members of a batch that choose differently give results of one shape"},
    {ErrorKind::shape, "in a loop that members of a batch leave one after the other it keeps its"},
    {ErrorKind::state, "TensorArray::append: item: the tensor of type i64() stands for"},
    {ErrorKind::shape, "in branches that members of a batch choose differently"},
    {ErrorKind::shape, "in a loop that members of a batch leave one after the other,"},
    {ErrorKind::state, "is done once for each tensor, and this trace does not know how many"},
    {ErrorKind::shape, "the derivative of concatenate needs the size of axis "},
    {ErrorKind::shape, "the derivative of reshape needs an operand with at most one unknown size"},
};

/// What can be seen of a run.
struct Seen {
  Tensors results, state;
  Lines lines;
};

double dot(const Tensors &a, const Tensors &b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += sum(a[i] * b[i]).item<double>();
  return total;
}

double largest(const Tensors &tensors) {
  double found = 0;
  for (const Tensor &tensor : tensors) {
    if (!is_floating(tensor.dtype())) continue;
    for (double value : tensor.to_vector<double>())
      found = std::isfinite(value) ? std::max(found, std::abs(value)) : INFINITY;
  }
  return found;
}

std::string text_of(double a, double b) {
  std::ostringstream text;
  text.precision(17);
  text << a << " and " << b;
  return text.str();
}

/// Fails unless they are the same up to `tolerance`, relative to the largest of a tensor.
void expect_close(const std::string &what, const Tensors &found, const Tensors &expected,
                  double tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::string which = "number " + std::to_string(i) + ": ";
    if (found[i].type() != expected[i].type())
      fail(what, which + to_string(found[i].type()) + " and " + to_string(expected[i].type()));
    const std::vector<double> a = found[i].astype(f64).to_vector<double>(),
                              b = expected[i].astype(f64).to_vector<double>();
    const double scale = 1 + largest({expected[i].astype(f64)});
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!(std::abs(a[k] - b[k]) <= tolerance * scale)) fail(what, which + text_of(a[k], b[k]));
  }
}

class Comparison {
public:
  explicit Comparison(const Program &program)
      : program_(program), world_(program), values_(program, world_, constants_, false) {
    const auto uniform = [&](const Shape &shape, int seed, double low) {
      return random::uniform(shape, {.seed = program.seed * 16 + static_cast<unsigned>(seed),
                                     .low = low,
                                     .high = 1.2,
                                     .dtype = f64});
    };
    const Shape line{program.n}, square{program.n, program.n};
    inputs_ = {uniform(line, 1, -1.0), uniform(square, 2, -1.0), uniform({}, 3, -1.0),
               tensor(std::int64_t{2}), tensor(std::int64_t{3})};
    directions_ = {uniform(line, 4, -1.2), uniform(square, 5, -1.2), uniform({}, 6, -1.2),
                   uniform(line, 7, -1.2), uniform({}, 8, -1.2)};
  }

  Verdict verdict() {
    Verdict verdict;
    try {
      gradients();
      verdict.compared.push_back("tape, pass and differences");
      stage(verdict, "entry", [&] { entry(); });
      stage(verdict, "jvp", [&] { forward(); });
      if (program_.forward) stage(verdict, "compiled jvp", [&] { compiled_forward(); });
      if (program_.second_order) {
        stage(verdict, "second order", [&] { second_order(); });
        stage(verdict, "compiled reverse over reverse", [&] { compiled_curve(); });
        stage(verdict, "compiled reverse over forward", [&] { compiled_slope_of_push(); });
        stage(verdict, "compiled forward over reverse", [&] { compiled_push_of_slope(); });
      }
      stage(verdict, "vmap", [&] { batches(); });
      stage(verdict, "compiled vmap", [&] { compiled_batches(); });
    } catch (Finding &found) {
      verdict.kind = found.kind;
      verdict.what = std::move(found.what);
      verdict.detail = std::move(found.detail);
    }
    return verdict;
  }

private:
  using T = const Tensor &;

  template <class Stage>
  void stage(Verdict &verdict, const char *name, const Stage &run) {
    try {
      in_stage(name, run);
      verdict.compared.emplace_back(name);
    } catch (const Finding &found) {
      if (found.kind == Verdict::Kind::failed) throw;
      verdict.left_out.push_back(std::string(name) + ": " + found.what);
    }
  }

  /// Errors of Weft as findings.
  template <class Run>
  static auto in_stage(const std::string &name, const Run &run) {
    note_stage(name);
    try {
      return run();
    } catch (const Error &error) {
      const std::string message(error.message());
      for (const Refusal &refusal : kRefusals)
        if (error.kind() == refusal.kind && message.find(refusal.words) != std::string::npos)
          throw Finding{Verdict::Kind::skipped, "refused: .. " + std::string(refusal.words) + "..",
                        ""};
      // What is alike in one message for all programs: its beginning, without numbers.
      std::string what = message.substr(0, 70);
      std::erase_if(what, [](char c) { return (c >= '0' && c <= '9') || c == '\n'; });
      fail(name + ": " + what, message);
    } catch (const Finding &) {
      throw;
    } catch (const std::exception &error) {
      fail(name + ": another exception", error.what());
    }
  }

  /// With `batch` each argument has an axis of that size in front.
  FunctionOptions options(std::optional<std::int64_t> batch = {}) const {
    FunctionOptions options{.name = "program"};
    const std::int64_t n = program_.open ? unknown : program_.n;
    const auto type = [&](DType dtype, Ints shape) {
      if (batch) shape.insert(0, *batch);
      return spec(dtype, Shape(shape));
    };
    options.signature = {type(f64, {n}), type(f64, {n, n}), type(f64, {}), type(i64, {}),
                         type(i64, {})};
    return options;
  }

  /// Runs something from the state the program starts in, with nothing recorded.
  template <class Run>
  Seen see(const Run &run) {
    return see(run, inputs_);
  }
  template <class Run>
  Seen see(const Run &run, const Inputs &at) {
    constants_.start(Constants::Mode::off);
    world_.reset();
    Printed printed;
    Seen seen;
    seen.results = run(at.x, at.w, at.s, at.n, at.k);
    seen.state = world_.values();
    seen.lines = printed.take();
    return seen;
  }

  void expect_same(const std::string &name, const Seen &found, const Seen &expected) {
    expect_close(name + ": results differ", found.results, expected.results, 1e-11);
    expect_close(name + ": variables differ", found.state, expected.state, 1e-12);
    if (found.lines != expected.lines) fail(name + ": other lines are printed");
  }

  //===--------------------------------------------------------------------===//
  // What is run
  //===--------------------------------------------------------------------===//

  /// Loss, results and gradients by x, w, s, p and q.
  auto slopes(Interpreter &interpreter) {
    return [this, &interpreter](T x, T w, T s, T n, T k) -> Tensors {
      GradientTape tape;
      for (const Tensor &source : {x, w, s}) tape.watch(source);
      Results results = interpreter.run({x, w, s, n, k});
      const std::vector<GradientSource> sources = {x, w, s, world_.variables[variable_p],
                                                   world_.variables[variable_q]};
      Tensors all = tape.gradient(results.loss, sources, {.unconnected = Unconnected::zero});
      all.push_back(results.loss);
      all.insert(all.end(), results.values.begin(), results.values.end());
      return all;
    };
  }
  /// The same, where a tape records one call of a compiled function.
  auto slopes_of_entry(Interpreter &traced) {
    const auto f = function(
        [&traced](T x, T w, T s, T n, T k) -> Tensors {
          const Results results = traced.run({x, w, s, n, k});
          Tensors all = {results.loss};
          all.insert(all.end(), results.values.begin(), results.values.end());
          return all;
        },
        options());
    return [this, f](T x, T w, T s, T n, T k) -> Tensors {
      GradientTape tape;
      for (const Tensor &source : {x, w, s}) tape.watch(source);
      const Tensors results = f(x, w, s, n, k);
      const std::vector<GradientSource> sources = {x, w, s, world_.variables[variable_p],
                                                   world_.variables[variable_q]};
      Tensors all = tape.gradient(results[0], sources, {.unconnected = Unconnected::zero});
      all.insert(all.end(), results.begin(), results.end());
      return all;
    };
  }
  static auto loss(Interpreter &interpreter, T n, T k) {
    return [&interpreter, n, k](T x, T w, T s) { return interpreter.run({x, w, s, n, k}).loss; };
  }
  auto direction() const { return std::tuple(directions_[0], directions_[1], directions_[2]); }
  static Tensors list(const std::tuple<Tensor, Tensor, Tensor> &three) {
    return {std::get<0>(three), std::get<1>(three), std::get<2>(three)};
  }

  /// The loss and its tangent.
  auto push(Interpreter &interpreter) {
    return [this, &interpreter](T x, T w, T s, T n, T k) -> Tensors {
      const auto [value, tangent] = jvp(loss(interpreter, n, k), std::tuple(x, w, s), direction());
      return {value, tangent};
    };
  }
  /// The product of the Hessian and a direction, in three ways.
  auto curve(Interpreter &interpreter) {
    return [this, &interpreter](T x, T w, T s, T n, T k) -> Tensors {
      const auto along = [&](T x1, T w1, T s1) {
        const auto [dx, dw, ds] = grad<0, 1, 2>(loss(interpreter, n, k))(x1, w1, s1);
        return sum(dx * directions_[0]) + sum(dw * directions_[1]) + ds * directions_[2];
      };
      return list(grad<0, 1, 2>(along)(x, w, s));
    };
  }
  auto push_of_slope(Interpreter &interpreter) {
    return [this, &interpreter](T x, T w, T s, T n, T k) -> Tensors {
      return list(
          jvp(grad<0, 1, 2>(loss(interpreter, n, k)), std::tuple(x, w, s), direction()).second);
    };
  }
  auto slope_of_push(Interpreter &interpreter) {
    return [this, &interpreter](T x, T w, T s, T n, T k) -> Tensors {
      const auto along = [&](T x1, T w1, T s1) {
        return jvp(loss(interpreter, n, k), std::tuple(x1, w1, s1), direction()).second;
      };
      return list(grad<0, 1, 2>(along)(x, w, s));
    };
  }

  template <class Make>
  Seen compiled(const std::string &name, const Make &make) {
    return in_stage(name, [&] {
      Interpreter traced(program_, world_, constants_, true);
      const auto f = function(make(traced), options());
      return see(f);
    });
  }

  //===--------------------------------------------------------------------===//
  // Differences
  //===--------------------------------------------------------------------===//

  Inputs moved(double t) const {
    Inputs at = inputs_;
    at.x = at.x + t * directions_[0];
    at.w = at.w + t * directions_[1];
    at.s = at.s + t * directions_[2];
    return at;
  }

  /// f(t) - f(-t) over 2 t, without the part of second order in t.
  template <class F>
  static auto difference(const F &f, double t) {
    const auto wide = (f(t) - f(-t)) / (2 * t);
    const auto narrow = (f(t / 2) - f(-t / 2)) / t;
    return (4 * narrow - wide) / 3;
  }

  /// Records what is constant, and how close comparisons are.
  void record() {
    constants_.start(Constants::Mode::record);
    world_.reset();
    Printed unseen;
    values_.run(inputs_);
    if (constants_.margin < 1e-7)
      throw Finding{Verdict::Kind::skipped, "a comparison is a tie", ""};
  }

  void gradients() {
    in_stage("values", [&] { record(); });
    const Seen eager = in_stage("tape", [&] { return see(slopes(values_)); });
    if (!std::isfinite(largest(eager.results)))
      throw Finding{Verdict::Kind::skipped, "a value is not finite", ""};
    if (largest(eager.results) > 1e5)
      throw Finding{Verdict::Kind::skipped, "a derivative is large", ""};
    gradient_ = Tensors(eager.results.begin(), eager.results.begin() + 5);

    eager_ = eager;
    const Seen pass = compiled("pass", [&](Interpreter &traced) { return slopes(traced); });
    expect_same("pass and tape", pass, eager);

    const auto at = [&](double t) {
      constants_.start(Constants::Mode::replay);
      for (int i = 0; i < kTrainable; ++i) constants_.shifts[i] = t * directions_[3 + i];
      return values_.run(moved(t)).loss.item<double>();
    };
    in_stage("differences",
             [&] { expect_difference("tape and differences", dot(gradient_, directions_), at); });
    for (Tensor &shift : constants_.shifts) shift = Tensor();
  }

  /// Fails unless `found` is what differences say; leaves it out where they do not say it clearly.
  template <class F>
  void expect_difference(const std::string &what, double found, const F &at) {
    const double one = difference(at, 2e-4), scale = 1 + std::abs(one);
    if (std::abs(found - one) <= 1e-7 * scale) return;
    const double other = difference(at, 5e-5);
    if (std::abs(found - other) <= 1e-7 * scale) return;
    if (std::abs(one - other) > 1e-7 * scale)
      throw Finding{Verdict::Kind::skipped, "differences do not converge", ""};
    fail(what, text_of(found, one));
  }

  void entry() {
    Interpreter traced(program_, world_, constants_, true);
    expect_same("entry and tape", see(slopes_of_entry(traced)), eager_);
  }

  void forward() {
    const Seen eager = see(push(values_));
    const Tensors by_arguments(directions_.begin(), directions_.begin() + 3);
    tangent_ = eager;
    const double expected = dot({gradient_[0], gradient_[1], gradient_[2]}, by_arguments);
    expect_close("jvp and tape", {eager.results[1]}, {tensor(expected)}, 1e-10);
  }
  void compiled_forward() {
    expect_same("compiled jvp and jvp",
                compiled("compiled jvp", [&](Interpreter &traced) { return push(traced); }),
                tangent_);
  }

  void second_order() {
    curve_ = see(curve(values_));
    if (!(largest(curve_.results) < 1e6))
      throw Finding{Verdict::Kind::skipped, "a second derivative is large", ""};
    expect_close("forward over reverse and reverse over reverse, by tapes",
                 see(push_of_slope(values_)).results, curve_.results, 1e-10);
    expect_close("reverse over forward and reverse over reverse, by tapes",
                 see(slope_of_push(values_)).results, curve_.results, 1e-10);
    // Along another direction.
    const Tensors other = {reverse(directions_[0]), transpose(directions_[1], {1, 0}),
                           directions_[2]};
    const auto at = [&](double t) {
      constants_.start(Constants::Mode::replay);
      const Inputs there = moved(t);
      return dot(list(grad<0, 1, 2>(loss(values_, there.n, there.k))(there.x, there.w, there.s)),
                 other);
    };
    expect_difference("second order by tapes and differences", dot(curve_.results, other), at);
  }
  void compiled_curve() {
    expect_second("compiled reverse over reverse",
                  [&](Interpreter &traced) { return curve(traced); });
  }
  void compiled_slope_of_push() {
    expect_second("compiled reverse over forward",
                  [&](Interpreter &traced) { return slope_of_push(traced); });
  }
  void compiled_push_of_slope() {
    expect_second("compiled forward over reverse",
                  [&](Interpreter &traced) { return push_of_slope(traced); });
  }
  template <class Make>
  void expect_second(const std::string &name, const Make &make) {
    const Seen found = compiled(name, make);
    expect_close(name + " and tapes: results differ", found.results, curve_.results, 1e-10);
    expect_close(name + " and tapes: variables differ", found.state, curve_.state, 1e-12);
    if (found.lines != curve_.lines) fail(name + " and tapes: other lines are printed");
  }

  //===--------------------------------------------------------------------===//
  // Batches
  //===--------------------------------------------------------------------===//

  /// The gradient by x, w and s of the losses of all members of a batch.
  static auto slopes_of_batch(Interpreter &interpreter) {
    return [&interpreter](T x, T w, T s, T n, T k) -> Tensors {
      const auto one = [&interpreter](T x1, T w1, T s1, T n1, T k1) {
        return interpreter.run({x1, w1, s1, n1, k1}).loss;
      };
      GradientTape tape;
      for (const Tensor &source : {x, w, s}) tape.watch(source);
      const auto [dx, dw, ds] = tape.gradient(sum(vmap(one)(x, w, s, n, k)), {x, w, s},
                                              {.unconnected = Unconnected::zero});
      return {dx, dw, ds};
    };
  }

  /// Members that go their own ways, alone and as a batch.
  void batches() {
    if (has_effects(program_.main.statements) ||
        std::ranges::any_of(program_.functions,
                            [](const Block &f) { return has_effects(f.statements); }))
      throw Finding{Verdict::Kind::skipped, "there are effects", ""};
    std::vector<Inputs> members;
    const std::pair<std::int64_t, std::int64_t> counts[] = {{2, 3}, {3, 1}, {0, 2}};
    for (std::size_t i = 0; i < std::size(counts); ++i) {
      members.push_back(moved(std::array{0.0, 0.41, -0.73}[i]));
      members.back().n = tensor(counts[i].first);
      members.back().k = tensor(counts[i].second);
      constants_.start(Constants::Mode::record);
      world_.reset();
      values_.run(members.back());
      if (constants_.margin < 1e-7)
        throw Finding{Verdict::Kind::skipped, "a comparison is a tie", ""};
    }
    std::vector<Tensors> alone;
    for (const Inputs &member : members) alone.push_back(see(slopes(values_), member).results);
    for (std::size_t r = 0; r < alone[0].size(); ++r)
      for (const Tensors &member : alone)
        if (!(member[r].type() == alone[0][r].type()))
          throw Finding{Verdict::Kind::skipped, "members give results of different types", ""};
    const auto stacked = [&](const auto &part) {
      Tensors rows;
      for (std::size_t i = 0; i < members.size(); ++i) rows.push_back(part(i));
      return stack(rows);
    };
    batch_ = {stacked([&](auto i) { return members[i].x; }),
              stacked([&](auto i) { return members[i].w; }),
              stacked([&](auto i) { return members[i].s; }),
              stacked([&](auto i) { return members[i].n; }),
              stacked([&](auto i) { return members[i].k; })};
    together_.clear();
    for (std::size_t r = 0; r < alone[0].size(); ++r)
      together_.push_back(stacked([&](auto i) { return alone[i][r]; }));
    if (!(largest(together_) < 1e5))
      throw Finding{Verdict::Kind::skipped, "a derivative is large", ""};
    expect_close("vmap of tape and tape", see(vmap(slopes(values_)), batch_).results, together_,
                 1e-9);
    expect_close("tape of vmap and tape", see(slopes_of_batch(values_), batch_).results,
                 by_arguments(), 1e-9);
  }
  Tensors by_arguments() const { return {together_[0], together_[1], together_[2]}; }

  void compiled_batches() {
    if (together_.empty()) throw Finding{Verdict::Kind::skipped, "none on values", ""};
    Interpreter traced(program_, world_, constants_, true);
    const auto f = function(vmap(slopes(traced)), options(3));
    expect_close("compiled vmap of tape and tape", see(f, batch_).results, together_, 1e-9);
    const auto g = function(slopes_of_batch(traced), options(3));
    expect_close("compiled tape of vmap and tape", see(g, batch_).results, by_arguments(), 1e-9);
  }

  static bool has_effects(std::span<const Statement> statements) {
    return std::ranges::any_of(statements, [](const Statement &statement) {
      if (std::ranges::any_of(statement.blocks,
                              [](const Block &block) { return has_effects(block.statements); }))
        return true;
      switch (statement.kind) {
      case Kind::assign:
      case Kind::add_to:
      case Kind::print:
      case Kind::random: return true;
      default: return false;
      }
    });
  }

public:
  std::string trace(const std::string &what) {
    Interpreter traced(program_, world_, constants_, true);
    const auto is = [&](const char *stage) { return what.find(stage) != std::string::npos; };
    const auto of = [&](const auto &f) {
      return function(f, options())
          .ir(inputs_.x, inputs_.w, inputs_.s, inputs_.n, inputs_.k, Phase::trace);
    };
    if (is("compiled jvp")) return of(push(traced));
    if (is("compiled reverse over reverse")) return of(curve(traced));
    if (is("compiled reverse over forward")) return of(slope_of_push(traced));
    if (is("compiled forward over reverse")) return of(push_of_slope(traced));
    return of(slopes(traced));
  }

private:
  const Program &program_;
  World world_;
  Constants constants_;
  Interpreter values_;
  Inputs inputs_;
  Tensors directions_; ///< of x, w, s, p and q
  Tensors gradient_;
  Seen eager_, tangent_, curve_;
  Inputs batch_;
  Tensors together_; ///< what the members of a batch give
};

} // namespace

Verdict check_gradients(const Program &program) {
  try {
    return Comparison(program).verdict();
  } catch (const std::exception &error) {
    Verdict verdict;
    verdict.kind = Verdict::Kind::failed;
    verdict.what = "the fuzzer itself";
    verdict.detail = error.what();
    return verdict;
  }
}

std::string trace_of(const Program &program, const std::string &what) {
  try {
    return Comparison(program).trace(what);
  } catch (const std::exception &error) {
    return std::string("// It cannot be traced: ") + error.what() + '\n';
  }
}

} // namespace weft::fuzz
