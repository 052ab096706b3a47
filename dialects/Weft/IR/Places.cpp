// Looks into locations for the user's line and the number of the op call.
#include "Weft/IR/Places.h"

#include "mlir/IR/Builders.h"

namespace mlir::weft {

::weft::SourceLocation placeOf(Location location) {
  ::weft::SourceLocation place;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file) return WalkResult::advance();
    place = {file.getFilename().str(), file.getLine(), file.getColumn()};
    return WalkResult::interrupt();
  });
  return place;
}

Location withSite(Location location, int64_t site) {
  MLIRContext *context = location.getContext();
  return FusedLoc::get({location}, IntegerAttr::get(IntegerType::get(context, 64), site), context);
}

Location locationOf(const ::weft::SourceLocation &place, int64_t site, MLIRContext *context) {
  if (!place.known()) return withSite(UnknownLoc::get(context), site);
  return withSite(FileLineColLoc::get(context, place.file, place.line, place.column), site);
}

std::optional<int64_t> siteNumber(Location location) {
  std::optional<int64_t> site;
  location->walk([&](Location inner) {
    auto fused = dyn_cast<FusedLoc>(inner);
    auto number = fused ? dyn_cast_or_null<IntegerAttr>(fused.getMetadata()) : IntegerAttr();
    if (!number) return WalkResult::advance();
    site = number.getInt();
    return WalkResult::interrupt();
  });
  return site;
}

} // namespace mlir::weft
