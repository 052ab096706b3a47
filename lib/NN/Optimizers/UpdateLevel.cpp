// The updates of optimizers for one x86-64 level: formulas on vectors in registers. The build
// compiles this file once per level, with that level's -march and WEFT_LEVEL set to 2, 3 or 4.

#include "Kernels/MatmulVector.h"
#include "NN/Optimizers/UpdateKernels.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

using namespace weft::optimizers;

/// Neighbouring elements, with the operators of tensors and their bits: every number is rounded to
/// T first, and maxima and minima are NaN where an operand is.
template <typename T>
struct Elements {
  Vec<T> v;

  explicit Elements(Vec<T> elements) : v(elements) {}
  explicit Elements(double number) : v(T(number)) {}

  friend Elements operator+(Elements a, Elements b) { return Elements(a.v + b.v); }
  friend Elements operator-(Elements a, Elements b) { return Elements(a.v - b.v); }
  friend Elements operator*(Elements a, Elements b) { return Elements(a.v * b.v); }
  friend Elements operator/(Elements a, Elements b) { return Elements(a.v / b.v); }
  friend Elements operator+(Elements a, double b) { return a + Elements(b); }
  friend Elements operator*(Elements a, double b) { return a * Elements(b); }
  friend Elements maximum(Elements a, Elements b) {
    return Elements(((a.v >= b.v) | (a.v != a.v)) ? a.v : b.v);
  }
  friend Elements minimum(Elements a, Elements b) {
    return Elements(((a.v <= b.v) | (a.v != a.v)) ? a.v : b.v);
  }
  friend Elements maximum(Elements a, double b) { return maximum(a, Elements(b)); }
  friend Elements minimum(Elements a, double b) { return minimum(a, Elements(b)); }
  friend Elements sqrt(Elements x) { return Elements(__builtin_elementwise_sqrt(x.v)); }
  /// Zeros of either sign, and NaN, stay.
  friend Elements sign(Elements x) {
    const Vec<T> negative = x.v < Vec<T>(T(0)) ? Vec<T>(T(-1)) : x.v;
    return Elements(x.v > Vec<T>(T(0)) ? Vec<T>(T(1)) : negative);
  }

  Elements &operator+=(Elements b) { return set_to(*this + b); }
  Elements &operator-=(Elements b) { return set_to(*this - b); }
  Elements &operator*=(double b) { return set_to(*this * b); }
  Elements &set_to(Elements value) {
    v = value.v;
    return *this;
  }
};

/// Reads and writes vectors, of which the last may be a part.
template <typename T>
struct All {
  Elements<T> read(const T *from) const { return Elements<T>(load(from)); }
  void write(T *to, Elements<T> value) const { store(to, value.v); }
};
template <typename T>
struct Part {
  int lanes;

  Elements<T> read(const T *from) const { return Elements<T>(load_first(from, lanes)); }
  void write(T *to, Elements<T> value) const { store_first(to, value.v, lanes); }
};

template <typename T, class Formula, class Access>
inline void update_at(const Formula &formula, const UpdateBlock<T> &block,
                      const Numbers<Elements<T>> &numbers, int64_t at, const Access &access) {
  const auto read = [&](const T *array) {
    return array ? access.read(array + at) : Elements<T>(0.0);
  };
  Elements<T> w = read(block.weight), average = read(block.average);
  Elements<T> slots[] = {read(block.slots[0]), read(block.slots[1]), read(block.slots[2])};
  static_assert(sizeof slots == kMostSlots * sizeof(Elements<T>));
  advance(w, read(block.gradient), block.average ? &average : nullptr, numbers,
          [&](Elements<T> &weight, const Elements<T> &g) {
            formula.step(weight, g, slots, numbers.rule);
          });
  access.write(block.weight + at, w);
  for (int i = 0; i < kMostSlots; ++i)
    if (block.slots[i]) access.write(block.slots[i] + at, slots[i]);
  if (block.average) access.write(block.average + at, average);
}

template <typename T, class Formula>
void update(const Formula &given, const UpdateBlock<T> &of) {
  // Copies, whose addresses nobody has: what is stored to elements cannot change them.
  const Formula formula = given;
  const UpdateBlock<T> block = of;
  const Elements<T> scale(block.scale), decay(block.decay), follow(block.follow),
      rule[kMostNumbers] = {Elements<T>(block.rule[0])};
  const Numbers<Elements<T>> numbers{.scale = block.scales ? &scale : nullptr,
                                     .clip = block.clips ? &block.clip : nullptr,
                                     .decay = block.decays ? &decay : nullptr,
                                     .average = &follow,
                                     .rule = rule};
  int64_t at = 0;
  for (; at + kLanes<T> <= block.count; at += kLanes<T>)
    update_at(formula, block, numbers, at, All<T>());
  if (at != block.count) update_at(formula, block, numbers, at, Part<T>{int(block.count - at)});
}

template <typename T>
constexpr UpdateKernels<T> kernels() {
  return {
#define WEFT_RULE(Class, Formula) update<T, Formula>,
#include "NN/Optimizers/Rules.def"
  };
}

} // namespace

constexpr UpdateLevel kUpdateTable = {kernels<float>(), kernels<double>()};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::optimizers {

#if WEFT_LEVEL == 4
const UpdateLevel update_level_v4 = kernels::v4::kUpdateTable;
#elif WEFT_LEVEL == 3
const UpdateLevel update_level_v3 = kernels::v3::kUpdateTable;
#else
const UpdateLevel update_level_v2 = kernels::v2::kUpdateTable;
#endif

} // namespace weft::optimizers
