// Compiles programs of archives on this machine, once with the code cache's help.
#include "Export/Recompile.h"

#include "CodeCache/CodeCache.h"
#include "CodeCache/CodeLoader.h"
#include "Support/Fork.h"

namespace weft::archive {

namespace {

Digest digest_of(const SavedProgram &saved) {
  Sha256 sha;
  sha.text("weft saved program 1");
  sha.text(saved.bytecode);
  sha.text(saved.function);
  for (const std::string &variable : saved.variables) sha.text(variable);
  return sha.finish();
}

} // namespace

CompiledCode compile_again(const SavedProgram &saved, const std::string &name) {
  const forks::Delay whole;
  const std::optional<cache::Key> key = cache::key_of(digest_of(saved));
  const std::optional<cache::Folder> folder =
      key ? cache::Folder::from_environment() : std::nullopt;
  if (folder)
    if (auto found = cache::load(*folder, *key, name)) return std::move(*found);
  CompiledCode code = compiler_backend().compile(saved, name, /*processor=*/"");
  if (folder) cache::store(*folder, *key, name, code);
  auto loaded = cache::load_code(code.object);
  if (!loaded) throw CompileError(name + ": the compiler made what " + loaded.fault().message);
  code.entry = reinterpret_cast<CompiledEntry>((*loaded)->lookup(code.symbol));
  code.code = std::shared_ptr<cache::LoadedCode>(std::move(*loaded));
  return code;
}

} // namespace weft::archive
