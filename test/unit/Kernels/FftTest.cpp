// Tests of Fourier transforms: against sums in extended precision, at every CPU level, and bit for
// bit between lines alone, in batches, strided and on any number of threads.

#include "Kernels/Fft.h"
#include "Kernels/FftPlan.h"
#include "Kernels/FftRoots.h"

#include "Support/Threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/error.h>

#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace weft::kernels {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4};

template <class T>
using Pairs = std::vector<std::complex<T>>;

template <class T>
constexpr DType kParts = sizeof(T) == 4 ? DType::f32 : DType::f64;

template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T &value : values) value = static_cast<T>(normal(random));
  return values;
}

template <class T>
Pairs<T> pairs(std::int64_t count, std::int64_t seed) {
  const std::vector<T> parts = numbers<T>(2 * count, seed);
  Pairs<T> values(static_cast<std::size_t>(count));
  std::memcpy(values.data(), parts.data(), parts.size() * sizeof(T));
  return values;
}

/// A tensor of up to three dimensions, transformed along one.
struct Setting {
  std::vector<std::int64_t> sizes;
  std::int64_t axis = 0;
  bool inverse = false;
  double scale = 1;
  CpuLevel level = CpuLevel::v4;
};

std::vector<std::int64_t> dense(const std::vector<std::int64_t> &sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

/// From strides of x to a dense result whose axis has `out_size` numbers.
template <class T, class In, class Out>
std::vector<Out> transformed(FftKind kind, const In *x, const std::vector<std::int64_t> &strides,
                             const Setting &setting, std::int64_t size, std::int64_t out_size) {
  std::vector<std::int64_t> out_sizes = setting.sizes;
  out_sizes[static_cast<std::size_t>(setting.axis)] = out_size;
  std::int64_t count = 1;
  for (const std::int64_t extent : out_sizes) count *= extent;
  const std::vector<std::int64_t> out_strides = dense(out_sizes);
  std::vector<Out> result(static_cast<std::size_t>(count));
  // Strides of elements; complex numbers are pairs of them.
  std::vector<std::int64_t> from = strides, to = out_strides;
  for (std::int64_t &stride : from) stride *= static_cast<std::int64_t>(sizeof(In) / sizeof(T));
  for (std::int64_t &stride : to) stride *= static_cast<std::int64_t>(sizeof(Out) / sizeof(T));
  const T *const x_parts = reinterpret_cast<const T *>(x);
  T *const y_parts = reinterpret_cast<T *>(result.data());
  fft_forced(
      kParts<T>,
      {.kind = kind,
       .inverse = setting.inverse,
       .scale = setting.scale,
       .size = size,
       .rank = static_cast<std::int64_t>(setting.sizes.size()),
       .sizes = setting.sizes.data(),
       .axis = setting.axis,
       .x = {x_parts, from.data(), sizeof(In) == sizeof(T) ? nullptr : x_parts + 1, from.data()},
       .result = {y_parts, to.data(), sizeof(Out) == sizeof(T) ? nullptr : y_parts + 1, to.data()}},
      setting.level);
  return result;
}

template <class T>
Pairs<T> complex_of(const Pairs<T> &x, const Setting &setting) {
  const std::int64_t size = setting.sizes[static_cast<std::size_t>(setting.axis)];
  return transformed<T, std::complex<T>, std::complex<T>>(
      FftKind::complex, x.data(), dense(setting.sizes), setting, size, size);
}

template <class T>
Pairs<T> spectrum_of(const std::vector<T> &x, const Setting &setting) {
  const std::int64_t size = setting.sizes[static_cast<std::size_t>(setting.axis)];
  return transformed<T, T, std::complex<T>>(FftKind::real, x.data(), dense(setting.sizes), setting,
                                            size, size / 2 + 1);
}

template <class T>
std::vector<T> real_of(const Pairs<T> &x, const Setting &setting, std::int64_t size) {
  return transformed<T, std::complex<T>, T>(FftKind::hermitian, x.data(), dense(setting.sizes),
                                            setting, size, size);
}

template <class T>
bool same_bits(const std::vector<T> &a, const std::vector<T> &b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// Element k of the transform, by the sum that defines it.
template <class T>
std::complex<long double> by_sum(const Pairs<T> &x, const Pairs<long double> &roots, std::int64_t k,
                                 bool inverse) {
  std::complex<long double> sum = 0;
  const auto size = static_cast<std::int64_t>(x.size());
  std::int64_t angle = 0;
  for (const std::complex<T> &value : x) {
    const auto &root = roots[static_cast<std::size_t>(angle)];
    sum += std::complex<long double>(value) * (inverse ? std::conj(root) : root);
    angle = (angle + k) % size;
  }
  return sum;
}

Pairs<long double> plain_roots(std::int64_t size) {
  Pairs<long double> roots(static_cast<std::size_t>(size));
  for (std::int64_t k = 0; k < size; ++k)
    roots[static_cast<std::size_t>(k)] =
        std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                             static_cast<long double>(size));
  return roots;
}

/// How far y is off, of the elements `step` apart, by the root of the mean square.
template <class T>
double error_of(const Pairs<T> &x, const Pairs<T> &y, bool inverse, std::int64_t step) {
  const auto size = static_cast<std::int64_t>(x.size());
  const Pairs<long double> roots = plain_roots(size);
  long double off = 0, all = 0;
  for (std::int64_t k = 0; k < size; k += step) {
    const std::complex<long double> right = by_sum(x, roots, k, inverse);
    off += std::norm(right - std::complex<long double>(y[static_cast<std::size_t>(k)]));
    all += std::norm(right);
  }
  return static_cast<double>(std::sqrt(off / all));
}

template <class T>
constexpr double kOff = sizeof(T) == 4 ? 3.5e-7 : 9e-16;

template <class T>
class FftTest : public ::testing::Test {};
using Parts = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FftTest, Parts);

