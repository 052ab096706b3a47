// The code of a program that tells profiles what it does, compiled when a profile first wants it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "Program/CompilerBackend.h"
#include "Program/Sites.h"
#include "Support/Fork.h"

namespace weft {

/// Thread-safe.
class ProfiledCode final : public NoteTable {
public:
  explicit ProfiledCode(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  /// Code that is called as `plain` is, compiled by its `profiled` at the first call; null if it
  /// has none. Throws CompileError.
  const CompiledCode *code(const CompiledCode &plain);
  profile::Label label(std::string_view sites) const override;

private:
  std::shared_ptr<const Program> program_;
  std::once_flag compiled_;
  std::optional<CompiledCode> code_;
  std::optional<Sites> sites_;
  mutable forks::Mutex<std::mutex> mutex_;                ///< of the labels
  mutable std::map<const char *, profile::Label> labels_; ///< by the text's address in the code
};

} // namespace weft
