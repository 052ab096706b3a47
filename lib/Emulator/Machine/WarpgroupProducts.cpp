// Products that are begun, grouped and waited for.
#include "Emulator/Machine/WarpgroupProducts.h"

#include "Emulator/Machine/Block.h"

namespace weft::emulator {

void WarpgroupProducts::begin(Warp &warp, Product product) {
  if (!warp.block->launch().schedule.stress) return product.run(warp, product);
  product.group = groups_;
  begun_.push_back(product);
}

void WarpgroupProducts::wait(Warp &warp, std::uint32_t pending) {
  std::size_t done = 0;
  for (; done < begun_.size() && std::uint64_t{begun_[done].group} + pending < groups_; ++done)
    begun_[done].run(warp, begun_[done]);
  begun_.erase(begun_.begin(), begun_.begin() + static_cast<std::ptrdiff_t>(done));
}

void WarpgroupProducts::clear() {
  begun_.clear();
  groups_ = 0;
}

} // namespace weft::emulator
