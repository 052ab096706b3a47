// Locations: the user's line of an op, and the number of the op call that it comes from.
#pragma once

#include "mlir/IR/Location.h"

#include <optional>
#include <string>

#include <weft/source.h>

namespace mlir::weft {

/// The user's place: the first file and line in a location, which may be fused of several.
::weft::SourceLocation placeOf(Location location);

/// The location of op call `site` at a place that may be unknown: `fused<7>["train.cpp":41:3]`. The
/// number goes with the location through all phases, and is what code reports.
Location locationOf(const ::weft::SourceLocation &place, int64_t site, MLIRContext *context);
/// The same for a location.
Location withSite(Location location, int64_t site);

/// The number of the op call, if the location has one.
std::optional<int64_t> siteNumber(Location location);

} // namespace mlir::weft
