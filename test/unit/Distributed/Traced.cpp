// What every rank does in tests of traced collectives and their derivatives.
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "Ranks.h"

namespace weft::distributed::tests {

namespace {

using Function = std::function<Tensor(const Tensor &)>;

struct Case {
  std::string name;
  Function op;
  Shape shape; ///< of its operand on this rank
};

int here() { return Group().rank(); }
int count() { return Group().size(); }

std::vector<std::pair<int, int>> ring() {
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < count(); ++i) pairs.emplace_back(i, (i + 1) % count());
  return pairs;
}

/// The group of the even ranks, or of the odd ones, backwards.
const Group &half() {
  static const auto &group = *new Group(Group().split(here() % 2, -here()));
  return group;
}

std::vector<Case> cases() {
  half(); // which is made at once
  const std::int64_t n = count();
  const auto [begin, end] = Group().share(5 + n);
  const std::int64_t own = end - begin, replicas = 5 + n;
  const std::string words[] = {"sum", "mean", "max", "min"};
  std::vector<Case> all;
  for (const Reduction by : {Reduction::sum, Reduction::mean, Reduction::max, Reduction::min}) {
    const std::string word = words[static_cast<int>(by)];
    all.push_back({"all_reduce " + word, [=](auto &x) { return all_reduce(x, by); }, {2, 3}});
    all.push_back({"all_reduce_replicas " + word,
                   [=](auto &x) { return all_reduce_replicas(x, replicas, by); },
                   {own, 3}});
    all.push_back(
        {"reduce_scatter " + word, [=](auto &x) { return reduce_scatter(x, by, -1); }, {2, 2 * n}});
  }
  all.push_back({"all_gather", [](auto &x) { return all_gather(x, 1); }, {2, 3}});
  all.push_back({"all_to_all", [](auto &x) { return all_to_all(x, 1, 0); }, {2, 2 * n}});
  all.push_back({"broadcast", [](auto &x) { return broadcast(x, count() - 1); }, {2, 3}});
  all.push_back({"permute", [](auto &x) { return permute(x, ring()); }, {2, 3}});
  all.push_back({"a shift", [](auto &x) { return permute(x, {{0, count() - 1}}); }, {2, 3}});
  // What is the same on all ranks in between: the sum of all ranks, or all their parts, once.
  all.push_back({"all_reduce as one value",
                 [](auto &x) { return vary(all_reduce(x, Reduction::sum, {}, true)); },
                 {2, 3}});
  all.push_back({"all_gather as one value",
                 [](auto &x) { return vary(all_gather(x, 1, {}, true)); },
                 {2, 3}});
  all.push_back(
      {"split of an all_reduce",
       [](auto &x) { return split(all_reduce(x, Reduction::sum, {}, true), Group(), -1); },
       {2, 2 * n}});
  all.push_back({"split of what is gathered",
                 [](auto &x) { return split(sin(all_gather(x, 0, {}, true)), Group(), 1); },
                 {2, 2 * n}});
  all.push_back({"of a part", [](auto &x) { return all_reduce(x, Reduction::sum, half()); }, {4}});
  return all;
}

bool takes(const std::string &name, DType dtype) {
  if (name.ends_with("max") || name.ends_with("min"))
    return !is_complex(dtype) && !is_storage(dtype);
  if (name.ends_with("mean")) return is_inexact(dtype);
  return name.find("reduce") == std::string::npos && name != "of a part"
             ? !name.ends_with("gathered") || is_inexact(dtype) // it has a sine
             : dtype != DType::boolean && !is_storage(dtype);
}

Tensor values_of(const Shape &shape, DType dtype, double seed) {
  return values(here() * 7 + static_cast<std::int64_t>(seed), shape, dtype);
}

/// Small numbers that differ between ranks and places, without equal ones.
Tensor reals(const Shape &shape, double seed) { return values_of(shape, DType::f64, seed) * 0.01; }

} // namespace

