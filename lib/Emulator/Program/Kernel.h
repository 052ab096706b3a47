// A kernel that is ready to run: its instructions, and what a launch has to prepare for it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "Emulator/Program/Instruction.h"

namespace weft::emulator {

/// The registers that the machine fills before a block starts.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  smid,
  nsmid,
  gridid,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank
};

struct Parameter {
  std::uint32_t offset = 0, size = 0;
};

/// A module's text by lines, which reports quote.
class SourceText {
public:
  explicit SourceText(std::string text);
  const std::string &text() const { return text_; }
  /// A line counted from 1, without blanks around it.
  std::string_view line(std::uint32_t number) const;

private:
  std::string text_;
  std::vector<std::size_t> begins_;
};

struct Kernel {
  std::string name;
  std::shared_ptr<const SourceText> source;
  std::vector<Instruction> code;
  /// Lists of slots and tables of branches, which instructions point into.
  std::vector<std::unique_ptr<Slot[]>> lists;

  std::uint32_t register_bytes = 0; ///< of one warp
  std::vector<std::byte> constants; ///< as kInConstants slots count
  struct Filled {
    Special special;
    Slot slot;
  };
  std::vector<Filled> specials;

  /// Parameters that are registers of the program: a launch writes them to its constants.
  struct Copied {
    Slot slot;
    std::uint32_t offset, bytes;
  };
  std::vector<Copied> copied_parameters;

  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0; ///< behind which the dynamic ones begin
  std::uint32_t local_bytes = 0;         ///< of each thread

  std::array<std::uint32_t, 3> most_threads{};     ///< `.maxntid`; zeros: no limit but the chip's
  std::array<std::uint32_t, 3> required_threads{}; ///< `.reqntid`
  std::array<std::uint32_t, 3> cluster{};          ///< `.reqnctapercluster`
  std::uint32_t registers_per_thread = 0;          ///< as the occupancy of the kernel counts them
};

} // namespace weft::emulator