TYPED_TEST(FftTest, EveryShortLengthIsTheSum) {
  using T = TypeParam;
  for (std::int64_t size = 1; size <= 300; ++size) {
    const Pairs<T> x = pairs<T>(size, size);
    for (const bool inverse : {false, true}) {
      const Pairs<T> y = complex_of(x, {{size}, 0, inverse});
      EXPECT_LT(error_of(x, y, inverse, 1), kOff<T>) << size << " inverse " << inverse;
      for (const CpuLevel level : kLevels)
        EXPECT_TRUE(same_bits(y, complex_of(x, {{size}, 0, inverse, 1, level})))
            << size << " at level " << static_cast<int>(level);
    }
  }
}

/// Lengths of every kind of plan: powers, all radices, large primes, split lines, and convolutions
/// that are split.
constexpr std::int64_t kLong[] = {1000,  1009,  1024,  2310,  4095,  4096,   8192,  16384,
                                  20011, 30030, 32768, 65536, 78125, 100000, 131071};

TYPED_TEST(FftTest, LongLinesAreTheSum) {
  using T = TypeParam;
  for (const std::int64_t size : kLong) {
    const Pairs<T> x = pairs<T>(size, size);
    const Pairs<T> y = complex_of(x, {{size}});
    EXPECT_LT(error_of(x, y, false, size / 23 + 1), kOff<T>) << size;
    for (const CpuLevel level : kLevels)
      EXPECT_TRUE(same_bits(y, complex_of(x, {{size}, 0, false, 1, level})))
          << size << " at level " << static_cast<int>(level);
    // And back, by the scale.
    const Pairs<T> back = complex_of(y, {{size}, 0, true, 1 / static_cast<double>(size)});
    long double off = 0, energy = 0, of_spectrum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      off += std::norm(std::complex<long double>(back[k]) - std::complex<long double>(x[k]));
      energy += std::norm(std::complex<long double>(x[k]));
      of_spectrum += std::norm(std::complex<long double>(y[k]));
    }
    EXPECT_LT(std::sqrt(off / energy), 2 * kOff<T>) << size;
    EXPECT_NEAR(static_cast<double>(of_spectrum / energy / static_cast<long double>(size)), 1,
                4 * kOff<T>)
        << size;
  }
}

