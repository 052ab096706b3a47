// Objects of Python that what tapes record calls, in sight of Python's collector.
#include "Pullbacks.h"

#include <algorithm>
#include <thread>

#include "Elements.h"
#include <weft/detail/derivative_mark.h>
#include <weft/detail/staging.h>

namespace weft::python {

namespace {

/// The tapes that record, by the thread that they are of. Under the lock of Python.
std::vector<std::pair<std::thread::id, TapePullbacks *>> recording;

/// Drops what is left of one that nothing recorded refers to any more.
void release(Pullback *pullback) {
  with_python([&] {
    std::vector<nb::object> dropped; // which may run code of Python
    for (TapePullbacks *tape : pullback->tapes) {
      tape->all.erase(pullback);
      dropped.push_back(nb::steal(pullback->object));
    }
    if (pullback->held) dropped.push_back(nb::steal(pullback->object));
    delete pullback;
  });
}

} // namespace

nb::object Pullback::get() const {
  if (object == nullptr)
    throw StateError("a gradient function of Python that is called here was collected, as nothing "
                     "held the tape that recorded it");
  return nb::borrow(object);
}

void TapePullbacks::record(bool records) {
  std::erase_if(recording, [this](const auto &entry) { return entry.second == this; });
  if (records) recording.emplace_back(std::this_thread::get_id(), this);
}

void TapePullbacks::clear() {
  std::vector<nb::object> dropped;
  for (Pullback *pullback : std::exchange(all, {})) {
    dropped.push_back(nb::steal(pullback->object));
    std::erase(pullback->tapes, this);
    if (pullback->tapes.empty() && !pullback->held) pullback->object = nullptr;
  }
}

TapePullbacks::~TapePullbacks() {
  record(false);
  clear();
}

std::shared_ptr<const Pullback> keep_pullback(nb::object object) {
  auto pullback = std::make_unique<Pullback>();
  pullback->object = object.ptr();
  for (const auto &[thread, tape] : recording) {
    if (thread != std::this_thread::get_id()) continue;
    Py_INCREF(pullback->object);
    pullback->tapes.push_back(tape);
    tape->all.insert(pullback.get());
  }
  pullback->held =
      pullback->tapes.empty() || detail::is_tracing() || detail::DerivativeMark::stands();
  if (pullback->held) Py_INCREF(pullback->object);
  return {pullback.release(), release};
}

} // namespace weft::python
