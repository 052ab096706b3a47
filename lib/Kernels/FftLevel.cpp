// The inner loops of Fourier transforms of one x86-64 level. The build compiles this file once per
// level, with that level's -march and WEFT_LEVEL set to 2, 3 or 4.
#include "Kernels/FftButterflies.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

/// What stands on one side of a pass.
enum class Side { parts, pairs };

template <typename T, int W>
inline VecOf<T, W> load_of(const T *from) {
  return *reinterpret_cast<const typename UnalignedOf<T, W>::type *>(from);
}
template <typename T, int W>
inline void store_of(T *to, VecOf<T, W> value) {
  *reinterpret_cast<typename UnalignedOf<T, W>::type *>(to) = value;
}

/// Shuffles of two vectors of as many lanes as there are numbers.
template <int... Lane>
struct Shuffles {
  static constexpr int kCount = sizeof...(Lane);
  template <typename V>
  static inline V even(V a, V b) {
    return __builtin_shufflevector(a, b, (2 * Lane)...);
  }
  template <typename V>
  static inline V odd(V a, V b) {
    return __builtin_shufflevector(a, b, (2 * Lane + 1)...);
  }
  template <typename V>
  static inline V zip_low(V a, V b) {
    return __builtin_shufflevector(a, b, (Lane / 2 + (Lane % 2) * kCount)...);
  }
  template <typename V>
  static inline V zip_high(V a, V b) {
    return __builtin_shufflevector(a, b, (kCount / 2 + Lane / 2 + (Lane % 2) * kCount)...);
  }
  template <typename V>
  static inline V reversed(V a) {
    return __builtin_shufflevector(a, a, (kCount - 1 - Lane)...);
  }
};
template <typename Int, Int... Lane>
using ShufflesOf = Shuffles<Lane...>;
template <int W>
using ShufflesFor = __make_integer_seq<ShufflesOf, int, W>;

/// W pairs that are adjacent.
template <typename T, int W>
inline Complex<T, W> load_pairs(const T *from, VecOf<T, W> sign) {
  const VecOf<T, W> a = load_of<T, W>(from), b = load_of<T, W>(from + W);
  return {ShufflesFor<W>::even(a, b), ShufflesFor<W>::odd(a, b) * sign};
}
template <typename T, int W>
inline void store_pairs(T *to, Complex<T, W> x, VecOf<T, W> scale_re, VecOf<T, W> scale_im) {
  const VecOf<T, W> re = x.re * scale_re, im = x.im * scale_im;
  store_of<T, W>(to, ShufflesFor<W>::zip_low(re, im));
  store_of<T, W>(to + W, ShufflesFor<W>::zip_high(re, im));
}

template <int R, typename T, int W, Side In, Side Out, bool Twiddled>
void pass(const FftPass<T> &c) {
  using V = VecOf<T, W>;
  const int64_t blocks = Twiddled ? c.blocks : 1;
  const int64_t in_side = c.in_block * blocks;
  for (int64_t p = 0; p < blocks; ++p) {
    V w_re[R], w_im[R];
    if constexpr (Twiddled)
#pragma clang loop unroll(full)
      for (int j = 1; j < R; ++j) {
        w_re[j] = V(c.twiddles[(p * (R - 1) + j - 1) * 2]);
        w_im[j] = V(c.twiddles[(p * (R - 1) + j - 1) * 2 + 1]);
      }
    const int64_t in_base = p * c.in_block, out_base = p * R * c.out_block;
    for (int64_t k = 0; k < c.count; ++k) {
      const int64_t in_at = k * c.in_step < c.in_last ? k * c.in_step : c.in_last;
      const int64_t out_at = k * c.out_step < c.out_last ? k * c.out_step : c.out_last;
      Complex<T, W> x[R];
#pragma clang loop unroll(full)
      for (int i = 0; i < R; ++i) {
        const int64_t from = in_base + in_side * i + in_at;
        if constexpr (In == Side::pairs) x[i] = load_pairs<T, W>(c.in.re + 2 * from, V(c.sign));
        else x[i] = {load_of<T, W>(c.in.re + from), load_of<T, W>(c.in.im + from)};
      }
      butterfly<R>(x, c.roots);
#pragma clang loop unroll(full)
      for (int j = 0; j < R; ++j) {
        if (Twiddled && j > 0) x[j] = x[j].times(w_re[j], w_im[j]);
        const int64_t to = out_base + c.out_block * j + out_at;
        if constexpr (Out == Side::pairs) {
          store_pairs<T, W>(c.out.re + 2 * to, x[j], V(c.scale_re), V(c.scale_im));
        } else {
          store_of<T, W>(c.out.re + to, x[j].re);
          store_of<T, W>(c.out.im + to, x[j].im);
        }
      }
    }
  }
}

