// All families of instructions, at one x86-64 level.
#include "Emulator/Instructions/Families.h"

namespace WEFT_EMULATOR_LEVEL {

void add_all(FormTable &table) {
  add_integers(table);
  add_bits(table);
  add_floats(table);
  add_directed(table);
  add_halves(table);
  add_comparisons(table);
  add_conversions(table);
  add_moves(table);
  add_control(table);
  add_votes(table);
  add_matrices(table);
  add_warpgroup(table);
  add_copies(table);
  add_memory(table);
  add_atomics(table);
}

} // namespace WEFT_EMULATOR_LEVEL
