// The end of a process and of its threads: destructors that run after what the library itself lets
// go.
#include "../Testing.h"

#include <cstdlib>
#include <memory>
#include <thread>

#include <unistd.h>
#include <weft/weft.h>

namespace weft {
namespace {

Tensor twice(const Tensor &x) { return x * 2; }
using Known = Function<Tensor (*)(const Tensor &)>;
Known *known;

void at_the_end() {
  if (sum((*known)(ones({3}))).item<float>() != 6) _exit(1); // its code is there
  try {
    static_cast<void>((*known)(ones({4, 4})));
    _exit(2);
  } catch (const StateError &error) {
    const std::string_view said = error.message();
    _exit(said.find("twice: the process is ending, and the compiler with it") == 0 ? 0 : 3);
  }
}

// LLVM's global objects are destroyed by then.
TEST(End, NothingIsCompiledWhenTheCompilerIsGone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process that has not loaded it so far
  const auto ending = [] {
    std::atexit(at_the_end);
    known = new Known(function(&twice, {.name = "twice", .reduce_retracing = false}));
    (*known)(ones({3}));
    std::exit(4);
  };
  EXPECT_EXIT(ending(), testing::ExitedWithCode(0), "");
}

// What the library keeps per thread is gone by then, and must not be missed.
void computes() {
  const Tensor x = full({64, 64}, 2.0f);
  if (sum(matmul(x, x)).item<float>() != 64 * 64 * 256) _exit(1);
  GradientTape tape;
  tape.watch(x);
  const Tensor slopes = tape.gradient(sum(matmul(x, x)), x);
  _exit(sum(slopes).item<float>() == 64 * 64 * 256 ? 0 : 2);
}

TEST(End, ProductsAndTapesWorkToTheLast) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ending = [] {
    std::atexit(computes);
    const Tensor x = ones({64, 64});
    GradientTape tape;
    tape.watch(x);
    static_cast<void>(tape.gradient(sum(matmul(x, x)), x));
    std::exit(4);
  };
  EXPECT_EXIT(ending(), testing::ExitedWithCode(0), "");
}

/// Created before all that the library keeps for the thread, so destroyed after it.
struct Late {
  ~Late() {
    if (!tape) return;
    const Tensor product = matmul(x, x);
    const Tensor slopes = tape->gradient(sum(product), x);
    *sums += sum(slopes).item<float>();
    tape.reset();
    *sums += sum(exp(zeros({3}))).item<float>(); // nobody records it any more
  }
  Tensor x;
  std::unique_ptr<GradientTape> tape;
  float *sums = nullptr;
};

TEST(End, ATapeOutlivesWhatTheLibraryKeepsForItsThread) {
  float sums = 0;
  std::thread([&] {
    static thread_local Late late;
    late.sums = &sums;
    late.x = ones({8, 8});
    late.tape = std::make_unique<GradientTape>();
    late.tape->watch(late.x);
    static_cast<void>(matmul(late.x, late.x));
  }).join();
  EXPECT_EQ(sums, 8 * 8 * 16 + 3);
}

} // namespace
} // namespace weft