void traced() {
  for (const Case &one : cases())
    for (const DType dtype :
         {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32,
          DType::f64, DType::c64, DType::c128, DType::f8e4m3fn}) {
      if (!takes(one.name, dtype)) continue;
      const auto compiled = function([&](const Tensor &x) { return one.op(x); });
      for (int i = 0; i < 2; ++i) {
        const Tensor x = values_of(one.shape, dtype, 3 * i);
        want(equal(compiled(x), one.op(x)),
             one.name + " compiled, of " + std::string(name_of(dtype)));
      }
    }
  const Tensor x = values_of({3, 2}, DType::f32, 1);
  // Sizes that the trace leaves open.
  const auto open = function([](const Tensor &t) { return all_gather(t * 2.0F, 0); },
                             {.signature = {spec(f32, {unknown, 2})}});
  want(equal(open(x), all_gather(x * 2.0F, 0)), "of unknown size");
  // Loops and branches on what all ranks have.
  const auto loop = function([](const Tensor &t) {
    return while_loop([](const Tensor &y) { return all_reduce(y.sum()) < 1e4F; },
                      [](const Tensor &y) { return y * 1.5F + abs(all_reduce(y)); }, t);
  });
  Tensor by_hand = x;
  while (all_reduce(by_hand.sum()).item<float>() < 1e4F)
    by_hand = by_hand * 1.5F + abs(all_reduce(by_hand));
  want(loop(x).shape() == x.shape(), "the shape of a loop");
  const Tensor difference = abs(loop(x) - by_hand).max() / abs(by_hand).max();
  want(difference.item<float>() < 1e-5F, "a loop until all ranks have enough");
  const auto counted = function([](const Tensor &t) {
    return for_loop(3, [](const Tensor &, const Tensor &y) { return all_reduce(y) * 0.5F; }, t);
  });
  want(equal(counted(x), all_reduce(all_reduce(all_reduce(x) * 0.5F) * 0.5F) * 0.5F),
       "a counted loop");
  const auto chosen = function([](const Tensor &t) {
    return cond(
        all_reduce(t.sum()) > 0.0F, [&] { return all_reduce(t); }, [&] { return t * 2.0F; });
  });
  want(equal(chosen(x), all_reduce(x.sum()).item<float>() > 0 ? all_reduce(x) : x * 2.0F),
       "a branch that all take");
  // One collective for all members, eager and traced.
  const auto members = vmap([](const Tensor &row) { return all_gather(row, 0); });
  const auto compiled_members = function([&](const Tensor &t) { return members(t); });
  want(equal(members(x), all_gather(x, 1)), "of members");
  want(equal(compiled_members(x), all_gather(x, 1)), "of members, compiled");
  const auto replicas =
      vmap([](const Tensor &own) { return all_reduce_replicas(own, 2 * count()); });
  const Tensor own = values_of({3, 2, 4}, DType::f32, 2);
  std::vector<Tensor> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(all_reduce_replicas(own[i], 2 * count()));
  want(equal(replicas(own), stack(rows)), "replicas of members");
  // A function in another one, a barrier, and a variable, in program order.
  Variable calls(zeros({}, DType::i32));
  const auto inner = function([&](const Tensor &t) {
    calls.assign_add(1);
    barrier();
    return all_reduce(t, Reduction::max);
  });
  const auto outer = function([&](const Tensor &t) { return inner(t) + inner(t * 2.0F); });
  want(equal(outer(x), all_reduce(x, Reduction::max) + all_reduce(x * 2.0F, Reduction::max)),
       "a function in another one");
  want(calls.value().item<int>() == 2, "a variable beside collectives");
}

