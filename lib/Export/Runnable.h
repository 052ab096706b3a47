// Archives as programs that run: what C++ and C call alike, with libweft and without it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "Export/Archive.h"
#include "Function/CompiledCall.h"
#include "Program/CompilerBackend.h"

namespace weft::archive {

class Runnable {
public:
  /// Opens and loads it, for a GPU if one is given; throws what `load_program` throws.
  Runnable(const std::string &path, bool verify_weights, Device device = {});

  const Archive &archive() const { return *archive_; }
  const Manifest &manifest() const { return archive_->manifest(); }
  /// In the manifest's order.
  const std::vector<VariableRef> &variables() const { return variables_; }

  /// Runs the entry that fits, as LoadedProgram::run tells. The arguments are not traced.
  std::vector<Tensor> run(std::span<detail::TensorImpl *const> arguments) const;

  /// How many results that entry has; throws as `run` does if none fits.
  std::size_t output_count(std::span<detail::TensorImpl *const> arguments) const {
    return choose(arguments).entry->outputs.size();
  }

private:
  struct Callable {
    const Entry *entry;
    std::size_t open; ///< sizes of its inputs that are unknown
    std::unique_ptr<CompiledCall> call;
  };
  Callable make(const Entry &entry) const;
  std::shared_ptr<const Program> head_of(const Entry &entry) const;
  const Callable &choose(std::span<detail::TensorImpl *const> arguments) const;
  [[noreturn]] void refuse(std::span<detail::TensorImpl *const> arguments) const;

  std::shared_ptr<const Archive> archive_;
  const Device device_;
  std::vector<VariableRef> variables_;
  std::vector<Callable> entries_; ///< those with the fewest open sizes first
};

/// Code of a saved program for this machine, or with a `chip` for a GPU, loaded. `name` is for
/// messages. Throws CompileError. Programs without libweft, in which nothing can be compiled, have
/// one that always does.
CompiledCode compile_again(const SavedProgram &saved, const std::string &name,
                           const std::string &chip);

} // namespace weft::archive
