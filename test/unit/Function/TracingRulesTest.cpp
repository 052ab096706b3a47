// The rules of tracing, case by case: F01 to F15 are the rows of the list that the project keeps of
// what traced functions of other libraries do, and where Weft's rule is meant to be better.
#include "../Testing.h"

#include <optional>

#include "Printed.h"
#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(TracingRules, F01OneTracePerType) {
  int runs = 0;
  auto twice = function([&](const Tensor &x) {
    ++runs;
    return x + x;
  });
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(twice(tensor(1)).item<int>(), 2);
    EXPECT_FLOAT_EQ(twice(tensor(1.1f)).item<float>(), 2.2f);
    EXPECT_EQ(twice(tensor({1, 2})).to_vector<int>(), (std::vector<int>{2, 4}));
  }
  EXPECT_EQ(runs, 3);
}

TEST(TracingRules, F02LiteralsByValueTensorsByType) {
  int runs = 0;
  auto f = function([&](const auto &x) {
    ++runs;
    return x + tensor(1);
  });
  EXPECT_EQ(f(1).template item<int>(), 2);
  EXPECT_EQ(f(2).template item<int>(), 3);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f(tensor(1)).template item<int>(), 2);
  EXPECT_EQ(f(tensor(2)).template item<int>(), 3);
  EXPECT_EQ(runs, 3);
}

TEST(TracingRules, F03LiteralsByType) {
  auto f = function([](const auto &x) { return tensor(1.f) * x; });
  for (int again = 0; again < 2; ++again) {
    static_cast<void>(f(1));
    static_cast<void>(f(1.0));
    static_cast<void>(f(true));
  }
  EXPECT_EQ(f.trace_count(), 3u);
}

TEST(TracingRules, F04Structure) {
  auto f = function([](const auto &parts) {
    auto [a, b] = [&] {
      if constexpr (requires { parts[0]; }) return std::pair(parts[0], parts[1]);
      else return parts;
    }();
    return a + b;
  });
  const Tensor t = tensor({1.f});
  EXPECT_EQ(f(std::vector{t, t}).template item<float>(), 2);
  EXPECT_EQ(f(std::pair{t, t}).template item<float>(), 2);
  EXPECT_EQ(f.trace_count(), 2u);
}

TEST(TracingRules, F05VariablesByWhichAreTheSame) {
  auto f = function([](const Variable &a, const Variable &b) {
    a.assign_add(1.f);
    return a * 10 + b;
  });
  const Variable u(5.f, "u"), v(1.f, "v"), w(3.f, "w");
  EXPECT_EQ(f(v, v).item<float>(), 22);
  EXPECT_EQ(f(v, w).item<float>(), 33);
  EXPECT_EQ(f(w, v).item<float>(), 43);
  EXPECT_EQ(f(u, u).item<float>(), 66);
  EXPECT_EQ(f.trace_count(), 2u);
  EXPECT_EQ(v.value().item<float>(), 3);
  EXPECT_EQ(w.value().item<float>(), 4);
  EXPECT_EQ(u.value().item<float>(), 6);
  EXPECT_EQ(f.explain(u, v), "function: hit");
}

TEST(TracingRules, F05VariablesThatAreAlsoCaptured) {
  const Variable own(1.f, "own"), other(10.f, "other"), third(100.f, "third");
  auto f = function([&](const Variable &v) {
    v.assign_add(1.f);
    return v * 1000 + own;
  });
  EXPECT_EQ(f(own).item<float>(), 2002);
  EXPECT_EQ(f.explain(other),
            "function: miss: variable 0 of the call was the variable 'own', which "
            "the function also captures");
  EXPECT_EQ(f(other).item<float>(), 11002);
  EXPECT_EQ(f(third).item<float>(), 101002);
  EXPECT_EQ(f(own).item<float>(), 3003);
  EXPECT_EQ(f.trace_count(), 2u);
}

