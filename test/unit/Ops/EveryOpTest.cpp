// Every op of the table, for every dtype it admits: eager, traced, parsed, folded and compiled for
// unknown sizes are the same, and of the type that the shape function said.
#include "Calls.h"
#include "Text.h"

#include <algorithm>
#include <map>

#include "../OpSamples.h"
#include "../Testing.h"
#include "Ops/Interpreter.h"
#include <weft/function.h>

namespace weft {
namespace {

using test::Call;
using test::calls_of;
using test::same_bits;

using Tensors = std::vector<Tensor>;

/// Of the calls of each sample so many, on dtypes that are the next ones in turn: loops are alike
/// for all of them, and compiling takes its time.
std::vector<std::size_t> some_of_each_sample(const std::vector<Call> &calls, std::size_t most) {
  std::vector<std::size_t> chosen;
  for (std::size_t first = 0; first < calls.size();) {
    std::size_t count = 0;
    while (first + count < calls.size() && calls[first + count].sample == calls[first].sample)
      ++count;
    const std::size_t some = std::min(count, most);
    for (std::size_t i = 0; i < some; ++i)
      chosen.push_back(first + (calls[first].sample + i * count / some) % count);
    std::ranges::sort(chosen.end() - static_cast<std::ptrdiff_t>(some), chosen.end());
    first += count;
  }
  return chosen;
}

class EveryOp : public testing::TestWithParam<const OpInfo *> {
protected:
  void SetUp() override {
    ASSERT_FALSE(calls().empty()) << "the record of " << info().name << " has no samples";
  }

  static const OpInfo &info() { return *GetParam(); }
  /// The op's calls, created once for all tests.
  static const std::vector<Call> &calls() {
    static auto *all = new std::map<OpCode, std::vector<Call>>;
    auto found = all->find(info().op);
    if (found == all->end()) found = all->emplace(info().op, calls_of(info())).first;
    return found->second;
  }

  static void append(Tensors &all, const Tensors &more) {
    all.insert(all.end(), more.begin(), more.end());
  }

  /// The results of all calls, one after the other.
  static const Tensors &eager() {
    static auto *results = new std::map<OpCode, Tensors>;
    auto found = results->find(info().op);
    if (found != results->end()) return found->second;
    Tensors now;
    for (const Call &call : calls()) append(now, dispatch_all(call.op, call.operands, call.attrs));
    return results->emplace(info().op, std::move(now)).first->second;
  }

  /// The operands of all calls, one after the other.
  static Tensors operands() {
    Tensors all;
    for (const Call &call : calls())
      all.insert(all.end(), call.operands.begin(), call.operands.end());
    return all;
  }

  /// The types of operands with their sizes unknown.
  static auto open_types(const Tensors &operands) {
    decltype(FunctionOptions::signature) types;
    for (const Tensor &operand : operands) {
      TensorType type = operand.type();
      // Whether a size is 1, and broadcasts, must be known.
      for (std::int64_t &dim : type.shape)
        if (dim != 1) dim = unknown;
      types.push_back(std::move(type));
    }
    return types;
  }

  /// All calls as one function, which takes little longer to compile than one of them.
  static Tensors call_all(const Tensors &operands) {
    Tensors results;
    auto next = operands.begin();
    for (const Call &call : calls()) {
      const auto end = next + static_cast<std::ptrdiff_t>(call.operands.size());
      append(results, dispatch_all(call.op, Tensors(next, end), call.attrs));
      next = end;
    }
    return results;
  }
  static std::string name() { return "all_of_" + std::string(info().cpp_name); }

  static void expect_eager(const Tensors &results) {
    ASSERT_EQ(results.size(), calls().size() * info().results);
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(same_bits(eager()[i], results[i]))
          << calls()[i / info().results].name << ", result " << i % info().results;
  }

  /// At most so many calls of each sample, as one function.
  struct Some {
    std::vector<std::size_t> chosen;
    Tensors operands, expected;

    explicit Some(std::size_t most) : chosen(some_of_each_sample(calls(), most)) {
      for (const std::size_t i : chosen) {
        append(operands, calls()[i].operands);
        for (std::size_t r = 0; r < info().results; ++r)
          expected.push_back(eager()[i * info().results + r]);
      }
    }

    Tensors call_all(const Tensors &given) const {
      Tensors results;
      auto next = given.begin();
      for (const std::size_t i : chosen) {
        const auto end = next + static_cast<std::ptrdiff_t>(calls()[i].operands.size());
        append(results, dispatch_all(info().op, Tensors(next, end), calls()[i].attrs));
        next = end;
      }
      return results;
    }

