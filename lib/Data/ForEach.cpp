// The passes that traced loops are in, held for them by number.
#include <weft/data/for_each.h>

#include <map>
#include <mutex>

#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Support/Fault.h"

namespace weft::data::detail {

namespace {

/// A function that fails leaves its loop open. More of these than calls at a time are left ones.
constexpr std::size_t kMostOpen = 64;

} // namespace

struct LoopPasses::Impl {
  struct Loop {
    std::shared_ptr<Pass> pass;
    Item element;
  };
  std::shared_ptr<Loop> find(const Tensor &number) {
    const std::lock_guard lock(mutex);
    const auto found = loops.find(number.item<std::int64_t>());
    if (found == loops.end())
      raise(ErrorKind::state, "for_each: the loop is over, or " + std::to_string(kMostOpen) +
                                  " others have started since");
    return found->second;
  }

  std::function<std::shared_ptr<Pass>()> begin;
  std::mutex mutex;
  std::int64_t started = 0;
  std::map<std::int64_t, std::shared_ptr<Loop>> loops; ///< by number, so the oldest first
};

LoopPasses::LoopPasses(Pipeline pipeline)
    : LoopPasses([pipeline = std::move(pipeline)] { return pipeline.start(); }) {}
LoopPasses::LoopPasses(std::function<std::shared_ptr<Pass>()> begin)
    : impl_(new Impl{std::move(begin), {}, 0, {}}) {}
LoopPasses::~LoopPasses() = default;

Tensor LoopPasses::start() {
  auto loop = std::make_shared<Impl::Loop>(Impl::Loop{impl_->begin(), {}});
  const std::lock_guard lock(impl_->mutex);
  impl_->loops.emplace(++impl_->started, std::move(loop));
  if (impl_->loops.size() > kMostOpen) impl_->loops.erase(impl_->loops.begin());
  return weft::detail::new_scalar<std::int64_t>(impl_->started);
}

Tensor LoopPasses::advance(const Tensor &number) {
  const std::shared_ptr<Impl::Loop> loop = impl_->find(number);
  const bool more = loop->pass->next(loop->element);
  if (!more) {
    const std::lock_guard lock(impl_->mutex);
    impl_->loops.erase(number.item<std::int64_t>());
  }
  return weft::detail::new_scalar<bool>(more);
}

Item LoopPasses::take(const Tensor &number, std::span<const TensorType> types) {
  Item element = std::move(impl_->find(number)->element);
  for (std::size_t i = 0; i < std::min(types.size(), element.tensors.size()); ++i) {
    const TensorType given = element.tensors[i].type(), &first = types[i];
    bool fits = given.shape.size() == first.shape.size();
    for (std::size_t axis = 0; fits && axis < given.shape.size(); ++axis)
      fits = first.shape[axis] == unknown || given.shape[axis] == first.shape[axis];
    if (fits) continue;
    const bool open = given.shape.size() == first.shape.size();
    raise(ErrorKind::shape,
          "an element of the data set is " + to_string(given) + ", but the loop was traced for " +
              to_string(first) + ", the type of the first one: " +
              (open ? "loop over dataset.with_open_sizes(), which leaves the sizes open, or pad to "
                      "equal sizes"
                    : "elements of several ranks are for loops outside of traced functions"));
  }
  return element;
}

void LoopPasses::stop(const Tensor &number) {
  std::shared_ptr<Impl::Loop> stopped; // goes without the lock: its threads may work for a while
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->loops.find(number.item<std::int64_t>());
  if (found == impl_->loops.end()) return;
  stopped = std::move(found->second);
  impl_->loops.erase(found);
}

bool is_tracing() {
  const Interpreter *interpreter = Interpreter::current();
  return interpreter != nullptr && interpreter->traces();
}

} // namespace weft::data::detail