/// Writes R vectors so that the first lanes of all come first, then the second ones, and so on.
template <int R, typename T, int W>
inline void store_zipped(T *to, VecOf<T, W> (&x)[R]) {
  VecOf<T, W> y[R];
#pragma clang loop unroll(full)
  for (int stage = 1; stage < R; stage *= 2) {
#pragma clang loop unroll(full)
    for (int i = 0; i < R / 2; ++i) {
      y[2 * i] = ShufflesFor<W>::zip_low(x[i], x[i + R / 2]);
      y[2 * i + 1] = ShufflesFor<W>::zip_high(x[i], x[i + R / 2]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i) x[i] = y[i];
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < R; ++i) store_of<T, W>(to + i * W, x[i]);
}

template <int R, typename T, int W, Side In>
void adjacent(const FftPass<T> &c) {
  using V = VecOf<T, W>;
  constexpr bool kZips = R == 2 || R == 4 || R == 8;
  const int64_t size = c.blocks * c.in_block; // of one input of the butterfly
  const int64_t run = c.in_block;
  for (int64_t first = 0; first < size; first += W) {
    // The last vector may overlap the one before it: what both write is the same.
    const int64_t t = first < size - W ? first : size - W;
    Complex<T, W> x[R];
#pragma clang loop unroll(full)
    for (int i = 0; i < R; ++i) {
      const int64_t from = size * i + t;
      if constexpr (In == Side::pairs) x[i] = load_pairs<T, W>(c.in.re + 2 * from, V(c.sign));
      else x[i] = {load_of<T, W>(c.in.re + from), load_of<T, W>(c.in.im + from)};
    }
    butterfly<R>(x, c.roots);
    V re[R], im[R];
    re[0] = x[0].re;
    im[0] = x[0].im;
#pragma clang loop unroll(full)
    for (int j = 1; j < R; ++j) {
      const T *w = c.adjacent_twiddles + 2 * (j - 1) * size + t;
      const Complex<T, W> y = x[j].times(load_of<T, W>(w), load_of<T, W>(w + size));
      re[j] = y.re;
      im[j] = y.im;
    }
    if (kZips && run == 1) {
      if constexpr (kZips) {
        store_zipped<R, T, W>(c.out.re + R * t, re);
        store_zipped<R, T, W>(c.out.im + R * t, im);
      }
      continue;
    }
    int64_t p = t / run, at = t % run;
    for (int lane = 0; lane < W; ++lane) {
      T *to_re = c.out.re + p * R * run + at, *to_im = c.out.im + p * R * run + at;
#pragma clang loop unroll(full)
      for (int j = 0; j < R; ++j) {
        to_re[j * run] = re[j][lane];
        to_im[j * run] = im[j][lane];
      }
      if (++at == run) {
        at = 0;
        ++p;
      }
    }
  }
}

#define WEFT_FFT_RADICES(CALL)                                                                     \
  switch (c.radix) {                                                                               \
  case 2: return CALL(2);                                                                          \
  case 3: return CALL(3);                                                                          \
  case 4: return CALL(4);                                                                          \
  case 5: return CALL(5);                                                                          \
  case 7: return CALL(7);                                                                          \
  case 8: return CALL(8);                                                                          \
  case 11: return CALL(11);                                                                        \
  case 13: return CALL(13);                                                                        \
  default: return;                                                                                 \
  }

template <typename T, int W, Side In, Side Out, bool Twiddled>
void any_pass(const FftPass<T> &c) {
#define WEFT_FFT_PASS(R) pass<R, T, W, In, Out, Twiddled>(c)
  WEFT_FFT_RADICES(WEFT_FFT_PASS)
#undef WEFT_FFT_PASS
}

template <typename T, int W, Side In>
void any_adjacent(const FftPass<T> &c) {
#define WEFT_FFT_PASS(R) adjacent<R, T, W, In>(c)
  WEFT_FFT_RADICES(WEFT_FFT_PASS)
#undef WEFT_FFT_PASS
}

/// Whether all lanes have a line whose elements are adjacent pairs, which squares of vectors bring
/// into lanes.
template <typename T>
bool are_squares(const FftLines<T> &lines, int lanes) {
  return lines.lines == lanes && lines.step == 2 && lines.data.im == lines.data.re + 1;
}

/// The same of parts that are adjacent, which a square of vectors brings there each.
template <typename T>
bool are_parts(const FftLines<T> &lines, int lanes) {
  return lines.lines == lanes && lines.step == 1;
}

/// Whether all lanes have a line, and elements of neighbours are adjacent.
template <typename T>
bool are_vectors(const FftLines<T> &lines, int lanes) {
  return lines.lines == lanes && lines.line_step == 1;
}

template <typename T>
void gather(const FftLines<const T> &lines, T sign, FftData<T> to) {
  constexpr int W = kLanes<T>;
  int64_t first = 0;
  if (are_squares(lines, W))
    for (; first + W / 2 <= lines.size; first += W / 2) {
      Vec<T> x[W];
#pragma clang loop unroll(full)
      for (int line = 0; line < W; ++line)
        x[line] = load(lines.data.re + line * lines.line_step + 2 * first);
      transpose<T>(x);
#pragma clang loop unroll(full)
      for (int i = 0; i < W / 2; ++i) {
        store(to.re + (first + i) * W, x[2 * i]);
        store(to.im + (first + i) * W, x[2 * i + 1] * sign);
      }
    }
  else if (are_parts(lines, W))
    for (; first + W <= lines.size; first += W) {
      Vec<T> re[W], im[W];
#pragma clang loop unroll(full)
      for (int line = 0; line < W; ++line) {
        re[line] = load(lines.data.re + line * lines.line_step + first);
        im[line] = load(lines.data.im + line * lines.line_step + first);
      }
      transpose<T>(re);
      transpose<T>(im);
#pragma clang loop unroll(full)
      for (int i = 0; i < W; ++i) {
        store(to.re + (first + i) * W, re[i]);
        store(to.im + (first + i) * W, im[i] * sign);
      }
    }
  else if (are_vectors(lines, W))
    for (; first < lines.size; ++first) {
      store(to.re + first * W, load(lines.data.re + first * lines.step));
      store(to.im + first * W, load(lines.data.im + first * lines.step) * sign);
    }
  for (int64_t line = 0; line < W; ++line) {
    if (line >= lines.lines) {
      for (int64_t i = first; i < lines.size; ++i) to.re[i * W + line] = to.im[i * W + line] = 0;
      continue;
    }
    const T *re = lines.data.re + line * lines.line_step;
    const T *im = lines.data.im + line * lines.line_step;
    for (int64_t i = first; i < lines.size; ++i) {
      to.re[i * W + line] = re[i * lines.step];
      to.im[i * W + line] = im[i * lines.step] * sign;
    }
  }
}

template <typename T>
void scatter(FftData<const T> from, T scale_re, T scale_im, const FftLines<T> &lines) {
  constexpr int W = kLanes<T>;
  int64_t first = 0;
  if (are_squares(lines, W))
    for (; first + W / 2 <= lines.size; first += W / 2) {
      Vec<T> x[W];
#pragma clang loop unroll(full)
      for (int i = 0; i < W / 2; ++i) {
        x[2 * i] = load(from.re + (first + i) * W) * scale_re;
        x[2 * i + 1] = load(from.im + (first + i) * W) * scale_im;
      }
      transpose<T>(x);
#pragma clang loop unroll(full)
      for (int line = 0; line < W; ++line)
        store(lines.data.re + line * lines.line_step + 2 * first, x[line]);
    }
  else if (are_parts(lines, W))
    for (; first + W <= lines.size; first += W) {
      Vec<T> re[W], im[W];
#pragma clang loop unroll(full)
      for (int i = 0; i < W; ++i) {
        re[i] = load(from.re + (first + i) * W) * scale_re;
        im[i] = load(from.im + (first + i) * W) * scale_im;
      }
      transpose<T>(re);
      transpose<T>(im);
#pragma clang loop unroll(full)
      for (int line = 0; line < W; ++line) {
        store(lines.data.re + line * lines.line_step + first, re[line]);
        store(lines.data.im + line * lines.line_step + first, im[line]);
      }
    }
  else if (are_vectors(lines, W))
    for (; first < lines.size; ++first) {
      store(lines.data.re + first * lines.step, load(from.re + first * W) * scale_re);
      store(lines.data.im + first * lines.step, load(from.im + first * W) * scale_im);
    }
  for (int64_t line = 0; line < lines.lines; ++line) {
    T *re = lines.data.re + line * lines.line_step, *im = lines.data.im + line * lines.line_step;
    for (int64_t i = first; i < lines.size; ++i) {
      re[i * lines.step] = from.re[i * W + line] * scale_re;
      im[i * lines.step] = from.im[i * W + line] * scale_im;
    }
  }
}

template <typename T>
void multiply(int64_t size, const T *a, T sign, const T *b, T scale_re, T scale_im, T *out) {
  constexpr int W = kLanes<T>;
  using V = VecOf<T, W>;
  int64_t k = 0;
  for (; k + W <= size; k += W) {
    const Complex<T, W> x = load_pairs<T, W>(a + 2 * k, V(sign));
    const Complex<T, W> y = load_pairs<T, W>(b + 2 * k, V(T(1)));
    store_pairs<T, W>(out + 2 * k, x.times(y.re, y.im), V(scale_re), V(scale_im));
  }
  for (; k < size; ++k) {
    const T re = a[2 * k], im = a[2 * k + 1] * sign, x = b[2 * k], y = b[2 * k + 1];
    out[2 * k] = (re * x - im * y) * scale_re;
    out[2 * k + 1] = (re * y + im * x) * scale_im;
  }
}

template <typename T>
void exchange(int64_t rows, int64_t column, int64_t columns, FftData<const T> from, const T *fine,
              const T *coarse, FftData<T> out, int64_t out_block) {
  constexpr int W = kLanes<T>;
  using V = Vec<T>;
  for (int64_t row = 0; row < rows; row += W, out.re += out_block, out.im += out_block) {
    V re[W], im[W];
#pragma clang loop unroll(full)
    for (int i = 0; i < W; ++i) {
      re[i] = im[i] = V(T(0));
      if (row + i >= rows) continue;
      const T *first = fine + (row + i) * 2 * kFftFine<T> + column % kFftFine<T>;
      const V x(coarse[2 * (row + i)]), y(coarse[2 * (row + i) + 1]);
      const Complex<T, W> root = Complex<T, W>{load(first), load(first + kFftFine<T>)}.times(x, y);
      const Complex<T, W> value = {load(from.re + (row + i) * W), load(from.im + (row + i) * W)};
      const Complex<T, W> product = value.times(root.re, root.im);
      re[i] = product.re;
      im[i] = product.im;
    }
    transpose<T>(re);
    transpose<T>(im);
#pragma clang loop unroll(full)
    for (int i = 0; i < W; ++i) {
      if (i >= columns) break;
      store(out.re + (column + i) * W, re[i]);
      store(out.im + (column + i) * W, im[i]);
    }
  }
}

/// What an element of a spectrum of real numbers has of its mirror image: sums that both share, and
/// the rest, multiplied by i and the root w, or that conjugated.
template <typename V>
struct Halves {
  V even_re, even_im, odd_re, odd_im;

  static Halves of(V re, V im, V mirrored_re, V mirrored_im) {
    return {re + mirrored_re, im - mirrored_im, re - mirrored_re, im + mirrored_im};
  }
  Halves split(V w_re, V w_im) const {
    return {even_re, even_im, -(w_re * odd_im + w_im * odd_re), w_re * odd_re - w_im * odd_im};
  }
  Halves joined(V w_re, V w_im) const {
    return {even_re, even_im, w_im * odd_re - w_re * odd_im, w_re * odd_re + w_im * odd_im};
  }
};

template <typename T, int W>
inline Complex<T, W> reversed(Complex<T, W> x) {
  return {ShufflesFor<W>::reversed(x.re), ShufflesFor<W>::reversed(x.im)};
}

/// What becomes of an element and of its mirror image.
template <typename V>
struct Pair {
  V re, im, mirrored_re, mirrored_im;
};

/// Writes what a function gives of each element, its mirror image and its root, times a number: of
/// vectors as long as both are others, then of the elements in the middle. Not of the first and the
/// last one.
template <typename T, class Function>
inline void for_mirrored(int64_t half, const T *from, const T *roots, T by, T *to,
                         Function function) {
  constexpr int W = kLanes<T>;
  using V = Vec<T>;
  const V one(T(1)), all(by);
  int64_t k = 1;
  for (; k + W <= half - k - W + 1; k += W) {
    const int64_t mirrored = half - k - W + 1;
    const auto a = load_pairs<T, W>(from + 2 * k, one),
               b = reversed(load_pairs<T, W>(from + 2 * mirrored, one)),
               w = load_pairs<T, W>(roots + 2 * k, one);
    const Pair<V> found = function(Halves<V>::of(a.re, a.im, b.re, b.im), w.re, w.im);
    store_pairs<T, W>(to + 2 * mirrored,
                      reversed(Complex<T, W>{found.mirrored_re, found.mirrored_im}), all, all);
    store_pairs<T, W>(to + 2 * k, Complex<T, W>{found.re, found.im}, all, all);
  }
  for (; 2 * k <= half; ++k) {
    const T *a = from + 2 * k, *b = from + 2 * (half - k), *w = roots + 2 * k;
    const Pair<T> found = function(Halves<T>::of(a[0], a[1], b[0], b[1]), w[0], w[1]);
    T *low = to + 2 * k, *high = to + 2 * (half - k);
    high[0] = found.mirrored_re * by;
    high[1] = found.mirrored_im * by;
    low[0] = found.re * by;
    low[1] = found.im * by;
  }
}

template <typename T>
void split_real(int64_t half, const T *pairs, const T *roots, T scale, T *spectrum) {
  spectrum[0] = (pairs[0] + pairs[1]) * scale;
  spectrum[2 * half] = (pairs[0] - pairs[1]) * scale;
  spectrum[1] = spectrum[2 * half + 1] = 0;
  for_mirrored<T>(half, pairs, roots, scale * T(0.5), spectrum,
                  []<class V>(const Halves<V> &halves, V w_re, V w_im) {
                    const Halves<V> x = halves.split(w_re, w_im);
                    return Pair<V>{x.even_re - x.odd_re, x.even_im - x.odd_im, x.even_re + x.odd_re,
                                   -(x.even_im + x.odd_im)};
                  });
}

template <typename T>
void join_real(int64_t half, const T *spectrum, const T *roots, T *pairs) {
  pairs[0] = spectrum[0] + spectrum[2 * half];
  pairs[1] = spectrum[0] - spectrum[2 * half];
  for_mirrored<T>(half, spectrum, roots, T(1), pairs,
                  []<class V>(const Halves<V> &halves, V w_re, V w_im) {
                    const Halves<V> x = halves.joined(w_re, w_im);
                    return Pair<V>{x.even_re + x.odd_re, x.even_im + x.odd_im, x.even_re - x.odd_re,
                                   x.odd_im - x.even_im};
                  });
}

template <typename T>
constexpr FftKernels<T> kernels() {
  constexpr int W = kLanes<T>;
  // No vector is shorter than two lanes.
  constexpr int kHalf = W >= 8 ? W / 2 : W;
  FftKernels<T> all = {};
  all.lanes = W;
  all.first = any_pass<T, W, Side::pairs, Side::parts, true>;
  all.middle = any_pass<T, W, Side::parts, Side::parts, true>;
  all.last = any_pass<T, W, Side::parts, Side::parts, false>;
  all.out = any_pass<T, W, Side::parts, Side::pairs, false>;
  all.half_middle = any_pass<T, kHalf, Side::parts, Side::parts, true>;
  all.half_out = any_pass<T, kHalf, Side::parts, Side::pairs, false>;
  all.half_lanes = kHalf;
  all.adjacent_first = any_adjacent<T, W, Side::pairs>;
  all.adjacent_middle = any_adjacent<T, W, Side::parts>;
  all.gather = gather<T>;
  all.scatter = scatter<T>;
  all.multiply = multiply<T>;
  all.exchange = exchange<T>;
  all.split_real = split_real<T>;
  all.join_real = join_real<T>;
  return all;
}

} // namespace
} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#define WEFT_FFT_TABLE_OF(level) fft_level_v##level
#define WEFT_FFT_TABLE(level) WEFT_FFT_TABLE_OF(level)

extern const FftLevel WEFT_FFT_TABLE(WEFT_LEVEL);
const FftLevel WEFT_FFT_TABLE(WEFT_LEVEL) = {WEFT_LEVEL_NAMESPACE::kernels<float>(),
                                             WEFT_LEVEL_NAMESPACE::kernels<double>()};

} // namespace weft::kernels
