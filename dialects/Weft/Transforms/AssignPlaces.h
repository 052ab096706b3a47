// Where in the user's program variables got their last values: kept in the location of a return.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::weft {

/// `ret` with the places at which variables were assigned, as locations with their names.
inline Location withAssigns(Location ret, ArrayRef<std::pair<StringAttr, Location>> assigns) {
  SmallVector<Location> locations = {ret};
  for (auto [variable, place] : assigns) locations.push_back(NameLoc::get(variable, place));
  return FusedLoc::get(ret.getContext(), locations);
}

/// Where the return's location says that a variable was assigned; its own place otherwise.
inline Location assignPlace(Location ret, Attribute variable) {
  auto symbol = dyn_cast_or_null<FlatSymbolRefAttr>(variable);
  if (auto fused = dyn_cast<FusedLoc>(ret); fused && symbol)
    for (Location inner : fused.getLocations())
      if (auto named = dyn_cast<NameLoc>(inner); named && named.getName() == symbol.getAttr())
        return named.getChildLoc();
  return ret;
}

} // namespace mlir::weft