/// Each line of a tensor alone, whatever its offset and stride, at every level and number of
/// threads.
TYPED_TEST(FftTest, LinesHaveTheBitsOfALineAlone) {
  using T = TypeParam;
  const int threads = num_threads();
  for (const std::int64_t size : {1,  2,   3,   5,   8,   12,   13,   17,   30,    64,    77,
                                  96, 100, 143, 256, 360, 1009, 1024, 4096, 32768, 40960, 45056}) {
    for (const std::int64_t inner : {1, 3, 8, 21}) {
      if (size > 5000 && inner > 8) continue;
      const std::vector<std::int64_t> sizes = {size > 5000 ? 2 : 5, size, inner};
      const Pairs<T> x = pairs<T>(sizes[0] * size * inner, size + inner);
      Pairs<T> right(x.size());
      for (std::int64_t outer = 0; outer < sizes[0]; ++outer)
        for (std::int64_t i = 0; i < inner; ++i) {
          const auto at = [&](std::int64_t k) {
            return static_cast<std::size_t>((outer * size + k) * inner + i);
          };
          Pairs<T> line(static_cast<std::size_t>(size));
          for (std::int64_t k = 0; k < size; ++k) line[static_cast<std::size_t>(k)] = x[at(k)];
          line = complex_of(line, {{size}, 0, true, 0.5});
          for (std::int64_t k = 0; k < size; ++k) right[at(k)] = line[static_cast<std::size_t>(k)];
        }
      for (const int count : {1, 4}) {
        set_num_threads(count);
        for (const CpuLevel level : kLevels)
          EXPECT_TRUE(same_bits(right, complex_of(x, {sizes, 1, true, 0.5, level})))
              << size << " beside " << inner << " at level " << static_cast<int>(level) << " on "
              << count << " threads";
      }
      set_num_threads(threads);
    }
  }
}

TYPED_TEST(FftTest, TakesAnyStrides) {
  using T = TypeParam;
  for (const std::int64_t size : {6, 64, 1009, 20000}) {
    const std::int64_t lines = 11;
    const Pairs<T> x = pairs<T>(size * lines * 2, size);
    // Every second element of lines in reverse, the lines in reverse too.
    const std::vector<std::int64_t> strides = {-2 * size, -2};
    const auto run = [&](const std::complex<T> *from, const std::vector<std::int64_t> &by) {
      return transformed<T, std::complex<T>, std::complex<T>>(FftKind::complex, from, by,
                                                              {{lines, size}, 1}, size, size);
    };
    Pairs<T> copy;
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t k = 0; k < size; ++k)
        copy.push_back(x[static_cast<std::size_t>(size * lines * 2 - 1 - line * 2 * size - 2 * k)]);
    EXPECT_TRUE(
        same_bits(run(x.data() + x.size() - 1, strides), run(copy.data(), dense({lines, size}))))
        << size;
    // One line as all of them.
    const Pairs<T> all = run(x.data(), {0, 1});
    const Pairs<T> one = complex_of(Pairs<T>(x.begin(), x.begin() + size), {{size}});
    for (std::int64_t line = 0; line < lines; ++line)
      EXPECT_EQ(std::memcmp(all.data() + line * size, one.data(), one.size() * sizeof one[0]), 0);
  }
}