TEST(TracingRules, F06SizesAreLeftOpenAtTheSecondMiss) {
  int runs = 0;
  auto f = function([&](const Tensor &x) {
    ++runs;
    return x * 2;
  });
  for (std::int64_t size : {1, 2, 3, 4, 1, 100})
    EXPECT_EQ(f(ones({size})).to_vector<float>(), Floats(static_cast<std::size_t>(size), 2.f));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(f.trace_count(), 2u);
}

TEST(TracingRules, F07SignaturesOfAnyRank) {
  int runs = 0;
  auto f = function(
      [&](const Tensor &x) {
        ++runs;
        return x * 2;
      },
      {.name = "twice", .signature = {spec(f32, any_rank)}});
  EXPECT_EQ(f(tensor(1.f)).item<float>(), 2);
  EXPECT_EQ(f(tensor({1.f})).to_vector<float>(), (Floats{2}));
  EXPECT_EQ(f(tensor({1.f, 2.f})).to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(f(ones({2, 2})).to_vector<float>(), (Floats{2, 2, 2, 2}));
  EXPECT_EQ(f(ones({1, 3})).to_vector<float>(), (Floats{2, 2, 2}));
  EXPECT_EQ(runs, 3); // one per rank
  EXPECT_THROWS(f(tensor({1})), DTypeError,
                "twice: tensor 0 of the arguments is i32(1,), but the signature says f32(...)");
}

TEST(TracingRules, F08AVariableCreatedByEachCall) {
  auto f = function(
      [](const Tensor &x) {
        const Variable v(1.f, "v");
        v.assign_add(x);
        return v.value();
      },
      {.name = "fresh"});
  for (int again = 0; again < 2; ++again)
    EXPECT_THROWS(f(tensor(1.f)), StateError,
                  "fresh: the variable 'v' is created anew by each call and kept nowhere, so that "
                  "traced it would be one for all calls; make it outside of the function, or in "
                  "its first call alone and keep it where later calls find it");
}

TEST(TracingRules, F09AVariableCreatedByTheFirstCall) {
  int runs = 0;
  std::optional<Variable> v;
  auto f = function([&](const Tensor &x) {
    ++runs;
    if (!v) v.emplace(exp(zeros({2})) * 3 + 1, "v");
    v->assign_add(x);
    return v->value();
  });
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (Floats{5, 5}));
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (Floats{6, 6}));
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(v->value().to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(runs, 1);
}

TEST(TracingRules, F09InitialValuesThatDoNotExistYet) {
  std::optional<Variable> v;
  const Variable other(2.f, "other");
  const auto words = [](const std::string &why) {
    return "Variable: the initial value of 'v' depends on " + why +
           " of the traced function 'made', which has no value while it is traced; make the "
           "variable outside of the function, or begin with another value and assign this one";
  };
  auto f = function(
      [&](const Tensor &x) {
        if (!v) v.emplace(x * 2, "v");
        return v->value();
      },
      {.name = "made"});
  EXPECT_THROWS(f(tensor(1.f)), StateError, words("an argument"));
  auto g = function(
      [&](const Tensor &x) {
        other.assign(x);
        v.emplace(other * 2, "v");
        return v->value();
      },
      {.name = "made"});
  EXPECT_THROWS(g(tensor(1.f)), StateError, words("an assignment"));
  auto h = function(
      [&] {
        v.emplace(other * 2, "v");
        return v->value();
      },
      {.name = "made"});
  EXPECT_EQ(h().item<float>(), 4);
}

TEST(TracingRules, F10HostCodeRunsOncePerTrace) {
  std::vector<int> list;
  auto f = function([&](const Tensor &x) {
    list.push_back(1);
    return x;
  });
  for (int i = 0; i < 3; ++i) static_cast<void>(f(tensor(1.f)));
  EXPECT_EQ(list.size(), 1u);
}

