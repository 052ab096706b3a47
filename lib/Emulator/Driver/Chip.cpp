// What chips allow, from the tables of compute capabilities in the CUDA programming guide.
#include "Emulator/Driver/Chip.h"

namespace weft::emulator {
namespace {

constexpr std::uint32_t kKilo = 1024;

Chip chip(std::string_view name, int major, int minor, std::uint32_t shared_kilobytes,
          std::uint32_t threads, std::uint32_t blocks, std::uint32_t multiprocessors) {
  Chip made{name, major, minor, {}, major >= 9};
  Limits &limits = made.limits;
  limits.shared_per_multiprocessor = shared_kilobytes * kKilo;
  // Since 8.0 the system keeps 1 KB of each block's.
  limits.shared_per_block_optin = (shared_kilobytes - (major >= 8 ? 1 : 0)) * kKilo;
  limits.threads_per_multiprocessor = threads;
  limits.blocks_per_multiprocessor = blocks;
  limits.multiprocessors = multiprocessors;
  limits.cluster = made.has_clusters ? 8 : 1;
  return made;
}

const Chip *all(std::size_t &count) {
  static const Chip chips[] = {
      chip("sm_70", 7, 0, 96, 2048, 32, 80),     chip("sm_75", 7, 5, 64, 1024, 16, 40),
      chip("sm_80", 8, 0, 164, 2048, 32, 108),   chip("sm_86", 8, 6, 100, 1536, 16, 84),
      chip("sm_89", 8, 9, 100, 1536, 24, 128),   chip("sm_90", 9, 0, 228, 2048, 32, 132),
      chip("sm_100", 10, 0, 228, 2048, 32, 148), chip("sm_120", 12, 0, 100, 1536, 24, 170),
  };
  count = std::size(chips);
  return chips;
}

} // namespace

const Chip *find_chip(std::string_view name) {
  std::size_t count = 0;
  const Chip *chips = all(count);
  for (std::size_t i = 0; i < count; ++i)
    if (chips[i].name == name) return &chips[i];
  return nullptr;
}

std::string chip_names() {
  std::size_t count = 0;
  const Chip *chips = all(count);
  std::string names;
  for (std::size_t i = 0; i < count; ++i)
    names += std::string(i == 0           ? ""
                         : i + 1 == count ? " and "
                                          : ", ") +
             std::string(chips[i].name);
  return names;
}

} // namespace weft::emulator
