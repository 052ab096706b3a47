// The door to libweft-compiler, which is loaded when the first trace is compiled.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "Program/Program.h"
#include "Runtime/CallContext.h"
#include "Support/Digest.h"
#include <weft/phase.h>

namespace weft {

/// What the backward half of a derivative takes from the forward half: an input of that one or one
/// of its outputs, where those behind the function's are saved for this alone.
struct SavedValue {
  enum class From : std::uint8_t { input, output } from;
  std::uint32_t number;
  TensorType type;

  bool operator==(const SavedValue &) const = default;
};

/// Machine code of a program. Its entry takes buffers in this order: inputs, captures, variables
/// (those that are written are updated in place), outputs of static size; and the sizes of the
/// inputs' unknown dimensions, in order.
struct CompiledCode {
  CompiledEntry entry = nullptr;
  std::size_t arena_bytes = 0;
  /// Of a program for a GPU: its kernels, which the entry launches, and the chip they are for
  /// ("sm_90a"). All buffers of the entry, and the arena, are in the GPU's memory then. Empty for a
  /// program that runs on the processor alone.
  std::string ptx, chip;
  /// Which variables of the program the entry takes, by number, in the order of its buffers; one
  /// that nothing depends on may be missing.
  std::vector<std::size_t> variables;
  /// Of half a derivative. Outputs of the forward half are the function's and then those saved for
  /// this alone; inputs of the backward half are these values and the cotangents.
  std::vector<SavedValue> saved;
  /// Keeps the machine code loaded.
  std::shared_ptr<void> code;
  /// Compiles the program anew, as CompilerBackend::compile_profiled; null where that is not to be.
  CompiledCode (*profiled)(const Program &program) = nullptr;
  /// Code of the program for a device; null where it cannot be had.
  std::function<CompiledCode(const Program &program, Device device)> for_device;
  CompileReport report;
  /// For the code cache: the object file, the symbol of the entry in it, and the digest of the text
  /// of phase `trace`.
  std::string object, symbol;
  Digest module{};
};

/// A program that outlives its process: MLIR bytecode of phase `trace`.
struct SavedProgram {
  std::string bytecode;
  std::string function;               ///< the symbol of its function
  std::vector<std::string> variables; ///< the symbols of its variables, in the program's order

  bool operator==(const SavedProgram &) const = default;
};

/// What libweft-compiler offers.
class CompilerBackend {
public:
  virtual ~CompilerBackend() = default;
  /// Compiles for this CPU, or with a `chip` ("sm_90a") for a GPU. `dump` is FunctionOptions::dump.
  /// Throws CompileError.
  virtual CompiledCode compile(const Program &program, const std::string &dump,
                               const std::string &chip) = 0;
  /// The same program as code that reports times (`weft_rt_note_begin`), whose entry is called in
  /// the same way.
  virtual CompiledCode compile_profiled(const Program &program) = 0;
  /// The text of one phase, of code for this CPU or, with a `chip`, for a GPU, of which alone there
  /// is the phase `ptx`. Throws CompileError.
  virtual std::string ir(const Program &program, Phase phase, const std::string &chip) = 0;

  /// The program without its host functions. Variables whose numbers are `frozen`, which it must
  /// not assign, become constants with the values that they have now. Throws CompileError.
  virtual SavedProgram save(const Program &program, std::span<const std::size_t> frozen) = 0;
  /// Code of a saved program for a processor, "x86-64-v3", for this one if that is empty, or for a
  /// GPU's chip, "sm_90a", with a host's part that each x86-64-v2 runs. It is not loaded: what has
  /// to be loaded is `object`. `name` is for messages. Throws CompileError.
  virtual CompiledCode compile(const SavedProgram &saved, const std::string &name,
                               const std::string &processor) = 0;
  /// What LLVM calls this machine's processor.
  virtual std::string host_processor() = 0;
};

/// The backend, loading libweft-compiler at the first call. Throws CompileError if it cannot be
/// found, with the paths that were tried.
CompilerBackend &compiler_backend();

/// The file that it would be loaded from if the program has not linked it.
std::string compiler_path();

} // namespace weft

/// What libweft-compiler exports.
extern "C" weft::CompilerBackend *weft_compiler_backend();
