// The chain of interpreters of a thread.
#include "Ops/Interpreter.h"

#include <gtest/gtest.h>

#include <thread>

#include <weft/ops.h>

namespace weft {
namespace {

/// Notes the ops it sees and hands them to its predecessor.
struct Notes : Interpreter {
  std::vector<std::string> seen;

  Tensor apply(const OpCall &call) override {
    seen.emplace_back(op_info(call.op).name);
    const Scope under(previous());
    return dispatch(call);
  }
};

TEST(Interpreter, SeesEveryCallWhileCurrent) {
  Notes notes;
  push_interpreter(&notes);
  const Tensor y = tensor({1.f, 2.f}) * 2 + sum(tensor({3}));
  pop_interpreter(&notes);
  static_cast<void>(y + 1);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{5, 7}));
  EXPECT_EQ(notes.seen, (std::vector<std::string>{"multiply", "sum", "cast", "add"}));
}

TEST(Interpreter, IndexingAndVariablesAreCalls) {
  Notes notes;
  push_interpreter(&notes);
  static_cast<void>(arange(6).reshape({2, 3})[{1, slice({}, {}, -1)}]);
  pop_interpreter(&notes);
  EXPECT_EQ(notes.seen, (std::vector<std::string>{"reshape", "slice", "reverse", "reshape"}));
}

TEST(Interpreter, NestAndLeaveInAnyOrder) {
  Notes outer, inner;
  push_interpreter(&outer);
  push_interpreter(&inner);
  EXPECT_EQ(inner.previous(), &outer);
  static_cast<void>(negate(tensor(1)));
  EXPECT_EQ(inner.seen.size(), 1u);
  EXPECT_EQ(outer.seen.size(), 1u);
  pop_interpreter(&outer); // not the current one
  EXPECT_EQ(Interpreter::current(), &inner);
  EXPECT_EQ(inner.previous(), nullptr);
  static_cast<void>(negate(tensor(1)));
  EXPECT_EQ(outer.seen.size(), 1u);
  pop_interpreter(&inner);
  pop_interpreter(&inner); // a second time does nothing
  EXPECT_EQ(Interpreter::current(), nullptr);
}

TEST(Interpreter, BelongsToAThread) {
  Notes notes;
  push_interpreter(&notes);
  std::thread([] { static_cast<void>(negate(tensor(1))); }).join();
  pop_interpreter(&notes);
  EXPECT_TRUE(notes.seen.empty());
}

} // namespace
} // namespace weft
