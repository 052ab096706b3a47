// The families of instructions, each compiled once per x86-64 level.
#pragma once

namespace weft::emulator {

class FormTable;

#define WEFT_EMULATOR_FAMILIES(level)                                                              \
  namespace level {                                                                                \
  void add_all(FormTable &table);                                                                  \
  void add_integers(FormTable &table);                                                             \
  void add_bits(FormTable &table);                                                                 \
  void add_floats(FormTable &table);                                                               \
  void add_directed(FormTable &table);                                                             \
  void add_halves(FormTable &table);                                                               \
  void add_comparisons(FormTable &table);                                                          \
  void add_conversions(FormTable &table);                                                          \
  void add_moves(FormTable &table);                                                                \
  void add_control(FormTable &table);                                                              \
  void add_votes(FormTable &table);                                                                \
  void add_matrices(FormTable &table);                                                             \
  void add_warpgroup(FormTable &table);                                                            \
  void add_copies(FormTable &table);                                                               \
  void add_memory(FormTable &table);                                                               \
  void add_atomics(FormTable &table);                                                              \
  }
WEFT_EMULATOR_FAMILIES(v2)
WEFT_EMULATOR_FAMILIES(v3)
WEFT_EMULATOR_FAMILIES(v4)
#undef WEFT_EMULATOR_FAMILIES

} // namespace weft::emulator

// Where the code of a family lives, by the level that it is compiled for.
#if WEFT_LEVEL == 4
#define WEFT_EMULATOR_LEVEL weft::emulator::v4
#elif WEFT_LEVEL == 3
#define WEFT_EMULATOR_LEVEL weft::emulator::v3
#else
#define WEFT_EMULATOR_LEVEL weft::emulator::v2
#endif