namespace {

/// The sum over the ranks of what each differentiates.
double global(const Tensor &loss) { return all_reduce(loss).item<double>(); }

/// What a rank differentiates: each rank weighs elements in its own way.
Function loss_of(const Case &one) {
  return [&one](const Tensor &x) {
    const Tensor y = one.op(sin(x));
    const Shape shape = y.shape();
    return (values_of(shape, DType::f64, 5) * 0.02 * exp(y) + y * y * y).sum();
  };
}

void close(const Tensor &a, const Tensor &b, const std::string &what) {
  if (a.shape() != b.shape()) return want(false, what + ": its shape");
  const double off = abs(a - b).max().item<double>(), most = abs(b).max().item<double>();
  want(off <= 1e-6 * (1 + most),
       what + ": off by " + std::to_string(off) + " of " + std::to_string(most));
}

/// The derivative of the global function by this rank's elements: each rank's are moved in turn.
Tensor by_differences(const Function &loss, const Tensor &x) {
  constexpr double step = 1e-5;
  const Shape shape = x.shape();
  const Ints sizes(shape.begin(), shape.end());
  std::vector<double> slopes;
  const std::int64_t most = all_reduce(tensor({x.size()}), Reduction::max).item<std::int64_t>();
  for (int rank = 0; rank < count(); ++rank)
    for (std::int64_t i = 0; i < most; ++i) {
      const bool mine = rank == here() && i < x.size();
      const Tensor move =
          cast(arange(x.size()) == (mine ? i : -1), DType::f64).reshape(sizes) * step;
      const double slope = (global(loss(x + move)) - global(loss(x - move))) / (2 * step);
      if (mine) slopes.push_back(slope);
    }
  return tensor(slopes).reshape(sizes);
}

} // namespace

namespace {

/// Of what is the same on all ranks, which counts once: each makes something else of it, and all
/// have the sum. The gradient is the same on all of them.
void of_one_value(const std::string &name, const Function &part, const Shape &shape) {
  const Tensor x = values(2, shape, DType::f64) * 0.01, v = values(3, shape, DType::f64) * 0.01;
  const auto own = [&](const Tensor &t) {
    const Tensor y = part(sin(t));
    return (values_of(y.shape(), DType::f64, 5) * 0.02 * exp(y) + y * y * y).sum();
  };
  const auto loss = [&](const Tensor &t) {
    const Tensor sum = all_reduce(own(t), Reduction::sum, {}, true);
    return sum * sum * 0.5 + sum;
  };
  constexpr double step = 1e-5;
  const Ints sizes(shape.begin(), shape.end());
  std::vector<double> slopes;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Tensor move = cast(arange(x.size()) == i, DType::f64).reshape(sizes) * step;
    slopes.push_back((loss(x + move) - loss(x - move)).item<double>() / (2 * step));
  }
  const auto gradient = grad([&](const Tensor &t) { return loss(t); });
  const auto compiled = function([&](const Tensor &t) { return gradient(t); });
  for (const Tensor &got : {gradient(x), compiled(x)}) {
    close(got, tensor(slopes).reshape(sizes), name + " of one value");
    want(equal(broadcast(got), got), name + " of one value: the same on all ranks");
  }
  const auto along = [&](const Tensor &t) { return (gradient(t) * v).sum(); };
  const Tensor second = (gradient(x + v * step) - gradient(x - v * step)) / (2 * step);
  close(grad(along)(x), second, name + " of one value, twice");
  close(function([&](const Tensor &t) { return grad(along)(t); })(x), second,
        name + " of one value, twice and compiled");
  const Tensor rate = (loss(x + v * step) - loss(x - v * step)) / (2 * step);
  const auto tangent = [&](const Tensor &t) {
    return std::get<1>(jvp([&](const Tensor &s) { return loss(s); }, t, v));
  };
  close(tangent(x), rate, name + " of one value, forward");
  close(function([&](const Tensor &t) { return tangent(t); })(x), rate,
        name + " of one value, forward and compiled");
}

} // namespace