/// Parts in arrays of their own, on either side, also with strides of their own.
TYPED_TEST(FftTest, PartsHaveTheBitsOfPairs) {
  using T = TypeParam;
  for (const std::int64_t size : {1, 6, 13, 64, 96, 1009, 1024, 32768}) {
    for (const std::int64_t lines : {1, 3, 19}) {
      const Pairs<T> x = pairs<T>(lines * size, size);
      std::vector<T> re, im(static_cast<std::size_t>(lines * size));
      for (const std::complex<T> &value : x) re.push_back(value.real());
      // The imaginary parts by columns.
      for (std::int64_t line = 0; line < lines; ++line)
        for (std::int64_t k = 0; k < size; ++k)
          im[static_cast<std::size_t>(k * lines + line)] =
              x[static_cast<std::size_t>(line * size + k)].imag();
      const Pairs<T> right = complex_of(x, {{lines, size}, 1, true});
      const std::int64_t sizes[] = {lines, size}, rows[] = {size, 1}, columns[] = {1, lines},
                         both[] = {2 * size, 2};
      for (const bool joined : {false, true}) {
        std::vector<T> y(2 * x.size());
        const std::int64_t *const to = joined ? both : rows;
        const auto gap = joined ? 1 : static_cast<std::ptrdiff_t>(x.size());
        fft(kParts<T>, {.kind = FftKind::complex,
                        .inverse = true,
                        .scale = 1,
                        .size = size,
                        .rank = 2,
                        .sizes = sizes,
                        .axis = 1,
                        .x = {re.data(), rows, im.data(), columns},
                        .result = {y.data(), to, y.data() + gap, to}});
        Pairs<T> found;
        for (std::size_t i = 0; i < x.size(); ++i)
          found.emplace_back(y[joined ? 2 * i : i], y[joined ? 2 * i + 1 : i + x.size()]);
        EXPECT_TRUE(same_bits(right, found)) << lines << " lines of " << size;
      }
    }
  }
}

/// Parts in two arrays of equal strides, which vectors bring into lanes and back, on either side.
TYPED_TEST(FftTest, PlanesHaveTheBitsOfPairs) {
  using T = TypeParam;
  const auto at = [](const Pairs<T> &x, bool planes) {
    std::vector<T> parts(2 * x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      parts[planes ? i : 2 * i] = x[i].real();
      parts[planes ? i + x.size() : 2 * i + 1] = x[i].imag();
    }
    return parts;
  };
  for (const std::int64_t size : {5, 8, 60, 96, 256})
    for (const std::int64_t lines : {3, 16, 37})
      for (const std::int64_t axis : {0, 1}) {
        const Pairs<T> x = pairs<T>(lines * size, size + axis);
        const std::int64_t rows = axis == 0 ? size : lines, columns = axis == 0 ? lines : size;
        const std::int64_t sizes[] = {rows, columns}, apart[] = {columns, 1},
                           beside[] = {2 * columns, 2};
        for (const CpuLevel level : kLevels)
          for (const bool inverse : {false, true}) {
            const Pairs<T> right = complex_of(x, {{rows, columns}, axis, inverse, 0.3, level});
            for (const bool from_planes : {false, true})
              for (const bool to_planes : {false, true}) {
                const std::vector<T> given = at(x, from_planes);
                std::vector<T> found(given.size());
                const auto gap = [&](bool planes) {
                  return planes ? static_cast<std::ptrdiff_t>(x.size()) : 1;
                };
                const std::int64_t *const from = from_planes ? apart : beside, *const to =
                                                                                   to_planes
                                                                                       ? apart
                                                                                       : beside;
                fft_forced(kParts<T>,
                           {.kind = FftKind::complex,
                            .inverse = inverse,
                            .scale = 0.3,
                            .size = size,
                            .rank = 2,
                            .sizes = sizes,
                            .axis = axis,
                            .x = {given.data(), from, given.data() + gap(from_planes), from},
                            .result = {found.data(), to, found.data() + gap(to_planes), to}},
                           level);
                EXPECT_TRUE(same_bits(at(right, to_planes), found))
                    << lines << " lines of " << size << " along axis " << axis
                    << (from_planes ? " from planes" : " from pairs")
                    << (to_planes ? " to planes" : " to pairs");
              }
          }
      }
}

