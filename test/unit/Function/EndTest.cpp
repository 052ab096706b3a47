// The end of a process, when objects are destroyed that were made before the compiler was loaded.
#include "../Testing.h"

#include <cstdlib>

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

} // namespace
} // namespace weft
