// Calls a function on values and traced.
#pragma once

#include <gtest/gtest.h>

#include <weft/weft.h>

namespace weft {

/// Calls `f` eagerly and traced and expects the same tensor from both.
template <class F, class... Args>
Tensor both(const F &f, const Args &...args) {
  const Tensor eager = f(args...);
  const Tensor traced = function(f)(args...);
  EXPECT_EQ(to_string(eager), to_string(traced));
  return traced;
}

} // namespace weft
