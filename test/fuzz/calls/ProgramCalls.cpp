// Calls of control flow, arrays, variables, derivatives, host calls and traced functions.
#include "Calls.h"

namespace weft::fuzz {

namespace {

/// A function that bodies apply to state: it may change dtype, shape or nothing.
Tensor step(std::uint64_t way, const Tensor &x) {
  switch (way) {
  case 0: return x + 1;
  case 1: return x * x;
  case 2: return x[newaxis];
  case 3: return sum(x);
  case 4: return cast(x, f64);
  case 5: return concatenate({x, x});
  case 6: return Tensor();
  default: return x;
  }
}

/// A function whose derivative is taken.
Tensor smooth(std::uint64_t way, const Tensor &x) {
  switch (way) {
  case 0: return sum(x * x);
  case 1: return sum(exp(x) * sin(x));
  case 2: return max(x);
  case 3: return x * 2;
  case 4: return cast(argmax(x), f32);
  case 5: return sum(matmul(x, x));
  case 6: return mean(sqrt(abs(x)) + power(x, 2.F));
  default: return sum(cumsum(x) / (1 + x * x));
  }
}

const CallEntry kCalls[] = {
    {"cond",
     [](Draw &draw) {
       const auto predicate = draw.operand("predicate");
       const Tensor x = draw.tensor("x");
       const std::uint64_t a = draw.choose(10), b = draw.choose(3) == 0 ? draw.choose(10) : a;
       return results(cond(predicate, [&] { return step(a, x); }, [&] { return step(b, x); }));
     },
     /*traceable=*/true,
     /*every_path=*/false},
    {"switch_case",
     [](Draw &draw) {
       const auto index = draw.operand("index");
       const Tensor x = draw.tensor("x");
       const std::uint64_t a = draw.choose(10);
       return results(switch_case(
           index, [&] { return step(a, x); }, [&] { return step(a, x + x); },
           [&] { return step(a, x); }));
     },
     /*traceable=*/true,
     /*every_path=*/false},
    {"while_loop",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       const std::uint64_t way = draw.choose(10), test = draw.choose(8);
       const auto [n, y] = while_loop(
           [&](Tensor i, Tensor state) {
             if (test == 0) return state < 1; // no scalar, or no end within four iterations
             if (test == 1) return i;         // no bool
             return i < 3;
           },
           [&](Tensor i, Tensor state) {
             check(i < 5, "a loop of few iterations");
             return std::tuple(i + 1, step(way, state));
           },
           0, x);
       return results(std::pair(n, y));
     },
     /*traceable=*/true,
     /*every_path=*/false},
    {"for_loop",
     [](Draw &draw) {
       const auto start = draw.value<std::int64_t>("start"), by = draw.value<std::int64_t>("step");
       const Tensor x = draw.tensor("x");
       const std::uint64_t way = draw.choose(10);
       // A few iterations, anywhere in i64: a body that does not fit is only seen where it runs.
       std::int64_t stop = start;
       for (std::uint64_t iterations = 1 + draw.choose(4); iterations > 0; --iterations)
         if (__builtin_add_overflow(stop, by, &stop)) stop = by > 0 ? INT64_MAX : INT64_MIN;
       const std::uint64_t kept = start == stop ? 9 : way;
       return results(
           for_loop({start, stop, by}, [&](Tensor, Tensor state) { return step(kept, state); }, x));
     }},
    {"scan",
     [](Draw &draw) {
       const Tensor init = draw.tensor("init"), xs = draw.tensor("xs");
       const std::uint64_t way = xs.rank() > 0 && xs.shape()[0] == 0 ? 9 : draw.choose(10);
       const bool reverse = draw.value<bool>("reverse");
       const auto [last, ys] =
           scan([&](Tensor carry, Tensor x) { return std::pair(step(way, carry), carry * x); },
                init, xs, {.reverse = reverse});
       return results(std::pair(last, ys));
     },
     /*traceable=*/true,
     /*every_path=*/false},
    {"TensorArray",
     [](Draw &draw) {
       const auto size = draw.operand("size"), index = draw.operand("index");
       const Tensor value = draw.tensor("value");
       const bool grows = draw.value<bool>("dynamic_size");
       TensorArray array(value.dtype(), value.shape(), size, {.dynamic_size = grows});
       array = array.write(index, value).append(value);
       switch (draw.choose(4)) {
       case 0: return results(array.read(draw.operand("read")));
       case 1: return results(array.gather(draw.operand("indices")));
       case 2: return results(array.stack());
       default: return results(array.concat());
       }
     }},
    {"TensorArray::unstack",
     [](Draw &draw) {
       const auto x = draw.operand("x"), index = draw.operand("index");
       return results(TensorArray::unstack(x).read(index));
     }},
    {"Variable",
     [](Draw &draw) {
       const auto initial = draw.operand("initial"), value = draw.operand("value");
       const auto name = draw.value<std::string>("name");
       const Variable variable(initial, name);
       switch (draw.choose(3)) {
       case 0: variable.assign(value); break;
       case 1: variable.assign_add(value); break;
       default: variable.assign_sub(value); break;
       }
       return results(variable.value());
     },
     false},
    {"GradientTape",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x"), weight = draw.tensor("weight");
       const std::uint64_t way = draw.choose(8);
       GradientTape tape({.persistent = draw.value<bool>("persistent")});
       tape.watch(x);
       const Tensor y = smooth(way, x);
       GradientOptions options;
       if (draw.choose(2) == 0) options.output_gradients = {weight};
       options.unconnected = static_cast<Unconnected>(draw.choose(30) == 0 ? 9 : draw.choose(2));
       // With y, as compiled code leaves out an op that nobody uses the result of, with its errors.
       switch (draw.choose(4)) {
       case 0: return results(std::pair(y, tape.jacobian(y, x)));
       case 1: return results(std::pair(y, tape.batch_jacobian(y, x)));
       case 2:
         return results(std::tuple(y, tape.gradient(y, x, options), tape.gradient(y, weight)));
       default: return results(std::pair(y, tape.gradient(y, x, options)));
       }
     }},
    {"grad",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       const std::uint64_t way = draw.choose(8);
       const auto f = [&](const Tensor &at) { return smooth(way, at); };
       switch (draw.choose(4)) {
       case 0: return results(grad(f)(x));
       case 1: return results(jacobian(f)(x));
       case 2: return results(grad([&](const Tensor &at) { return sum(grad(f)(at)); })(x));
       default: return results(value_and_grad(f)(x));
       }
     }},
    {"vjp and jvp",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x"), along = draw.tensor("along");
       // Not of an argmax, which has no derivative: compiled code does not look at a tangent for
       // it.
       const std::uint64_t drawn = draw.choose(8), way = drawn == 4 ? 3 : drawn;
       const auto f = [&](const Tensor &at) { return smooth(way, at); };
       if (draw.choose(2) == 0) return results(jvp(f, x, along));
       const auto [y, pull] = vjp(f, x);
       return results(std::pair(y, pull(along)));
     }},
    {"custom_gradient",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x"), wrong = draw.tensor("gradient");
       const bool fits = draw.choose(3) != 0;
       const auto f = custom_gradient([&](const Tensor &at) {
         return Pullback{at * at, [=](const Tensor &dy) { return fits ? dy * at : wrong; }};
       });
       return results(grad([&](const Tensor &at) { return sum(f(at)); })(x));
     }},
    {"recompute",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       const std::uint64_t way = draw.choose(8);
       return results(grad(recompute([&](const Tensor &at) { return smooth(way, at); }))(x));
     }},
    {"host_call",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x"), given = draw.tensor("given");
       const std::uint64_t way = draw.choose(4);
       HostCallOptions options{.results = {x.type()}, .name = draw.value<std::string>("name")};
       if (way == 1) options.results = {{given.dtype(), Shape{7}}};
       if (way == 2) options.results.push_back(x.type());
       if (way == 3) options.results = {{draw.value<DType>("dtype"), draw.value<Shape>("shape")}};
       return results(host_call([](const Tensor &value) { return value; }, std::move(options), x));
     }},
    {"function with a signature",
     [](Draw &draw) {
       const Tensor x = draw.tensor("x");
       FunctionOptions options{.name = draw.value<std::string>("name")};
       const Shape shape =
           draw.choose(2) == 0 ? Shape(x.shape().size(), unknown) : draw.value<Shape>("shape");
       options.signature = {{draw.choose(4) == 0 ? draw.value<DType>("dtype") : x.dtype(), shape}};
       options.max_traces = draw.choose(6);
       return results(function([](const Tensor &at) { return at + at; }, std::move(options))(x));
     },
     false},
    {"function of undefined tensors",
     [](Draw &draw) {
       const auto x = draw.operand("x");
       const auto f = function([](const Tensor &at) { return at.defined() ? at + at : at; });
       return results(x.is_tensor() ? f(x.tensor()) : f(Operand(x).materialize()));
     },
     false},
};

} // namespace

std::span<const CallEntry> program_calls() { return kCalls; }

} // namespace weft::fuzz
