// Programs that outlive their source: traced functions exported to a file, and loaded from it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/detail/parameters.h>
#include <weft/function.h>
#include <weft/variable.h>

namespace weft {

/// Options of `export_program`.
struct ExportOptions {
  /// What the program is called; the function's own name if empty.
  std::string name = {};
  /// The types that tensor arguments have, one per tensor in the order of the arguments: code is
  /// compiled for each of these lists. Sizes may be `unknown`. Without any it is the function's
  /// FunctionOptions::signature.
  std::vector<std::vector<TensorType>> signatures = {};
  /// Variables become constants of the code with the values that they have now: for small models,
  /// of which the compiler can make more then. A variable that the function assigns is refused.
  bool freeze = false;
  /// The processors that there shall be code for: "x86-64-v2", "x86-64-v3", "x86-64-v4"; this
  /// machine's if there are none. On others the program is compiled again when it is loaded.
  std::vector<std::string> processors = {};
  /// The chips of GPUs that there shall be code for, besides: "sm_80", which all later ones run as
  /// well, or "sm_90a". On others it is compiled again when it first runs there.
  std::vector<std::string> chips = {};
};

/// Options of `load_program`.
struct LoadOptions {
  /// Whether weights are read at once and compared with their digests. Without it each is read when
  /// it is first used, and damage to it is not seen. Code is always compared.
  bool verify_weights = true;
  /// A GPU that calls run on, "gpu:0": arguments and variables are moved there, and variables stay.
  /// Without one they run where their arguments are.
  Device device = {};
};

/// One way to call a loaded program.
struct ProgramEntry {
  std::vector<TensorType> inputs;  ///< of the arguments; sizes may be `unknown`
  std::vector<TensorType> outputs; ///< of the results
  /// What the file has code for: "x86-64-v3", or LLVM's name of the processor that it was exported
  /// on.
  std::vector<std::string> processors;
  std::vector<std::string> chips; ///< of GPUs, that it has code for: "sm_90a"
};

/// A program that `export_program` wrote. Copies are the same program, and share its variables.
/// Calls may come from any thread; those that update a variable wait for each other.
class LoadedProgram {
public:
  // A move is a copy: no handle is ever without its program.
  LoadedProgram(const LoadedProgram &) = default;
  LoadedProgram &operator=(const LoadedProgram &) = default;

  /// Runs the entry whose types fit the arguments, of several the one with the fewest open sizes,
  /// and gives the tensors of the function's result in their order. Throws ValueError for another
  /// number of tensors or an undefined one, DTypeError or ShapeError, which list the entries, if
  /// none fits; StateError inside a traced function, and where a tape follows an argument or a
  /// variable: there is no derivative. Asserts and bad indices inside throw as in the function, and
  /// name its lines.
  std::vector<Tensor> run(std::span<const Tensor> arguments,
                          std::source_location where = WEFT_HERE) const;
  /// The same for tensors: `program(x, y)`.
  WEFT_CALL_OPERATORS(call)

  /// The file it was loaded from, as it was given.
  const std::string &path() const &;
  const std::string &name() const &;
  const std::vector<ProgramEntry> &entries() const &;
  void entries() const && = delete;
  /// The variables that it reads and writes, by names that are unlike. Assign to one to run with
  /// other weights; all copies of this program see it. Values that nobody assigned are read from
  /// the file when they are used, and shared with other processes that loaded it.
  std::map<std::string, Variable> variables() const;
  /// The version of Weft that exported it: "0.1.0".
  const std::string &weft_version() const &;

  struct State;
  /// For the library itself.
  explicit LoadedProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}

private:
  template <class... Args>
  std::vector<Tensor> call(const std::source_location &where, const Args &...arguments) const {
    constexpr bool tensors = (std::is_convertible_v<const Args &, Tensor> && ...);
    static_assert(tensors, "a loaded program is called with tensors: weft::tensor(..) makes them");
    if constexpr (tensors) return run(std::array<Tensor, sizeof...(Args)>{arguments...}, where);
    else return {};
  }

  std::shared_ptr<const State> state_;
};

/// Loads a program that `export_program` wrote. It runs without the source, and without
/// libweft-compiler, unless the file has no code for this processor or this version of Weft: then
/// it is compiled, once per machine if the code cache is on. The file is code: load none that you
/// would not run. It must not be written over while it is in use; a file that replaces it does no
/// harm, and is what `export_program` makes. Throws IOError, naming the file, if it is missing,
/// truncated, damaged or of a newer format, and CompileError if it has to be compiled and cannot
/// be; DeviceError, which says why, for a device that cannot be used.
LoadedProgram load_program(const std::string &path, const LoadOptions &options = {},
                           std::source_location where = WEFT_HERE);

namespace detail {
/// Records the function for a signature, whose tensors the examples are like.
using RecordExample = std::function<std::shared_ptr<const Program>(
    const std::vector<TensorType> &types, std::span<const Tensor> examples)>;
/// `count`: of the tensors that the function takes.
void export_program(const FunctionOptions &function, std::size_t count, const RecordExample &record,
                    const std::string &path, const ExportOptions &options,
                    const std::source_location &where);

/// Counts the tensors of a structure.
struct TensorCounter {
  void tensor(const Tensor &) { ++count; }
  void variable(const Variable &) {}
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}
  std::size_t count = 0;
};
} // namespace detail

/// Writes the compiled function to one file, which `load_program` and C programs
/// (weft/c/program.h) run: code for each signature, the values that variables and captured tensors
/// have now, what it takes to compile it elsewhere, and the lines that errors name. The file
/// appears as a whole or not at all.
///
/// The callable is traced once per signature, on arguments created for it: its parameters must be
/// tensors, or pairs, tuples, arrays and structs of these. What else it needs it captures:
/// `export_program(function([&](Tensor x) { return model(x); }), "model.weft", {...})`. Variables
/// that it assigns, counters and random generators among them, are a part of the program, with
/// values of its own.
///
/// Throws ValueError for signatures that do not fit, where there is none, for host calls inside,
/// which no file can hold, for an unknown processor or chip, and with `freeze` for a variable that
/// is assigned; what tracing and compiling throws; IOError if the file cannot be written.
template <class F>
void export_program(const Function<F> &function, const std::string &path,
                    const ExportOptions &options = {}, std::source_location where = WEFT_HERE) {
  using Parameters = detail::TensorParameters<F>;
  constexpr bool known = !std::is_void_v<Parameters>;
  static_assert(known, "export_program makes the arguments that the function is traced with: its "
                       "parameters must be Tensor, or pairs, tuples, std::arrays or structs with "
                       "WEFT_FIELDS of Tensors; capture everything else in a lambda with such "
                       "parameters");
  if constexpr (known) {
    const auto visit = [](auto &arguments, auto &visitor) {
      std::apply([&](auto &...one) { (visit_structure(one, visitor), ...); }, arguments);
    };
    Parameters arguments{};
    detail::TensorCounter counter;
    visit(arguments, counter);
    detail::export_program(
        function.options(), counter.count,
        [&](const std::vector<TensorType> &types, std::span<const Tensor> examples) {
          detail::TensorReplacer replacer{examples};
          visit(arguments, replacer);
          return std::apply(
              [&](const auto &...one) { return function.record(where, types, one...); }, arguments);
        },
        path, options, where);
  }
}

} // namespace weft
