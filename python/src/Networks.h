// What is defined for weft.losses, weft.metrics, weft.schedules and weft.optimizers.
#pragma once

#include "Bound.h"

namespace weft::python {

void define_losses(nb::module_ &module);
void define_metrics(nb::module_ &module);
void define_schedules(nb::module_ &module);
/// The schedule that a Schedule of Python is; empty for other objects.
std::function<Tensor(const Tensor &)> schedule_of(nb::handle object);
void define_optimizers(nb::module_ &module);

} // namespace weft::python
