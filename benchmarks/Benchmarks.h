// The list of benchmarks and what each of them is given.
#pragma once

#include "Harness.h"

#include <optional>
#include <string>
#include <vector>

namespace weft::bench {

/// What a benchmark may use.
struct Session {
  int repeats = 7;
  /// Threads for Weft and for every peer.
  int threads = 1;
  /// The folder of weft-bench itself, where Weft's other programs are.
  std::string programs;
  /// benchmarks/ in the source tree.
  std::string sources;
  /// build/peers, where `--peers` installs what Weft is compared with.
  std::string peers;

  /// A program of Weft's own.
  std::string program(const std::string &name) const { return programs + "/" + name; }
  /// libtorch's measurement of that name; nothing when libtorch is not installed.
  std::optional<Contender> libtorch(const std::string &what, int threads_of_peer) const;
  /// A measurement by one of the Python programs in benchmarks/peers; nothing when they are not
  /// installed.
  std::optional<Contender> python(const std::string &script, const std::string &what) const;
  /// The command of such a program; nothing when they are not installed.
  std::optional<std::vector<std::string>> python_command(const std::string &script) const;
  /// The first call by such a program: every repeat is a process of its own.
  std::optional<Contender> first_call(const std::string &script) const;
  /// A matrix product by OpenBLAS or oneDNN.
  Contender blas(const std::string &library, int m, int k, int n) const;
};

/// A line server as a contender, which starts at its first repeat.
Contender line_server(const std::string &name, std::vector<std::string> command, int threads);

/// The groups of rows: what is measured when nothing is named, the shapes of work, and what is
/// around a training: data, checkpoints and serving; the Python package; a GPU; functions of linear
/// algebra, Fourier transforms and special functions; and programs of several processes.
inline constexpr const char *kCore = "core", *kShapes = "shapes", *kData = "data",
                            *kPython = "python", *kGpu = "gpu", *kFunctions = "functions",
                            *kMachines = "machines";

/// One named row.
struct Benchmark {
  std::string name;
  /// One line for --list.
  std::string what;
  Row (*run)(const std::string &name, const Session &session);
  std::string group = kCore;
  /// Compares results with those of peers and says what was compared; throws std::runtime_error
  /// where they differ. Null for a row without results, or whose results another row's check
  /// compares.
  std::string (*check)(const std::string &name, const Session &session) = nullptr;
};

/// All of them, in the order of the table.
const std::vector<Benchmark> &benchmarks();

/// A collective, or a step of training, of two processes.
Row ranks(const std::string &name, const Session &session);
/// A step whose exchanges go over a wire of 1 Gbit/s, begun in the backward pass or behind it.
Row ranks_wire(const std::string &name, const Session &session);
Row ranks_shard(const std::string &name, const Session &session);
Row ranks_four(const std::string &name, const Session &session);
Row ranks_shard_state(const std::string &name, const Session &session);
Row ranks_overlap(const std::string &name, const Session &session);

Row eager_add8(const std::string &name, const Session &session);
Row compiled_call(const std::string &name, const Session &session);
Row chain10_4m(const std::string &name, const Session &session);
Row bf16_add_4m(const std::string &name, const Session &session);
Row bf16_cast_4m(const std::string &name, const Session &session);
Row u8_scale_4m(const std::string &name, const Session &session);
Row matmul(const std::string &name, const Session &session);
Row mlp_train_step_eager(const std::string &name, const Session &session);
Row mlp_train_step_compiled(const std::string &name, const Session &session);
Row compile_mlp_step(const std::string &name, const Session &session);
Row compile_mlp_step_warm(const std::string &name, const Session &session);
Row trace_20k_ops(const std::string &name, const Session &session);
Row compiled_call_k(const std::string &name, const Session &session);
Row while_scalar(const std::string &name, const Session &session);
Row trace_op(const std::string &name, const Session &session);
Row nested_conds_200(const std::string &name, const Session &session);
Row dynamic_shapes_elementwise(const std::string &name, const Session &session);
Row dynamic_shapes_rows(const std::string &name, const Session &session);
Row grad_mlp(const std::string &name, const Session &session);
Row tape_overhead(const std::string &name, const Session &session);
Row scan_reverse(const std::string &name, const Session &session);
Row while_checkpoint_sqrt(const std::string &name, const Session &session);
Row differentiate_10k_ops(const std::string &name, const Session &session);
Row start_weft_opt(const std::string &name, const Session &session);
Row start_eager_program(const std::string &name, const Session &session);
Row reductions_250_compile(const std::string &name, const Session &session);
Row transformer_12_first_call(const std::string &name, const Session &session);
Row eager_mlp_peak(const std::string &name, const Session &session);
Row adam_update_1000x10k(const std::string &name, const Session &session);
Row writes_128_compile(const std::string &name, const Session &session);
Row conv_column(const std::string &name, const Session &session);
Row matmul_bf16_1024(const std::string &name, const Session &session);
Row busy_matmul_256(const std::string &name, const Session &session);
Row data_digits(const std::string &name, const Session &session);
Row train_from_dataset(const std::string &name, const Session &session);
Row checkpoint_save(const std::string &name, const Session &session);
Row checkpoint_restore(const std::string &name, const Session &session);
Row step_while_saving(const std::string &name, const Session &session);
Row serve_p99(const std::string &name, const Session &session);
std::vector<Benchmark> gpu_rows();
Row python_row(const std::string &name, const Session &session);
Row python_step(const std::string &name, const Session &session);
Row python_import(const std::string &name, const Session &session);

} // namespace weft::bench
