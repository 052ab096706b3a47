// A process with an LLVM of its own: both register options under the same names, and neither may
// see the other.
#include <weft/weft.h>

#include <dlfcn.h>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(OtherLlvm, InTheProcessDoesNotDisturbTheCompiler) {
  ASSERT_NE(dlopen(WEFT_OTHER_LLVM, RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
  auto twice = function([](Tensor x) { return x + x; }, {.name = "twice"});
  EXPECT_EQ(sum(twice(ones({3}))).item<float>(), 6);
}

TEST(OtherLlvm, ErrorsOfTheCompilerAreCaughtByTheirKind) {
  ASSERT_NE(dlopen(WEFT_OTHER_LLVM, RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
  // The compiler itself throws this one, on the other side of the border.
  auto dumped =
      function([](Tensor x) { return x + x; }, {.name = "dumped", .dump = "/nowhere/at/all"});
  EXPECT_THROW((void)dumped(ones({3})), IOError);
}

} // namespace
} // namespace weft
