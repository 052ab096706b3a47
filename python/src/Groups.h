// Groups of processes as Python has them, and how calls of theirs run.
#pragma once

#include "Foreign.h"
#include "Interrupts.h"
#include "Runs.h"

#include <weft/detail/distributed_place.h>
#include <weft/detail/staging.h>
#include <weft/distributed.h>

namespace weft::python {

/// Python's lines are told by place_of_user.
constexpr std::source_location kNowhere;

struct BoundGroup {
  using Initialized = void; // see Initialized.h
  distributed::Group group;
};

/// Runs a call of the library for the line of Python that is running, and without the lock where it
/// may wait.
template <class Run>
auto run_here(const Run &run) {
  const distributed::detail::Place place(place_of_user());
  const Interruptible interruptible;
  // A trace notes the line itself, and waits for nobody.
  if (weft::detail::is_tracing()) return run();
  return without_lock(run);
}

/// What `make` makes of an argument. If it refuses it, the others are told, who wait for this rank.
template <class Make>
auto converted(const char *function, nb::handle group, const Make &make) {
  try {
    return make();
  } catch (...) {
    const distributed::Group of = group_of(group, function);
    run_here([&] { distributed::detail::refuse(function, of); });
    throw;
  }
}

void define_mesh(nb::module_ &module);

} // namespace weft::python
