// The loops of rejection of one x86-64 level. The build compiles this file once per level, with
// that level's -march and WEFT_LEVEL set to 2, 3 or 4; the compiler makes vectors of them.
#include "Kernels/RejectionKernels.h"

#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

void gamma_parameters(int count, const double *__restrict a, double *__restrict d,
                      double *__restrict d_again, double *__restrict scale) {
  constexpr double kInfinity = __builtin_inf();
  for (int i = 0; i < count; ++i) {
    const double boosted = (a[i] < 1 ? a[i] + 1 : a[i]) - 1.0 / 3;
    const double value = a[i] > 0 && a[i] < kInfinity ? boosted : 1;
    d[i] = value;
    d_again[i] = value;
    scale[i] = __builtin_elementwise_sqrt(9 * value);
  }
}

void gamma_roots(int count, const double *__restrict z, const double *__restrict scale,
                 double *__restrict root, double *__restrict positive_root) {
  constexpr double kSmallest = 0x1p-1022;
  for (int i = 0; i < count; ++i) {
    const double v = 1 + z[i] / scale[i];
    root[i] = v;
    positive_root[i] = v > kSmallest ? v : kSmallest;
  }
}

int gamma_candidates(int count, const kernels::GammaParameters &parameters,
                     const double *__restrict z, const double *__restrict root,
                     const double *__restrict log_root, const double *__restrict log_v,
                     double *__restrict logarithm, int *__restrict refused) {
  const double *__restrict d = parameters.d, *__restrict log_d = parameters.log_d;
  int refusals = 0;
  constexpr int kStep = 64;
  for (int begin = 0; begin < count; begin += kStep) {
    const int size = count - begin < kStep ? count - begin : kStep;
    bool is_refused[kStep];
    int some = 0;
    for (int k = 0; k < size; ++k) {
      const int i = begin + k;
      const double v = root[i], cube = v * v * v, log_cube = 3 * log_root[i];
      logarithm[i] = log_d[i] + log_cube;
      const bool fits = log_v[i] < 0.5 * z[i] * z[i] + d[i] * (1 - cube + log_cube);
      is_refused[k] = !((v > 0) & fits);
      some |= is_refused[k];
    }
    if (some == 0) continue;
    for (int k = 0; k < size; ++k) {
      refused[refusals] = begin + k;
      refusals += is_refused[k];
    }
  }
  return refusals;
}

void quotients(int count, const double *__restrict x, const double *__restrict y,
               double *__restrict quotient) {
  for (int i = 0; i < count; ++i) quotient[i] = x[i] / y[i];
}

} // namespace

constexpr kernels::RejectionLevel kRejectionTable = {gamma_parameters, gamma_roots,
                                                     gamma_candidates, quotients};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const RejectionLevel rejection_level_v4 = v4::kRejectionTable;
#elif WEFT_LEVEL == 3
const RejectionLevel rejection_level_v3 = v3::kRejectionTable;
#else
const RejectionLevel rejection_level_v2 = v2::kRejectionTable;
#endif

} // namespace weft::kernels
