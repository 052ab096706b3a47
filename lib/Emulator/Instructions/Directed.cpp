// Arithmetic of f32 and f64 rounded to zero, down or up: by the processor, in that mode.
#include <xmmintrin.h>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Instructions/Numbers.h"

#pragma STDC FENV_ACCESS ON

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// Switches the rounding mode of this thread while it lives.
class InMode {
public:
  explicit InMode(unsigned mode) : before_(_mm_getcsr()) {
    _mm_setcsr((before_ & ~static_cast<unsigned>(_MM_ROUND_MASK)) | mode);
  }
  ~InMode() { _mm_setcsr(before_); }
  InMode(const InMode &) = delete;
  InMode &operator=(const InMode &) = delete;

private:
  unsigned before_;
};

enum class Op : std::uint8_t { add, sub, mul, div, rcp, sqrt, fma };

template <Op What, class T>
[[gnu::noinline]] T compute(T a, T b, T c) {
  switch (What) {
  case Op::add: return a + b;
  case Op::sub: return a - b;
  case Op::mul: return a * b;
  case Op::div: return a / b;
  case Op::rcp: return T{1} / a;
  case Op::sqrt: return square_root(a);
  case Op::fma: return fused_multiply_add(a, b, c);
  }
  return a;
}

template <Op What, class T>
void run(Warp &warp, const Instruction &in, LaneMask mask) {
  constexpr int kSources = What == Op::fma ? 3 : What == Op::rcp || What == Op::sqrt ? 1 : 2;
  const T *a = warp.lanes<T>(in.slots[1]);
  const T *b = kSources > 1 ? warp.lanes<T>(in.slots[2]) : a;
  const T *c = kSources > 2 ? warp.lanes<T>(in.slots[3]) : a;
  T results[kLanes];
  {
    const InMode mode(in.mode);
    for (int lane = 0; lane < kLanes; ++lane)
      results[lane] = compute<What>(a[lane], b[lane], c[lane]);
  }
  // The order is that of Float.cpp.
  store_lanes(warp.lanes<T>(in.slots[0]), mask, [&](int lane) {
    if constexpr (kSources == 1) return propagated(results[lane], a[lane]);
    else if constexpr (What == Op::fma) return propagated(results[lane], b[lane], c[lane], a[lane]);
    else if constexpr (What == Op::div) return propagated(results[lane], a[lane], b[lane]);
    else return propagated(results[lane], b[lane], a[lane]);
  });
}

template <class T>
void add_type(FormTable &table) {
  const std::string_view type = name_of_type<T>();
  const bool single = sizeof(T) == 4;
  for (const auto &[name, mode] :
       {std::pair<std::string_view, unsigned>("rz", _MM_ROUND_TOWARD_ZERO),
        {"rm", _MM_ROUND_DOWN},
        {"rp", _MM_ROUND_UP}}) {
    table.add({"add", name, type}, &run<Op::add, T>, single ? "fff" : "ggg", mode);
    table.add({"sub", name, type}, &run<Op::sub, T>, single ? "fff" : "ggg", mode);
    table.add({"mul", name, type}, &run<Op::mul, T>, single ? "fff" : "ggg", mode);
    table.add({"div", name, type}, &run<Op::div, T>, single ? "fff" : "ggg", mode);
    table.add({"rcp", name, type}, &run<Op::rcp, T>, single ? "ff" : "gg", mode);
    table.add({"sqrt", name, type}, &run<Op::sqrt, T>, single ? "ff" : "gg", mode);
    table.add({"fma", name, type}, &run<Op::fma, T>, single ? "ffff" : "gggg", mode);
    table.add({"mad", name, type}, &run<Op::fma, T>, single ? "ffff" : "gggg", mode);
  }
}

} // namespace

void add_directed(FormTable &table) {
  add_type<float>(table);
  add_type<double>(table);
}

} // namespace WEFT_EMULATOR_LEVEL