    void expect_eager(const Tensors &results) const {
      ASSERT_EQ(results.size(), expected.size());
      for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_TRUE(same_bits(expected[i], results[i]))
            << calls()[chosen[i / info().results]].name << ", result " << i % info().results;
    }
  };
};

TEST_P(EveryOp, ShapeFunctionMatchesExecution) {
  for (std::size_t i = 0; i < calls().size(); ++i) {
    const Call &call = calls()[i];
    std::vector<TensorType> types;
    for (const Tensor &operand : call.operands) types.push_back(operand.type());
    std::vector<TensorType> all(info().results);
    Result<TensorType> inferred = infer({call.op, types, call.attrs, std::span(all).subspan(1)});
    ASSERT_TRUE(inferred) << call.name << ": " << inferred.fault().message;
    all[0] = *inferred;
    for (std::size_t r = 0; r < all.size(); ++r)
      EXPECT_EQ(to_string(eager()[i * all.size() + r].type()), to_string(all[r])) << call.name;
  }
}

TEST_P(EveryOp, TracedAndParsedEqualsEager) {
  const Some some(long_tests() ? calls().size() : 2);
  some.expect_eager(test::run_as_text(
      name(), [&](const Tensors &given) { return some.call_all(given); }, some.operands));
}

TEST_P(EveryOp, FoldedEqualsEager) {
  // On constants, which the phase simplify executes.
  auto constants = function(
      [] {
        Tensors all;
        for (const Tensor &operand : operands())
          all.push_back(dispatch(OpCode::constant, {}, Attrs{test::constant_of(operand)}));
        return call_all(all);
      },
      {.name = name()});
  expect_eager(constants());
  if (info().op == OpCode::constant) return;
  // What is small must not be left for run time, but for what ranks do together; a recipe for a
  // large tensor may stay.
  std::size_t left = 0, large = 0;
  const std::string text = constants.ir(Phase::simplify),
                    op = " weft." + std::string(info().name) + " ";
  for (std::size_t at = text.find(op); at != std::string::npos; at = text.find(op, at + 1)) ++left;
  for (std::size_t i = 0; i < eager().size();) {
    std::size_t bytes = 0; // of one call
    for (std::size_t r = 0; r < info().results; ++r, ++i)
      bytes += static_cast<std::size_t>(eager()[i].size()) * item_size(eager()[i].dtype());
    large += bytes > 1024;
  }
  // Of what may be cut nothing is left to say once the program is.
  if (info().op == OpCode::shard) EXPECT_EQ(left, 0) << text;
  else if (info().kind == OpKind::collective) EXPECT_EQ(left, eager().size()) << text;
  else EXPECT_LE(left, large) << text;
}

TEST_P(EveryOp, UnknownSizesEqualEager) {
  // Such loops take three times as long to compile.
  const Some some(long_tests() ? 2 : 1);
  if (some.operands.empty()) return;
  some.expect_eager(
      function([&](const Tensors &given) { return some.call_all(given); },
               {.name = name(), .signature = open_types(some.operands)})(some.operands));
}

/// The calls with every size of a list as an operand, on their operands and those.
struct OnValues {
  std::vector<Attrs> attrs;
  Tensors operands;
  std::vector<std::size_t> ends;

  OnValues(const OpInfo &info, const std::vector<Call> &calls) {
    for (const Call &call : calls) {
      operands.insert(operands.end(), call.operands.begin(), call.operands.end());
      attrs.push_back(call.attrs);
      for (std::size_t i = 0; i < info.attrs.size(); ++i) {
        if (!info.attrs[i].takes_values) continue;
        for (std::int64_t &size : std::get<Ints>(attrs.back()[i])) {
          if (size < 0) continue; // which follows
          operands.push_back(tensor(size));
          size = detail::kDynamic;
        }
      }
      ends.push_back(operands.size());
    }
  }

  Tensors call_all(OpCode op, const Tensors &given) const {
    Tensors results;
    std::size_t first = 0;
    for (std::size_t i = 0; i < attrs.size(); ++i) {
      results.push_back(dispatch(op, std::span(given).subspan(first, ends[i] - first), attrs[i]));
      first = ends[i];
    }
    return results;
  }
};

TEST_P(EveryOp, SizesThatAreValuesEqualEager) {
  if (!info().takes_sizes()) return;
  const OnValues values(info(), calls());
  const auto call = [&](const Tensors &given) { return values.call_all(info().op, given); };
  expect_eager(call(values.operands));
  expect_eager(test::run_as_text(name(), call, values.operands));
  expect_eager(
      function(call, {.name = name(), .signature = open_types(values.operands)})(values.operands));
  // Those that are known become numbers again.
  const auto constants = function(
      [&] {
        Tensors all;
        for (const Tensor &operand : values.operands)
          all.push_back(dispatch(OpCode::constant, {}, Attrs{test::constant_of(operand)}));
        return call(all);
      },
      {.name = name()});
  expect_eager(constants());
}

std::vector<const OpInfo *> pure_ops() {
  std::vector<const OpInfo *> ops;
  for (const OpInfo &info : all_ops())
    if (info.kind != OpKind::effect && info.results != 0) ops.push_back(&info);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOp, testing::ValuesIn(pure_ops()),
                         [](const auto &info) { return std::string(info.param->cpp_name); });

} // namespace
} // namespace weft