void derivatives() {
  of_one_value("vary", [](auto &x) { return vary(x); }, {2, 3});
  of_one_value("split", [](auto &x) { return split(x, Group(), 1); }, {2, 2 * count()});
  of_one_value("gathered",
               [](auto &x) {
                 const Tensor all = all_gather(split(x, Group(), 0) * 2.0, 0, {}, true);
                 return vary(all * all);
               },
               {count(), 2});
  const bool all = std::getenv("WEFT_LONG_TESTS") != nullptr; // ./x check long
  int number = 0;
  for (const Case &one : cases()) {
    const Function loss = loss_of(one);
    const Tensor x = reals(one.shape, 1), v = reals(one.shape, 2);
    const Tensor slopes = by_differences(loss, x);
    // By an eager tape, in a trace, and of compiled code.
    const auto gradient = grad([&](const Tensor &t) { return loss(t); });
    const Tensor eager = gradient(x);
    close(eager, slopes, one.name + ", by a tape");
    const auto compiled = function([&](const Tensor &t) { return gradient(t); });
    close(compiled(x), slopes, one.name + ", compiled");
    const auto traced_loss = function([&](const Tensor &t) { return loss(t); });
    const auto of_compiled = grad([&](const Tensor &t) { return traced_loss(t); });
    close(of_compiled(x), slopes, one.name + ", of what is compiled");
    // Forward.
    constexpr double step = 1e-5;
    const double rate = (global(loss(x + v * step)) - global(loss(x - v * step))) / (2 * step);
    const auto tangent = [&](const Tensor &t) {
      return std::get<1>(jvp([&](const Tensor &s) { return loss(s); }, t, v));
    };
    const auto near = [&](double got, const std::string &how) {
      want(std::abs(got - rate) <= 1e-6 * (1 + std::abs(rate)),
           one.name + how + ": " + std::to_string(got) + " is not " + std::to_string(rate));
    };
    near(global(tangent(x)), ", forward");
    near(global(function([&](const Tensor &t) { return tangent(t); })(x)),
         ", forward and compiled");
    // The second: the gradient of the product of the first with a vector. Of some: each compiles.
    if (!all && number++ % 3 != 0) continue;
    const auto along = [&](const Tensor &t) { return (gradient(t) * v).sum(); };
    const Tensor second = (gradient(x + v * step) - gradient(x - v * step)) / (2 * step);
    close(grad(along)(x), second, one.name + ", twice");
    close(function([&](const Tensor &t) { return grad(along)(t); })(x), second,
          one.name + ", twice and compiled");
    const auto along_compiled = [&](const Tensor &t) { return (of_compiled(t) * v).sum(); };
    close(grad(along_compiled)(x), second, one.name + ", twice, of what is compiled");
  }
}

void programs() {
  const bool other = here() == count() - 1;
  const auto differs = function([&](const Tensor &x) {
    const Tensor y = all_reduce(x);
    return other ? all_reduce(y, Reduction::max) : all_gather(y);
  });
  said([&] { differs(ones({2})); });
  said([&] { differs(ones({2})); });
  // What is not done together may differ, and sizes.
  const auto same = function([&](const Tensor &x) {
    const Tensor y = other ? x * 2.0F : x + 1.0F;
    return all_reduce(y.sum());
  });
  const float sum = same(ones({other ? 3 : 2})).item<float>();
  want(sum == 4.0F * static_cast<float>(count() - 1) + 6.0F, "programs that differ elsewhere");
  // One rank does at once what the others have compiled.
  const auto reduces = function([](const Tensor &x) { return all_reduce(x); });
  const Tensor total = other ? all_reduce(ones({2})) : reduces(ones({2}));
  want(total[0].item<float>() == static_cast<float>(count()), "at once beside compiled");
  // Shapes are compared as ever, with the line in the function.
  said([&] { reduces(ones({other ? 3 : 2})); });
  want(all_reduce(ones({1})).item<float>() == static_cast<float>(count()), "after errors");
}

