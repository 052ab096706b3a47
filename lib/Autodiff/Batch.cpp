// The door to batches for those outside of the library.
#include <weft/detail/batching.h>

#include <set>
#include <string>

#include "Autodiff/Batching.h"
#include <weft/detail/binding.h>
#include <weft/ops.h>

namespace weft::detail {

namespace {

/// How many members there are: a number if any of them knows it.
Size count_of(const char *name, std::span<const Tensor> mapped) {
  std::set<std::int64_t> known;
  for (const Tensor &members : mapped) known.insert(type_of(members).shape[0]);
  const bool open = known.erase(unknown) != 0;
  const auto fail = [&](const std::string &what) {
    throw ValueError(std::string(name) + ": " + what);
  };
  if (mapped.empty()) fail("there is nothing to map over");
  if (known.size() > 1) {
    std::string sizes;
    for (const std::int64_t size : known)
      sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    fail("sizes differ: [" + sizes + "]");
  }
  if (known.contains(0)) fail("there must be at least one member, not 0");
  const Size count = known.empty() ? Size(size_of(mapped[0], {.axis = 0})) : Size(*known.begin());
  if (!open) return count;
  for (const Tensor &members : mapped) {
    if (type_of(members).shape[0] != unknown) continue;
    if (!count.is_number() && members.impl() == mapped[0].impl()) continue;
    const Tensor sizes[] = {count.tensor(), size_of(members, {.axis = 0})};
    check_sizes(equal(sizes[0], sizes[1]), std::string(name) + ": sizes differ: [{}, {}]", sizes);
  }
  return count;
}

} // namespace

struct Batch::Impl {
  Impl(const char *name, const Size &count) : batcher(name, count) { push_interpreter(&batcher); }
  ~Impl() { pop_interpreter(&batcher); }
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;

  autodiff::Batcher batcher;
};

Batch::Batch(const char *name, std::span<const Tensor> mapped)
    : impl_(std::make_unique<Impl>(name, count_of(name, mapped))) {}
Batch::~Batch() = default;

Tensor Batch::one(const Tensor &members) const { return impl_->batcher.batch(members); }
Tensor Batch::all(const Tensor &value) const { return impl_->batcher.members(value); }

} // namespace weft::detail
