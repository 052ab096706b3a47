// Derivatives that come to host calls: refused in every form of them, unless nobody needs them.
#include "../Testing.h"

#include <functional>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;
using Map = std::function<Tensor(const Tensor &)>;

const std::string kRefusal =
    ": a derivative is asked for through it, and none is known of what it computes: wrap it in a "
    "custom_gradient that gives one, or hand over stop_gradient of its operand if the derivative "
    "is to be zero; a gradient function that uses the result, as that of a solve, calls the "
    "custom_gradient again for "
    "derivatives of itself";

/// `f` of each element, computed by C++.
Tensor host(double (*f)(double), const Tensor &x, const std::string &name = "f") {
  return host_call(
      [f](const Tensor &value) {
        Doubles elements = value.to_vector<double>();
        for (double &element : elements) element = f(element);
        return tensor(elements).reshape(value.shape());
      },
      {.results = {TensorType{f64, x.shape()}}, .name = name, .pure = true}, x);
}

double square(double x) { return x * x; }
double twice(double x) { return 2 * x; }
double cube(double x) { return x * x * x; }
double cube_slope(double x) { return 3 * x * x; }

/// All ways to ask for a derivative of the sum of `f`, on values and in a trace.
template <class Check>
void in_every_form(const Map &f, Check check) {
  const auto loss = [f](const Tensor &x) { return sum(f(x)); };
  const std::pair<const char *, Map> forms[] = {
      {"tape",
       [=](const Tensor &x) {
         GradientTape tape;
         tape.watch(x);
         const Tensor y = loss(x);
         return tape.gradient(y, {x})[0];
       }},
      {"grad", [=](const Tensor &x) { return grad(loss)(x); }},
      {"value_and_grad", [=](const Tensor &x) { return value_and_grad(loss)(x).second; }},
      {"vjp", [=](const Tensor &x) { return vjp(f, x).second(ones_like(x)); }},
      {"jvp", [=](const Tensor &x) { return jvp(f, x, ones_like(x)).second; }},
      {"jacobian", [=](const Tensor &x) { return sum(jacobian(f)(x), {.axes = Ints{0}}); }},
  };
  for (const auto &[name, form] : forms)
    for (const bool compiled : {false, true}) {
      SCOPED_TRACE(std::string(name) + (compiled ? ", compiled" : ""));
      check(compiled ? Map(function(form)) : form);
    }
}

const Tensor &at() {
  static const Tensor &x = *new Tensor(tensor({1.0, 2.0, -3.0}));
  return x;
}

void expect_refused(const Map &f, const std::string &call) {
  in_every_form(f, [&](const Map &derivative) {
    EXPECT_THROWS(derivative(at()), StateError, call + kRefusal);
  });
}

void expect_gradient(const Map &f, const Doubles &gradient) {
  in_every_form(
      f, [&](const Map &derivative) { EXPECT_EQ(derivative(at()).to_vector<double>(), gradient); });
}

TEST(HostDerivatives, AreRefused) {
  expect_refused([](const Tensor &x) { return host(square, x) + x; }, "host_call f");
  expect_refused([](const Tensor &x) { return host(square, x * x, "g"); }, "host_call g");
  expect_refused(
      [](const Tensor &x) {
        return host_call([](const Tensor &v) { return v; }, {.results = {spec(f64, {3})}}, x);
      },
      "host_call");
}

TEST(HostDerivatives, AreNotNeeded) {
  expect_gradient([](const Tensor &x) { return host(square, stop_gradient(x)) * x; }, {1, 4, 9});
  expect_gradient([](const Tensor &x) { return stop_gradient(host(square, x)) * x; }, {1, 4, 9});
  expect_gradient(
      [](const Tensor &x) {
        host_call([](const Tensor &) {}, {}, x);
        static_cast<void>(host(square, x)); // nobody wants it
        const Tensor count = host_call([](const Tensor &v) { return tensor(v.size()); },
                                       {.results = {spec(i64, {})}}, x);
        return x * x * cast(count, f64);
      },
      {6, 12, -18});
  const Tensor other = tensor({4.0, 5.0, 6.0});
  expect_gradient([=](const Tensor &x) { return host(square, other) * x; }, {16, 25, 36});
  expect_gradient([](const Tensor &x) { return select(host(square, x) > 2, 3 * x, x); }, {1, 3, 3});
}

TEST(HostDerivatives, AreThoseOfACustomGradient) {
  const auto cubed = custom_gradient([](const Tensor &x) {
    return Pullback{host(cube, x), [=](const Tensor &dy) { return dy * 3 * x * x; }};
  });
  expect_gradient(cubed, {3, 12, 27});
  const auto loss = [=](const Tensor &x) { return sum(cubed(x)); };
  const auto second = [=](const Tensor &x) {
    return grad([=](const Tensor &v) { return sum(grad(loss)(v)); })(x);
  };
  EXPECT_EQ(second(at()).to_vector<double>(), (Doubles{6, 12, -18}));
  EXPECT_EQ(function(second)(at()).to_vector<double>(), (Doubles{6, 12, -18}));
}

