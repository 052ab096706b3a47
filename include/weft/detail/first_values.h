// First values of variables that ranks have in common.
#pragma once

#include <memory>

#include <weft/distributed.h>

namespace weft::distributed::detail {

/// While it lives, variables that this thread makes or gives first values have those of rank 0, on
/// all ranks of the group: all make the same ones in the same order, whose types are compared.
/// Equal values, as of seeds that ranks have in common, cost one short exchange. Variables that are
/// made of values of a trace are left out. Throws StateError where types differ, on all ranks.
class FirstValuesOfRankZero {
public:
  explicit FirstValuesOfRankZero(const Group &group = {});
  ~FirstValuesOfRankZero();
  FirstValuesOfRankZero(const FirstValuesOfRankZero &) = delete;
  FirstValuesOfRankZero &operator=(const FirstValuesOfRankZero &) = delete;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace weft::distributed::detail
