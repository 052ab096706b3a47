// Every part of the API that crosses into the library by a template, run: what it prints is in
// compilers.test.
#include "program.h"

#include <array>
#include <iostream>
#include <map>

using namespace weft;

namespace {

struct State {
  Tensor a;
  std::vector<Tensor> more;
  std::map<std::string, Tensor> named;
  WEFT_FIELDS(State, a, more, named)
};

void elements() {
  std::cout << tensor(true).item<bool>() << tensor(2).item<int>() << tensor(3LL).item<long long>()
            << tensor(std::int64_t{4}).item<std::int64_t>() << tensor(5.5f).item<float>() << ' '
            << tensor(6.5).item<double>() << ' ' << tensor(7).item<float>() << '\n';
  std::cout << tensor({1.f, 2.f}) << tensor({{1, 2}, {3, 4}}) << tensor({{{1.0}, {2.0}}})
            << tensor({1, 2.5}) << '\n';
  std::cout << tensor(std::vector<float>{1, 2}, {2, 1})
            << tensor(std::vector<bool>{true, false}, {2}) << '\n';
  const Tensor x = tensor({1.f, 2.f, 3.f});
  for (float value : x.span<float>()) std::cout << value << ' ';
  for (double value : x.to_vector<double>()) std::cout << value << ' ';
  for (bool value : tensor({true, false}).to_vector<bool>()) std::cout << value << ' ';
  std::cout << x.dtype() << ' ' << x.device() << ' ' << x.shape() << ' ' << x[{std::size_t{1}}]
            << '\n';
  std::cout << x + std::uint64_t{18446744073709551615u} << full({2}, 7, i64)
            << add({1, 2}, {0.5f, 1.f}) << '\n';
}

void derivatives() {
  auto f = [](Tensor x, Tensor y) { return sum(x * y); };
  const auto [value, gradients] = value_and_grad<0, 1>(f)(2.f, tensor(3.f));
  std::cout << value << std::get<0>(gradients) << std::get<1>(gradients) << '\n';
  std::cout << hessian([](Tensor x) { return sum(x * x * x); })(tensor({1.f, 2.f})) << '\n';
  const auto [at, pull] = vjp(f, 2.f, 3.f);
  std::cout << at << std::get<1>(pull(ones({})))
            << jvp(f, std::tuple(2.f, 3.f), std::tuple(1.f, 0.f)).second << '\n';
  auto halved =
      custom_gradient([](Tensor x) { return Pullback{x, [](Tensor dy) { return dy / 2; }}; });
  std::cout << grad(halved)(1.f) << grad(recompute([](Tensor x) { return x * x; }))(3.f) << '\n';
  Variable w(ones({2}), "w"), b(ones({}), "b");
  GradientTape tape({.persistent = true});
  const Tensor loss = sum(w * w) * b;
  auto [dw, db] = tape.gradient(loss, {w, b});
  const std::vector<Tensor> list = tape.gradient(loss, std::vector{w, b});
  const auto [tw, tb] = tape.gradient(loss, std::tuple(w, b));
  std::cout << dw << db << list[1] << tb << tape.gradient(loss, b)
            << tape.jacobian(w * b, std::array{b})[0] << '\n';
}

void functions() {
  auto step = function([](const State &state, double by) {
    State next = state;
    next.a = state.a + by;
    next.named["more"] = state.more.at(0) * by;
    return next;
  });
  const State state{ones({2}), {ones({})}, {{"more", zeros({})}}};
  std::cout << step(state, 0.5).a << step(state, 2.0).named.at("more") << '\n';
  auto loops = function([](Tensor x) {
    auto [i, y] = while_loop([](Tensor n, Tensor) { return n < 3; },
                             [](Tensor n, Tensor z) { return std::tuple(n + 1, z * 2); }, 0, x);
    auto [carry, sums] =
        scan([](Tensor c, Tensor s) { return std::pair(c + s, c + s); }, 0.f, ones({3}));
    Tensor chosen = cond(y > 5, [&] { return y; }, [&] { return y + carry; });
    if_(chosen > 0, [&] { print("chosen {}", chosen); });
    Tensor called =
        host_call([](const Tensor &t) { return t + 1; }, {.results = {spec(f32, {})}}, chosen);
    return std::tuple(called, sums, switch_case(i, [&] { return x; }, [&] { return y; }));
  });
  const auto [called, sums, last] = loops(tensor(1.f));
  std::cout << called << sums << last << '\n';
  TensorArray array(f32, {}, 0);
  std::cout << array.append(1.f).append(2.f).stack() << random::uniform({2}, {.seed = 1}).shape()
            << '\n';
}

void layers() {
  struct Model { // a local struct with fields warns of nothing
    nn::MultiHeadAttention attention{4, {.heads = 2}};
    WEFT_FIELDS(Model, attention)
  } model;
  const Tensor x = ones({1, 2, 4});
  std::cout << model.attention(x, {.training = true}).shape()
            << model.attention(x, x, {.training = true}).shape()
            << nn::trainable_variables(model).size() << '\n';
}

} // namespace

int main() {
  elements();
  layers();
  derivatives();
  functions();
  std::cout << from_first(tensor({1.f, 2.f})) << traced_in_first()(tensor(1.f)) << '\n';
  Variable total(zeros({}), "total");
  fill(total, {tensor(1.f), tensor(2.f)});
  std::cout << total.value() << '\n';
  try {
    static_cast<void>(add(ones({2}), ones({3})));
  } catch (const ShapeError &error) {
    std::cout << "ShapeError " << error.what() << '\n';
  }
}
