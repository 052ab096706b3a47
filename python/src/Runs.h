// What the sources of training runs define: event files, histories, bars, reports, fit, profiles.
#pragma once

#include "Binding.h"

#include <weft/distributed.h>
#include <weft/graph.h>

namespace weft::python {

/// The graph of a traced function for these arguments. Throws TypeError for anything else.
Graph graph_of(nb::handle function, const nb::args &args, const nb::kwargs &keywords);

/// The group that an argument is, None being the world. Throws DTypeError, in the function's name,
/// for anything else.
distributed::Group group_of(nb::handle group, const char *function);
/// The line of Python that is running, as other ranks are told it: "train.py:41".
std::string place_of_user();

void define_distributed();
void define_events();
void define_histories(nb::module_ &module);
void define_replicas(nb::module_ &module);
void define_training(nb::module_ &module);

} // namespace weft::python
