// A thread's stream on a GPU, and the pinned memory that its copies go through.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Device/Driver.h"
#include "Support/Allocator.h"

namespace weft::device {

struct Block;

/// Host memory that the device reads and writes directly, in turns.
class Staging {
public:
  static constexpr std::size_t kSlotBytes = std::size_t{1} << 20;

  struct Slot {
    std::byte *memory = nullptr;
    cuda::CUevent done = nullptr; ///< what was enqueued on the slot so far
    std::size_t used = 0;
    bool pending = false; ///< `done` was recorded, and nobody waited for it
  };

  /// A place for `bytes` (at most kSlotBytes) that no work of `stream` uses any more; null, and the
  /// result of the driver, if there is none.
  cuda::CUresult take(const Driver &driver, cuda::CUstream stream, std::size_t bytes, Slot *&slot,
                      std::byte *&memory);

private:
  std::array<Slot, 4> slots_;
  std::size_t current_ = 0;
};

/// All of it but the handles and `staging` is guarded by the runtime's mutex; `staging` and
/// `last_launched` belong to the stream's thread.
struct Stream {
  cuda::CUstream handle = nullptr;
  cuda::CUevent event = nullptr; ///< for others to wait for
  Staging staging;
  std::shared_ptr<const std::string> last_launched; ///< "the kernel 'k' of 'step'"
  /// Blocks for this stream's later work, by class and by size.
  std::array<std::vector<Block *>, allocator::kSmallClasses> small;
  std::multimap<std::size_t, Block *> large;
};

/// A piece of device memory. It belongs to the stream that it was allocated on.
struct Block {
  std::byte *address = nullptr;
  std::size_t bytes = 0;
  Stream *owner = nullptr;
  Stream *writer = nullptr;        ///< whose work others must wait for
  std::vector<Stream *> readers{}; ///< others that waited for it, and may be using it
  bool held = false;
};

} // namespace weft::device
