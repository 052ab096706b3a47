// The door to batches for those outside of the library.
#include <weft/detail/batching.h>

#include "Autodiff/Batching.h"

namespace weft::detail {

struct Batch::Impl {
  Impl(const char *name, std::int64_t count) : name(name), count(count), batcher(name, count) {
    push_interpreter(&batcher);
  }
  ~Impl() { pop_interpreter(&batcher); }
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;

  const char *name;
  std::int64_t count;
  autodiff::Batcher batcher;
};

Batch::Batch(const char *name, std::int64_t count) {
  if (count < 1)
    throw ValueError(std::string(name) + ": there must be at least one member, not " +
                     std::to_string(count));
  impl_ = std::make_unique<Impl>(name, count);
}
Batch::~Batch() = default;

Tensor Batch::one(const Tensor &members) const {
  const TensorType type = type_of(members);
  if (type.shape.empty() || size_for_call(members, 0) != impl_->count)
    throw ShapeError(std::string(impl_->name) + ": there are " + std::to_string(impl_->count) +
                     " members, but an argument is " + to_string(type));
  return impl_->batcher.batch(members);
}
Tensor Batch::all(const Tensor &value) const { return impl_->batcher.members(value); }

} // namespace weft::detail