TYPED_TEST(FftTest, RealLinesAreComplexOnes) {
  using T = TypeParam;
  for (std::int64_t size = 1; size <= 40000; size = size < 130 ? size + 1 : size * 5 / 2 + 1) {
    const std::vector<T> x = numbers<T>(size, size);
    const Pairs<T> whole = complex_of(Pairs<T>(x.begin(), x.end()), {{size}});
    const Pairs<T> half = spectrum_of(x, {{size}});
    ASSERT_EQ(static_cast<std::int64_t>(half.size()), size / 2 + 1);
    long double off = 0, all = 0;
    for (std::size_t k = 0; k < half.size(); ++k) {
      off += std::norm(std::complex<long double>(half[k]) - std::complex<long double>(whole[k]));
      all += std::norm(std::complex<long double>(whole[k]));
    }
    EXPECT_LT(std::sqrt(off / all), 2 * kOff<T>) << size;
    EXPECT_EQ(half[0].imag(), 0) << size;
    if (size % 2 == 0) EXPECT_EQ(half.back().imag(), 0) << size;

    // And back, whatever the imaginary parts are that must be zero.
    Pairs<T> spectrum = half;
    spectrum[0].imag(7);
    if (size % 2 == 0) spectrum.back().imag(-3);
    const Setting back = {{size / 2 + 1}, 0, true, 1 / static_cast<double>(size)};
    const std::vector<T> again = real_of(spectrum, back, size);
    off = all = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      off += std::pow(static_cast<long double>(again[k]) - static_cast<long double>(x[k]), 2);
      all += std::pow(static_cast<long double>(x[k]), 2);
    }
    EXPECT_LT(std::sqrt(off / all), 2 * kOff<T>) << size;

    // Bits of lines in a batch, along either axis, at every level.
    const std::int64_t lines = 5;
    std::vector<T> rows, columns(static_cast<std::size_t>(lines * size));
    Pairs<T> spectra, across(half.size() * static_cast<std::size_t>(lines));
    for (std::int64_t line = 0; line < lines; ++line) {
      rows.insert(rows.end(), x.begin(), x.end());
      spectra.insert(spectra.end(), half.begin(), half.end());
      for (std::size_t k = 0; k < x.size(); ++k)
        columns[k * lines + static_cast<std::size_t>(line)] = x[k];
      for (std::size_t k = 0; k < half.size(); ++k)
        across[k * lines + static_cast<std::size_t>(line)] = half[k];
    }
    const std::vector<T> line_back = real_of(half, back, size);
    std::vector<T> rows_back, columns_back(columns.size());
    for (std::int64_t line = 0; line < lines; ++line) {
      rows_back.insert(rows_back.end(), line_back.begin(), line_back.end());
      for (std::size_t k = 0; k < x.size(); ++k)
        columns_back[k * lines + static_cast<std::size_t>(line)] = line_back[k];
    }
    for (const CpuLevel level : kLevels) {
      EXPECT_TRUE(same_bits(spectra, spectrum_of(rows, {{lines, size}, 1, false, 1, level})))
          << size;
      EXPECT_TRUE(same_bits(across, spectrum_of(columns, {{size, lines}, 0, false, 1, level})))
          << size;
      EXPECT_TRUE(same_bits(
          rows_back, real_of(spectra, {{lines, size / 2 + 1}, 1, true, back.scale, level}, size)))
          << size;
      EXPECT_TRUE(same_bits(
          columns_back, real_of(across, {{size / 2 + 1, lines}, 0, true, back.scale, level}, size)))
          << size;
    }
  }
}