struct Counter {
  std::optional<Variable> tensor_count;
  int host_count = 0;
  std::function<Tensor()> step = function([this] {
    if (!tensor_count) tensor_count.emplace(0, "count");
    ++host_count;
    tensor_count->assign_add(1);
    return tensor_count->value();
  });
};

TEST(TracingRules, F11CountersOfTheHostAndInVariables) {
  Counter counter;
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(counter.step().item<int>(), i);
    EXPECT_EQ(counter.host_count, 1);
  }
}

TEST(TracingRules, F12TensorsThatLeaveTheirTrace) {
  Tensor kept;
  auto leak = function(
      [&](const Tensor &x) {
        kept = x + 1;
        return x;
      },
      {.name = "leak"});
  auto uses = function([&](const Tensor &x) { return x + kept; }, {.name = "uses"});
  static_cast<void>(leak(tensor(1.f)));
  EXPECT_THROWS(uses(tensor(1.f)), StateError,
                "a tensor of the traced function 'leak' is used while tracing 'uses': a tensor may "
                "not leave its trace; return it instead");
}

TEST(TracingRules, F13HostValuesAreReadWhenTraced) {
  int foo = 1;
  const Variable kept(1, "kept");
  auto f = function([&](const Tensor &x) { return x + foo; });
  auto g = function([&](const Tensor &x) { return x + kept; });
  EXPECT_EQ(f(tensor(1)).item<int>(), 2);
  EXPECT_EQ(g(tensor(1)).item<int>(), 2);
  foo = 100;
  kept.assign(100);
  EXPECT_EQ(f(tensor(1)).item<int>(), 2);
  EXPECT_EQ(g(tensor(1)).item<int>(), 101);
}

TEST(TracingRules, F14WhatNobodyUsesDoesNotRun) {
  const auto work = [](const Tensor &table, const Tensor &at) {
    static_cast<void>(gather(table, at));
    return table;
  };
  EXPECT_THROW(static_cast<void>(work(tensor({0.f}), tensor({1}))), IndexError);
  EXPECT_EQ(function(work)(tensor({0.f}), tensor({1})).item<float>(), 0);
}

TEST(TracingRules, F15AssignmentsKeepTheirOrder) {
  const Variable a(0.f, "a"), b(0.f, "b");
  auto f = function([&] {
    a.assign(2.f);
    b.assign(3.f);
    return a + b;
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(f().item<float>(), 5);
}

TEST(TracingRules, OneFunctionPerObjectAndNothingLeft) {
  const std::size_t before = memory_stats().current;
  std::weak_ptr<Counter> gone;
  {
    auto a = std::make_shared<Counter>(), b = std::make_shared<Counter>();
    gone = a;
    EXPECT_EQ(a->step().item<int>(), 1);
    EXPECT_EQ(a->step().item<int>(), 2);
    EXPECT_EQ(b->step().item<int>(), 1);
  }
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(memory_stats().current, before);
}

TEST(TracingRules, StandInsDoNotLeaveTheirTrace) {
  std::optional<Variable> kept;
  auto keep = function(
      [&](const Variable &v) {
        kept = v;
        return std::pair{v.value(), v};
      },
      {.name = "keep"});
  const Variable v(1.f, "v"), w(2.f, "w");
  EXPECT_TRUE(keep(v).second == v); // results have the call's own
  EXPECT_TRUE(keep(w).second == w);
  const std::string words = "the variable 'v' stands for an argument of a traced function and was "
                            "used outside of its trace: keep the variable that you passed instead";
  EXPECT_THROWS(kept->value(), StateError, words);
  EXPECT_THROWS(kept->assign(1.f), StateError, "assign: " + words);
  EXPECT_THROWS(kept->assign_add(1.f), StateError, "assign_add: " + words);
  auto other = function([&] { return kept->value(); }, {.name = "other"});
  EXPECT_THROWS(other(), StateError, "other: " + words);
}

} // namespace
} // namespace weft
