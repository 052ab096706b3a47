// How ranks come to the first values of rank 0: by digests, and by a broadcast where these differ.
#include <weft/detail/first_values.h>

#include <algorithm>

#include "Distributed/Buckets.h"
#include "Ops/FirstValues.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"
#include "Support/Digest.h"

namespace weft::distributed::detail {

namespace {

std::string digest_of(const Tensor &value) {
  const Tensor host = weft::detail::on_host(value).contiguous();
  Sha256 sum;
  sum.update(host.impl()->data, static_cast<std::size_t>(host.size()) * item_size(host.dtype()));
  const Digest digest = sum.finish();
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

} // namespace

struct FirstValuesOfRankZero::State final : weft::detail::FirstValues {
  explicit State(const Group &of) : group(of), scope(of.size() > 1 ? this : nullptr) {}

  Tensor of(const Tensor &own) override {
    // An exchange makes no variables, and what it computes is recorded by nobody.
    const Scope nobody(nullptr);
    const Interpreter::Scope eager(nullptr);
    const std::vector<std::string> digests =
        exchange_bytes({"Variable", CallSite::current()}, group,
                       "the first value of a variable of " + to_string(own.type()), digest_of(own));
    if (std::ranges::all_of(digests, [&](const auto &one) { return one == digests[0]; }))
      return own;
    return broadcast(own, 0, group);
  }

  Group group;
  Scope scope;
};

FirstValuesOfRankZero::FirstValuesOfRankZero(const Group &group)
    : state_(std::make_unique<State>(group)) {}
FirstValuesOfRankZero::~FirstValuesOfRankZero() = default;

} // namespace weft::distributed::detail
