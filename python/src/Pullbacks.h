// Objects of Python that what tapes record calls, in sight of Python's collector.
#pragma once

#include "Binding.h"

#include <memory>
#include <unordered_set>
#include <vector>

namespace weft::python {

struct TapePullbacks;

/// What a recorded op calls when it is pulled: a reference of each tape of Python that records it,
/// and one of C++ where something else records it too, such as a trace. With the lock of Python.
struct Pullback {
  PyObject *object = nullptr; ///< null once all that held it were collected
  std::vector<TapePullbacks *> tapes;
  bool held = false; ///< by C++

  /// The object. Throws StateError if it is gone.
  nb::object get() const;
};

/// The pullbacks that a tape of Python holds, which `traverse` visits and `clear` drops.
struct TapePullbacks {
  TapePullbacks() = default;
  ~TapePullbacks();
  TapePullbacks(const TapePullbacks &) = delete;
  TapePullbacks &operator=(const TapePullbacks &) = delete;

  /// Whether this thread records on the tape: pullbacks that come are held.
  void record(bool recording);
  void clear();

  std::unordered_set<Pullback *> all;
};

/// Keeps an object for what is recorded now.
std::shared_ptr<const Pullback> keep_pullback(nb::object object);

} // namespace weft::python
