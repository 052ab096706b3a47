// The door to batches for those outside of the library.
#include <weft/detail/batching.h>

#include <set>
#include <string>

#include "Autodiff/Batching.h"
#include <weft/composites.h>
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

namespace {

bool has_axis(const Tensor &tensor, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(tensor.rank());
  return -rank <= axis && axis < rank;
}

} // namespace

Tensor to_front(const Tensor &argument, std::int64_t axis) {
  if (!argument.defined()) throw StateError("vmap: an argument is an undefined tensor");
  if (!has_axis(argument, axis))
    throw IndexError("vmap: an argument of shape " + to_string(type_of(argument).shape) +
                     " has no axis " + std::to_string(axis) + " to map over");
  const auto rank = static_cast<std::int64_t>(argument.rank());
  return (axis + rank) % rank == 0 ? argument : moveaxis(argument, axis, 0);
}

Tensor from_front(const Tensor &result, std::int64_t axis) {
  if (!has_axis(result, axis))
    throw IndexError("vmap: a result of shape " + to_string(type_of(result).shape) +
                     " has no axis " + std::to_string(axis) + " for what is mapped over");
  const auto rank = static_cast<std::int64_t>(result.rank());
  return (axis + rank) % rank == 0 ? result : moveaxis(result, 0, axis);
}

void check_axes(std::size_t axes, std::size_t arguments) {
  if (axes != 0 && axes != arguments)
    throw ValueError("vmap: in_axes has " + std::to_string(axes) + " entries, but there are " +
                     std::to_string(arguments) + " arguments");
}

void refuse_variable() {
  throw ValueError("vmap: a variable is not mapped over: give its value, or keep it the same for "
                   "all with std::nullopt in in_axes, or by reaching it from inside the function");
}

bool is_batching() {
  for (Interpreter *at = Interpreter::current(); at != nullptr; at = at->previous())
    if (dynamic_cast<autodiff::Batcher *>(at) != nullptr) return true;
  return false;
}

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