void constants() {
  const bool other = here() == count() - 1;
  const int n = other ? 3 : 2;
  const Tensor x = ones({2});
  const auto reduces = [](const Tensor &, const Tensor &y) { return all_reduce(y); };
  // A number of C++, and the rows of a tensor of static size.
  const auto counted = function([&](const Tensor &t) { return for_loop(n, reduces, t); });
  for (int i = 0; i < 2; ++i) said([&] { counted(x); });
  const auto rows = function([](const Tensor &t) {
    return scan(
        [](const Tensor &sum, const Tensor &row) {
          const Tensor next = sum + all_reduce(row);
          return std::tuple(next, next);
        },
        tensor(0.0F), t);
  });
  said([&] { rows(ones({n})); });
  // A captured scalar, as a bound and as a condition.
  const Tensor bound = tensor(n), flag = tensor(other);
  const auto until = function([&](const Tensor &t) {
    return while_loop(
        [&](const Tensor &i, const Tensor &) { return i < bound; },
        [](const Tensor &i, const Tensor &y) { return std::tuple(i + 1, all_reduce(y)); }, 0, t);
  });
  said([&] { until(x); });
  const auto either = function([](const Tensor &t, const Tensor &doubles) {
    return cond(doubles, [&] { return all_reduce(t * 2.0F); }, [&] { return all_reduce(t); });
  });
  const auto chosen = function([&](const Tensor &t) { return either(t, flag); });
  said([&] { chosen(x); });
  // How a condition is computed of equal constants, in a function that is called in a loop.
  const auto inner = function([&](const Tensor &t, const Tensor &i) {
    return cond(other ? i < 1 : i > 1, [&] { return all_reduce(t); }, [&] { return t * 2.0F; });
  });
  const auto outer = function([&](const Tensor &t) {
    return for_loop(3, [&](const Tensor &i, const Tensor &y) { return inner(y, i); }, t);
  });
  said([&] { outer(x); });
  // The derivative, whose program calls the function.
  const auto gradient = grad([&](const Tensor &t) { return counted(t).sum(); });
  said([&] { gradient(x); });
  // An argument of C++, which is a constant of each trace. The rank that was called with another
  // number shares code between its traces, which takes the number like a captured tensor.
  const auto times =
      function([&](const Tensor &t, int turns) { return for_loop(turns, reduces, t); });
  said([&] { times(x, other ? 4 : 2); });
  const float size = static_cast<float>(count());
  want(times(x, 2)[0].item<float>() == size * size, "equal numbers behind different ones");
  said([&] { times(x, other ? 4 : 2); });
  said([&] { grad([&](const Tensor &t) { return times(t, other ? 2 : 4).sum(); })(x); });
  // What decides nothing may differ: beside a counter, and in what is reduced.
  const auto ring_like = function([&](const Tensor &t) {
    return std::get<2>(while_loop(
        [](const Tensor &i, const Tensor &, const Tensor &) { return i < 3; },
        [](const Tensor &i, const Tensor &slot, const Tensor &y) {
          return std::tuple(i + 1, slot + 1,
                            cond(
                                i > 0, [&] { return all_reduce(y + cast(slot, DType::f32)); },
                                [&] { return y; }));
        },
        0, here(), t));
  });
  double sum = 1;
  const double slots = size * (size - 1) / 2;
  for (int i = 1; i < 3; ++i) sum = size * sum + slots + size * i;
  want(ring_like(x)[0].item<float>() == static_cast<float>(sum), "what decides nothing");
  want(all_reduce(x)[0].item<float>() == size, "after errors");
}

void threads() {
  const auto twice =
      function([](const Tensor &x) { return all_reduce(all_reduce(x)); }, {.name = "twice"});
  const Tensor x = ones({2});
  twice(x);
  if (here() != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    return said([&] { twice(x); });
  }
  std::thread first([&] { said([&] { twice(x); }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  said([] { barrier(); });
  said([&] { twice(x); });
  first.join();
}

} // namespace weft::distributed::tests
