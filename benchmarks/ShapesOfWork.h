// The shapes of work: many rows of one op or one small program each, compiled and eager, beside
// libtorch, JAX, NumPy and DUCC.
#pragma once

#include "Benchmarks.h"
#include "WorkInputs.h"

#include <weft/weft.h>

namespace weft::bench {

/// What a shape of work takes and gives.
using Tensors = std::vector<Tensor>;
/// What a work with state does again and again.
using Step = std::function<Tensors()>;

constexpr std::int64_t kMi = 1 << 20;

/// An input of numbers in [low, high).
inline WorkInput uniform(std::vector<std::int64_t> shape, double low = -1, double high = 1) {
  return {Elements::uniform, std::move(shape), low, high};
}

/// Who else does the same work; several are or-ed.
enum Peers : std::uint8_t { kTorch = 1, kJax = 2, kNumPy = 4, kAllPeers = 7, kDucc = 8 };

/// One shape of work. The row of its name measures it as a traced function, the row NAME_eager as
/// it stands. The peers know it by the same name.
struct Work {
  std::string name;
  /// One line for --list.
  std::string what;
  std::vector<WorkInput> inputs;
  Tensors (*run)(const Tensors &inputs);
  int peers = kAllPeers;
  /// How far, relative to their size, results of peers may be from Weft's.
  double tolerance = 1e-4;
  /// Whether results are random: peers have the distribution in common, and no element.
  bool random = false;
  /// For a work that keeps state, in the place of `run`: sets it up with the inputs and gives its
  /// step, compiled or eager. What is compared is the result of the third.
  Step (*make)(const Tensors &inputs, bool compile) = nullptr;
  /// Whether signs are of choice, as those of a decomposition's vectors: absolute values are
  /// compared.
  bool any_sign = false;
  /// The group of its rows.
  const char *group = kShapes;
};

/// Those of the group functions: linear algebra, Fourier transforms, special functions.
std::vector<Work> function_works();
/// All of them: those that move, order and reduce elements, ops on windows, the small programs, the
/// functions.
const std::vector<Work> &works();
/// The part of `works()` that is small programs: normalisation, losses, recurrences, gradients.
std::vector<Work> small_programs();
/// The part that is ops on windows: convolution, pooling, and gradients of both.
std::vector<Work> window_works();

/// The part that is networks and parts of them: attention, recurrent layers, training steps.
std::vector<Work> network_works();
/// The arrays that are described.
Tensors tensors_of(const std::vector<WorkInput> &inputs);

/// The row of a work's name, or of its name and "_eager".
Row shape_of_work(const std::string &name, const Session &session);
/// Compares what Weft, compiled and eager, and the peers that are installed compute for that row,
/// and gives a sentence about it. Throws std::runtime_error where they differ.
std::string check_shape_of_work(const std::string &name, const Session &session);

/// Whoever is installed of libtorch, JAX, NumPy and DUCC, measuring the work `name` on inputs
/// described by `words`.
std::vector<Contender> peers_at_work(const std::string &name, int peers,
                                     const std::vector<std::string> &words, const Session &session);

} // namespace weft::bench