TEST(Fft, ThreadsShareAPlan) {
  // Lengths that nobody has asked for before, by all threads at once.
  const std::vector<std::int64_t> sizes = {1234, 2347, 6561, 19683, 28561};
  std::vector<std::vector<Pairs<double>>> results(4);
  std::vector<std::thread> threads;
  for (auto &mine : results)
    threads.emplace_back([&] {
      for (const std::int64_t size : sizes)
        mine.push_back(complex_of(pairs<double>(size, size), {{size}}));
    });
  for (std::thread &thread : threads) thread.join();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Pairs<double> right = complex_of(pairs<double>(sizes[i], sizes[i]), {{sizes[i]}});
    for (const auto &mine : results) EXPECT_TRUE(same_bits(right, mine[i])) << sizes[i];
  }
}

TEST(Fft, ChildrenOfForkHavePlans) {
  // Another thread looks for plans all the time, so that some children are born amid that.
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (std::int64_t size = 300; !done; size = size < 900 ? size + 1 : 300) fft_plan<double>(size);
  });
  const Pairs<double> x = pairs<double>(360, 1), right = complex_of(x, {{360}});
  for (int i = 0; i < 30; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20); // rather than to wait for ever
      _exit(same_bits(right, complex_of(x, {{360}})) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  done = true;
  other.join();
}

TEST(Fft, KeepsThePlansLastUsed) {
  const auto plan = fft_plan<double>(720);
  EXPECT_EQ(plan, fft_plan<double>(720));
  std::weak_ptr<const FftPlan<double>> old = fft_plan<double>(840);
  // More than are kept; one of them is used all the time.
  for (std::int64_t size = 100003; size < 100003 + 2 * 60; size += 2) {
    fft_plan<double>(size);
    EXPECT_EQ(plan, fft_plan<double>(720));
  }
  EXPECT_TRUE(old.expired());
}

TEST(Fft, RootsAreExactWhereTheyCanBe) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 24, 1000, 1 << 20}) {
    const RootsOfUnity roots(n);
    for (std::int64_t k = 0; k < n; k += n / 1000 + 1) {
      const auto root = roots(k), mirrored = roots(-k);
      EXPECT_EQ(root.re, mirrored.re) << k << " of " << n;
      EXPECT_EQ(std::abs(root.im), std::abs(mirrored.im)) << k << " of " << n;
      const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                                static_cast<long double>(n);
      EXPECT_NEAR(static_cast<double>(root.re - std::cos(angle)), 0, 1e-18) << k << " of " << n;
      EXPECT_NEAR(static_cast<double>(root.im - std::sin(angle)), 0, 1e-18) << k << " of " << n;
    }
    EXPECT_EQ(roots(0).re, 1);
    EXPECT_EQ(roots(0).im, 0);
    if (n % 4 == 0) {
      EXPECT_EQ(roots(n / 4).re, 0);
      EXPECT_EQ(roots(n / 4).im, -1);
      EXPECT_EQ(roots(n / 2).im, 0);
    }
    if (n % 8 == 0)
      EXPECT_EQ(static_cast<double>(roots(n / 8).re), -static_cast<double>(roots(n / 8).im));
  }
}

TEST(Fft, RefusesALengthOfNothing) {
  for (const std::int64_t size : {0, -3}) {
    const std::int64_t extent = 4, stride = 2;
    const std::vector<double> x(8);
    std::vector<double> y(8);
    const FftArgs args = {.kind = FftKind::complex,
                          .inverse = false,
                          .scale = 1,
                          .size = size,
                          .rank = 1,
                          .sizes = &extent,
                          .axis = 0,
                          .x = {x.data(), &stride, x.data() + 1, &stride},
                          .result = {y.data(), &stride, y.data() + 1, &stride}};
    try {
      fft(DType::f64, args);
      ADD_FAILURE() << "a length of " << size << " was taken";
    } catch (const ShapeError &error) {
      EXPECT_NE(
          std::string(error.what()).find("must be 1 or more, but it is " + std::to_string(size)),
          std::string::npos)
          << error.what();
    }
  }
}

} // namespace
} // namespace weft::kernels
