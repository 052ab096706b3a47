// What the sources of training runs define: event files, histories, bars, reports, fit, profiles.
#pragma once

#include "Binding.h"

#include <weft/graph.h>

namespace weft::python {

/// The graph of a traced function for these arguments. Throws TypeError for anything else.
Graph graph_of(nb::handle function, const nb::args &args, const nb::kwargs &keywords);

void define_distributed();
void define_events();
void define_histories(nb::module_ &module);
void define_training(nb::module_ &module);

} // namespace weft::python
