// What metrics keep: sums in f64.
#pragma once

#include <initializer_list>
#include <utility>

#include <weft/ops.h>
#include <weft/variable.h>

namespace weft::metrics {

/// A variable of zeros.
Variable zeros_of(const Shape &shape);
/// One that gets its shape at the first update.
Variable zeros_later();

/// Adds to the sums of one metric, all or, after an error, none.
void add_to(std::initializer_list<std::pair<const Variable *, Tensor>> sums);
/// Adds those of another metric, of which some may have no shape yet.
void add_up(std::initializer_list<std::pair<const Variable *, const Variable *>> sums);
/// Makes them zeros.
void forget(std::initializer_list<const Variable *> sums);

} // namespace weft::metrics
