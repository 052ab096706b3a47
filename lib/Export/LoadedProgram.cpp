// Loaded programs as C++ has them; what an archive has no code for is compiled on this machine,
// once with the code cache's help.
#include <algorithm>

#include "CodeCache/CodeCache.h"
#include "CodeCache/CodeLoader.h"
#include "Export/Runnable.h"
#include "Ops/Interpreter.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Fork.h"
#include <weft/program.h>

namespace weft::archive {

namespace {

Digest digest_of(const SavedProgram &saved) {
  Sha256 sha;
  sha.text("weft saved program 2");
  sha.text(saved.bytecode);
  sha.text(saved.function);
  for (const std::string &variable : saved.variables) sha.text(variable);
  return sha.finish();
}

} // namespace

CompiledCode compile_again(const SavedProgram &saved, const std::string &name,
                           const std::string &chip) {
  const forks::Delay whole;
  const std::optional<cache::Key> key = cache::key_of(digest_of(saved), chip);
  const std::optional<cache::Folder> folder =
      key ? cache::Folder::from_environment() : std::nullopt;
  if (folder)
    if (auto found = cache::load(*folder, *key, name)) return std::move(*found);
  CompiledCode code = compiler_backend().compile(saved, name, chip);
  if (folder) cache::store(*folder, *key, name, code);
  auto loaded = cache::load_code(code.object);
  if (!loaded) throw CompileError(name + ": the compiler gave what " + loaded.fault().message);
  code.entry = reinterpret_cast<CompiledEntry>((*loaded)->lookup(code.symbol));
  code.code = std::shared_ptr<cache::LoadedCode>(std::move(*loaded));
  return code;
}

} // namespace weft::archive

namespace weft {

struct LoadedProgram::State {
  State(const std::string &path, const LoadOptions &options)
      : runnable(path, options.verify_weights, options.device) {
    for (const archive::Entry &entry : runnable.manifest().entries) {
      entries.push_back({entry.inputs, entry.outputs, {}, {}});
      for (const archive::Object &object : entry.objects)
        if (object.chip.empty()) entries.back().processors.push_back(object.processor);
        else entries.back().chips.push_back(object.chip);
    }
  }

  archive::Runnable runnable;
  std::vector<ProgramEntry> entries;
};

namespace {

/// A trace or a tape would miss what the program does.
void check_not_recorded(const archive::Runnable &program, std::span<const Tensor> arguments) {
  const std::string &name = program.manifest().name;
  if (Interpreter::current()->traces())
    throw StateError(name + ": a loaded program cannot be called inside a traced function, which "
                            "needs its source");
  const auto followed = [](const auto &value) { return is_watched(value); };
  if (std::any_of(arguments.begin(), arguments.end(), followed) ||
      std::any_of(program.variables().begin(), program.variables().end(), followed))
    throw StateError(name + ": a loaded program has no derivative, but a tape follows what it is "
                            "called with");
}

} // namespace

std::vector<Tensor> LoadedProgram::run(std::span<const Tensor> arguments,
                                       std::source_location where) const {
  const CallSite site(where);
  const archive::Runnable &program = state_->runnable;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].defined())
      throw ValueError(name() + ": tensor " + std::to_string(i) +
                       " of the arguments is undefined: it was never given a value");
  const auto run_on = [&](std::span<const Tensor> given) {
    detail::InlineVector<detail::TensorImpl *, 8> tensors;
    for (const Tensor &argument : given) tensors.push_back(argument.impl());
    return program.run({tensors.data(), tensors.size()});
  };
  if (Interpreter::current() == nullptr) return run_on(arguments);
  check_not_recorded(program, arguments);
  return run_whole(run_on, arguments);
}

const std::string &LoadedProgram::path() const & { return state_->runnable.archive().path(); }
const std::string &LoadedProgram::name() const & { return state_->runnable.manifest().name; }
const std::vector<ProgramEntry> &LoadedProgram::entries() const & { return state_->entries; }
const std::string &LoadedProgram::weft_version() const & {
  return state_->runnable.manifest().weft;
}

std::map<std::string, Variable> LoadedProgram::variables() const {
  std::map<std::string, Variable> all;
  for (const VariableRef &variable : state_->runnable.variables())
    all.emplace(variable->name(), Variable(variable));
  return all;
}

LoadedProgram load_program(const std::string &path, const LoadOptions &options,
                           std::source_location where) {
  const CallSite site(where);
  check_path("load_program", path);
  return LoadedProgram(std::make_shared<const LoadedProgram::State>(path, options));
}

} // namespace weft
