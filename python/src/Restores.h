// Restores of checkpoints that wait for what objects of Python come to hold later.
#pragma once

#include "Binding.h"

#include <cstdint>

namespace weft::python {

struct Visitable;

/// Counts the restores that were begun to wait; 0 while none waits.
inline std::uint32_t waiting_restores = 0;

void look_for(const Variable &variable);
void look_for(Visitable &part);

/// To be called before a variable or a part of a model is used: has what it was attached to since
/// restored into it. Nothing registers with what it is appended to, so that its use is the first
/// that is known of it.
template <class T>
inline void restore_if_attached(T &used) {
  if (waiting_restores != 0) [[unlikely]]
    look_for(used);
}

/// Restores what is attached by now, if some restore waits.
void restore_attached();

/// A variable that stands at the address of one that there was.
void forget_restored(const VariableState *variable);

void define_restores(nb::module_ &module);

} // namespace weft::python
