// A warp: the registers of 32 lanes, where they are in the program, and what handlers ask of them.
//
// Lanes that are at the same instruction run together. After a branch that some take and some do
// not, the lanes with the smallest program counter run first, and groups merge where their counters
// meet: for code that compilers emit this is where the branches join.
#pragma once

#include <cstddef>

#include "Emulator/Machine/Counters.h"
#include "Emulator/Machine/Fault.h"
#include "Emulator/Memory/Record.h"
#include "Emulator/Program/Instruction.h"

namespace weft::emulator {

class Block;
struct Region;

enum class WarpState : std::uint8_t { ready, at_barrier, done };

class Warp {
public:
  /// The lanes of an operand.
  template <class T>
  [[gnu::always_inline]] T *lanes(Slot slot) const {
    return reinterpret_cast<T *>(bases[slot >> 31] + (slot & ~kInConstants));
  }
  [[gnu::always_inline]] LaneMask &predicate(Slot slot) const { return *lanes<LaneMask>(slot); }

  LaneMask live() const { return existing & ~exited; }

  /// Begins a block: all lanes at the first instruction.
  void start(LaneMask lanes_that_exist);
  /// Runs until the warp is done, waits or was told to yield, or for about this many instructions.
  void run(std::uint64_t instructions);

  // What handlers of control flow do with the lanes that run.
  void branch(LaneMask taken, std::uint32_t target);
  void exit(LaneMask lanes);
  /// Whether all of `members` are at this instruction, as .sync wants it. If not, `there` wait
  /// here, the instruction is not executed, and will be when the others have come.
  bool gather(const Instruction &in, LaneMask there, LaneMask members);
  /// Lets other warps run, because what this one waits for is theirs to do.
  void yield() { yielded = true, meet = 0; }
  /// Stops running, in a state that the block has set.
  void stop() { meet = 0; }

  /// Reports a fault of a lane and ends the launch.
  [[noreturn]] void fail(FaultKind kind, const Instruction &in, int lane,
                         const std::string &what) const;
  /// "kernel k, block (1, 0, 0), thread (3, 0, 0), line 12, `ld.global.b32 ..`"
  std::string place(const Instruction &in, int lane) const;
  std::string place(const Instruction &in) const;

  std::byte *bases[2] = {nullptr, nullptr}; ///< of registers and of constants
  const Instruction *code = nullptr;
  LaneMask active = 0;    ///< the lanes that run now
  std::uint32_t pc = 0;   ///< of the next instruction
  std::uint32_t meet = 0; ///< where they may meet others; 0 when something else is to be done
  LaneMask existing = 0, exited = 0;
  WarpState state = WarpState::done;
  bool yielded = false;
  std::uint32_t index = 0; ///< in its block
  Block *block = nullptr;
  Actor actor;        ///< in global memory
  Actor shared_actor; ///< in shared memory, where blocks have other numbers
  bool check_uninitialised = true;
  Region **hints = nullptr;              ///< of each instruction, the region that it accessed last
  const Instruction *waits_at = nullptr; ///< the barrier
  LaneMask combines = 0;                 ///< the lanes that want its result
  Counters counters;

private:
  struct Group {
    std::uint32_t pc;
    LaneMask lanes;
    LaneMask wanted; ///< of those that wait for others: who must come
  };

  bool regroup();
  [[noreturn]] void fail_waiting();

  Group groups_[kLanes] = {};
  int group_count_ = 0;
  bool largest_first_ = false; ///< for once, so that lanes which spin do not starve others
};

} // namespace weft::emulator