// A slope that C++ computes has none itself.
TEST(HostDerivatives, OfPullbacks) {
  const auto cubed = custom_gradient([](const Tensor &x) {
    return Pullback{host(cube, x), [=](const Tensor &dy) { return dy * host(cube_slope, x, "d"); }};
  });
  const auto loss = [=](const Tensor &x) { return sum(cubed(x)); };
  const std::pair<const char *, Map> forms[] = {
      {"grad of grad",
       [=](const Tensor &x) {
         return grad([=](const Tensor &v) { return sum(grad(loss)(v)); })(x);
       }},
      {"hessian", [=](const Tensor &x) { return hessian(loss)(x); }},
      {"jvp of grad", [=](const Tensor &x) { return jvp(grad(loss), x, ones_like(x)).second; }},
      {"tapes",
       [=](const Tensor &x) {
         GradientTape outer;
         outer.watch(x);
         GradientTape tape;
         tape.watch(x);
         const Tensor y = loss(x);
         const Tensor dx = tape.gradient(y, {x})[0];
         return outer.gradient(sum(dx), {x})[0];
       }},
      {"of an entry",
       [=, entry = function(loss)](const Tensor &x) {
         return grad([=](const Tensor &v) { return sum(grad(entry)(v)); })(x);
       }},
  };
  EXPECT_EQ(grad(loss)(at()).to_vector<double>(), (Doubles{3, 12, 27}));
  for (const auto &[name, form] : forms) {
    SCOPED_TRACE(name);
    EXPECT_THROW(static_cast<void>(form(at())), StateError);
    EXPECT_THROW(static_cast<void>(function(form)(at())), StateError);
  }
  // Forward mode transposes the pullback, and has nothing to transpose this one by.
  const auto linear = custom_gradient([](const Tensor &x) {
    return Pullback{host(twice, x), [](const Tensor &dy) { return host(twice, dy, "t"); }};
  });
  EXPECT_EQ(grad([=](const Tensor &x) { return sum(linear(x)); })(at()).to_vector<double>(),
            (Doubles{2, 2, 2}));
  const Map forward = [=](const Tensor &x) { return jvp(linear, x, ones_like(x)).second; };
  EXPECT_THROWS(forward(at()), StateError, "host_call t" + kRefusal);
  EXPECT_THROWS(function(forward)(at()), StateError, "host_call t" + kRefusal);
}

TEST(HostDerivatives, InControlFlow) {
  const auto loop = [](bool wanted) {
    return [=](const Tensor &x) {
      const auto [y, metric] = for_loop(
          3,
          [](const Tensor &, const Tensor &state, const Tensor &metric) {
            return std::tuple(state * 2, metric + host(square, state));
          },
          x, zeros_like(x));
      return wanted ? y + metric : y;
    };
  };
  expect_gradient(loop(false), {8, 8, 8});
  expect_refused(loop(true), "host_call f");
  const auto branch = [](bool wanted) {
    return [=](const Tensor &x) {
      const auto [y, metric] = cond(
          sum(x) < 1, [&] { return std::tuple(x * 2, host(square, x)); },
          [&] { return std::tuple(x, x); });
      return wanted ? y * metric : y;
    };
  };
  expect_gradient(branch(false), {2, 2, 2});
  expect_refused(branch(true), "host_call f");
}

// A compiled call is one entry, which knows the results that have no derivative.
TEST(HostDerivatives, OfCompiledFunctions) {
  int traced = 0;
  const auto step = function([&](const Tensor &x, const Tensor &w) {
    ++traced;
    const Tensor y = x * w;
    return std::tuple(sum(y * y), host(square, y, "metric"), w * 2 + host(square, x));
  });
  const Tensor w = tensor({1.0, 1.0, 2.0});
  GradientTape tape({.persistent = true});
  tape.watch(at());
  tape.watch(w);
  const auto [loss, metric, mixed] = step(at(), w);
  EXPECT_EQ(tape.gradient(loss, {at()})[0].to_vector<double>(), (Doubles{2, 4, -24}));
  EXPECT_EQ(tape.gradient(mixed, {w})[0].to_vector<double>(), (Doubles{2, 2, 2}));
  EXPECT_THROWS(tape.gradient(mixed, {at()}), StateError, "host_call f" + kRefusal);
  EXPECT_THROWS(tape.gradient(metric, {w}), StateError, "host_call metric" + kRefusal);
  EXPECT_EQ(traced, 1);
}

TEST(HostDerivatives, Explained) {
  GradientTape tape({.persistent = true});
  tape.watch(at());
  const Tensor y = host(square, at()), z = y + at(), unused = at() * 2;
  for (const Tensor &target : {y, z}) {
    const std::string words = tape.explain(target, at());
    EXPECT_TRUE(words.starts_with("the gradient of the target by the source is an error at "))
        << words;
    EXPECT_NE(words.find("host_call f" + kRefusal), std::string::npos) << words;
  }
  EXPECT_EQ(tape.explain(unused, at()), "the gradient of the target reaches the source");
}

TEST(HostDerivatives, NameTheLine) {
  const Tensor &x = at();
  unsigned line = 0;
  const auto f = [&](const Tensor &v) {
    line = __LINE__ + 1;
    return sum(host_call([](const Tensor &a) { return a; }, {.results = {spec(f64, {3})}}, v));
  };
  for (const bool compiled : {false, true}) try {
      static_cast<void>(compiled ? function(grad(f))(x) : grad(f)(x));
      ADD_FAILURE() << "threw nothing";
    } catch (const StateError &error) {
      EXPECT_EQ(error.location().line, line);
    }
}

} // namespace
} // namespace weft
