// A program as tapes see it: one entry, whose forward and backward halves are compiled.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "Function/CompiledCall.h"
#include "Function/DerivativePrograms.h"
#include "Support/Fork.h"

namespace weft {

/// Calls a program while tapes record. What they watch of its operands decides which derivative is
/// compiled, once each. Its forward half runs instead of the program, with the program's
/// effects, and tapes note one pullback, which is the backward half. May be called by many threads.
class TapedProgram : public std::enable_shared_from_this<TapedProgram> {
public:
  /// `device` is FunctionOptions::device.
  explicit TapedProgram(std::shared_ptr<const Program> program, Device device = {});

  /// Whether all that records on this thread can do with pullbacks in place of ops.
  static bool is_possible();

  /// Runs the program on its inputs. `plain` does so where no derivative is wanted. Nothing, and
  /// nothing has run, if the tapes must see its ops: a second derivative would repeat effects or
  /// read variables again, or the compiler refuses its derivative.
  std::optional<std::vector<Tensor>> call(std::span<detail::TensorImpl *const> inputs,
                                          std::span<const detail::VariablePointer> variables,
                                          const std::function<std::vector<Tensor>()> &plain);

private:
  /// The two halves of one derivative.
  struct Derivative {
    std::vector<std::uint32_t> wrt;
    std::vector<SavedValue> saved;
    std::optional<CompiledCall> forward, backward;
    std::string refusal; ///< of the compiler
  };
  using DerivativePtr = std::shared_ptr<Derivative>;
  /// What one call leaves for its pullback.
  struct Call;

  /// The variable of that number in a call.
  const VariableRef &variable(std::size_t number,
                              std::span<const detail::VariablePointer> variables) const;
  /// What a derivative by the operand of that number is of: of a variable, a read.
  Tensor operand(std::size_t number, std::span<const Tensor> operands,
                 std::span<const detail::VariablePointer> variables) const;
  /// Whether that operand is watched.
  bool watched(std::size_t number, std::span<const Tensor> operands,
               std::span<const detail::VariablePointer> variables) const;
  /// The operands that are watched and that a derivative of some output reaches.
  std::vector<std::uint32_t> reached(std::span<const Tensor> operands,
                                     std::span<const detail::VariablePointer> variables) const;
  /// The results, whose derivatives by watched operands are refused where a host call stands
  /// between them.
  std::vector<Tensor> refused(std::vector<Tensor> results, std::span<const Tensor> operands,
                              std::span<const detail::VariablePointer> variables) const;
  /// Compiled, or refused.
  DerivativePtr derivative(const std::vector<std::uint32_t> &wrt);
  void compile(Derivative &derivative) const;
  /// The program of the gradients by these operands, of the operands and cotangents.
  std::shared_ptr<TapedProgram> gradient(const std::vector<std::uint32_t> &wrt);
  std::vector<Tensor> pull(const Call &call, std::span<const Tensor> cotangents);
  std::vector<Tensor> pull_watched(const Call &call, std::span<const Tensor> cotangents);
  std::vector<Tensor> run_plain(std::span<const Tensor> operands);
  /// What the compiler said of a derivative that it refused, or nothing.
  std::string refusal();

  const std::shared_ptr<const Program> program_;
  const Device device_;
  const ReachedOperands reached_;
  const bool repeatable_; ///< running it again gives the same, and nobody notices
  forks::Mutex<std::mutex> mutex_;
  std::map<std::vector<std::uint32_t>, DerivativePtr> derivatives_;
  std::map<std::vector<std::uint32_t>, std::shared_ptr<TapedProgram>> gradients_;
  std::optional<CompiledCall> plain_;
};

} // namespace weft
