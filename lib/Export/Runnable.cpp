// Loads the code of archives, and finds the entry that fits a call.
#include "Export/Runnable.h"

#include <algorithm>

#include "CodeCache/CodeLoader.h"
#include "Runtime/CallContext.h"
#include "Runtime/DeviceCalls.h"
#include "Runtime/Variable.h"
#include "Support/Cpu.h"
#include "Support/Log.h"

namespace weft::archive {

namespace {

/// The lines that an archive stores.
class StoredLines final : public LocationTable {
public:
  StoredLines(std::shared_ptr<const Archive> archive, const Entry &entry)
      : archive_(std::move(archive)), entry_(entry) {}

  SourceLocation location(std::int64_t site) const override {
    const Line *line = find(site);
    if (line == nullptr || line->line == 0) return {};
    return {entry_.files[line->file], line->line, line->column};
  }
  const char *function(std::int64_t site) const override {
    const Line *line = find(site);
    if (line == nullptr || line->function == 0) return nullptr;
    return entry_.functions[line->function - 1].c_str();
  }

private:
  const Line *find(std::int64_t site) const {
    if (site < 0 || static_cast<std::size_t>(site) >= entry_.lines.size()) return nullptr;
    return &entry_.lines[static_cast<std::size_t>(site)];
  }

  std::shared_ptr<const Archive> archive_;
  const Entry &entry_;
};

std::size_t open_sizes(const Entry &entry) {
  std::size_t open = 0;
  for (const TensorType &type : entry.inputs)
    open += static_cast<std::size_t>(std::count(type.shape.begin(), type.shape.end(), unknown));
  return open;
}

/// The code that this machine runs best: that which uses the most of it. Null if it runs none;
/// `lacks` says why.
const Object *best_of(const Entry &entry, std::string &lacks) {
  const Object *best = nullptr;
  const auto count = [](const Object &object) {
    return std::count(object.features.begin(), object.features.end(), ',');
  };
  for (const Object &object : entry.objects) {
    if (!object.chip.empty()) continue;
    if (const std::string missing = missing_cpu_feature(object.features); !missing.empty())
      lacks += (lacks.empty() ? "" : ", ") + object.processor + " needs " + missing;
    else if (best == nullptr || count(object) > count(*best)) best = &object;
  }
  return best;
}

CompiledCode load(const Archive &archive, const Object &object) {
  auto loaded = cache::load_code(archive.bytes(object.code));
  if (!loaded) archive.fail(loaded.fault().message);
  void *address = (*loaded)->lookup(object.symbol);
  if (address == nullptr) archive.fail("is damaged: its code lacks the function " + object.symbol);
  CompiledCode code;
  code.entry = reinterpret_cast<CompiledEntry>(address);
  code.arena_bytes = object.arena_bytes;
  code.variables = object.variables;
  if (!object.chip.empty()) {
    code.ptx = archive.bytes(object.ptx);
    code.chip = object.chip;
  }
  code.code = std::shared_ptr<cache::LoadedCode>(std::move(*loaded));
  return code;
}

/// The kernels that a GPU runs best: its own, or those for the latest chip before it.
const Object *best_of(const Entry &entry, const device::Facts &facts, std::string &lacks) {
  const Object *best = nullptr;
  const std::string own = chip_of(facts);
  const auto better = [&](const Object &object) {
    if (best == nullptr || object.chip == own) return true;
    return best->chip != own &&
           std::pair(object.chip.size(), object.chip) > std::pair(best->chip.size(), best->chip);
  };
  for (const Object &object : entry.objects) {
    if (object.chip.empty()) continue;
    if (!missing_cpu_feature(object.features).empty() || !runs_code_for(facts, object.chip))
      lacks += (lacks.empty() ? "it has kernels for " : ", ") + object.chip;
    else if (better(object)) best = &object;
  }
  return best;
}

/// The code that `find` finds, which says otherwise what there is instead; compiled if there is
/// none.
template <class Find>
CompiledCode find_or_compile(const Archive &archive, const Entry &entry, const std::string &chip,
                             const Find &find) {
  const Manifest &manifest = archive.manifest();
  std::string why;
  if (manifest.runtime_abi == kRuntimeAbi) {
    if (const Object *object = find(why)) return load(archive, *object);
    why = "it has no code for " + (chip.empty() ? "this processor" : "GPUs of " + chip) +
          (why.empty() ? "" : ": " + why);
  } else {
    why = "its code was compiled for another version of Weft, " + manifest.weft;
  }
  if (logging()) log_line(archive.path() + ": " + why + "; compiled for this one");
  SavedProgram saved = entry.program;
  saved.bytecode = archive.bytes(entry.bytecode);
  try {
    return compile_again(saved, manifest.name, chip);
  } catch (const CompileError &error) {
    throw CompileError(archive.path() + ": " + why + ". " + std::string(error.message()));
  }
}

/// The code of an entry for this processor.
CompiledCode code_of(const Archive &archive, const Entry &entry) {
  return find_or_compile(archive, entry, {}, [&](std::string &why) { return best_of(entry, why); });
}

/// The code of an entry for a GPU.
CompiledCode code_on(const Archive &archive, const Entry &entry, Device device) {
  const device::Facts &facts = device::runtime_of(device).facts();
  return find_or_compile(archive, entry, chip_of(facts),
                         [&](std::string &why) { return best_of(entry, facts, why); });
}

bool fits(const Entry &entry, std::span<detail::TensorImpl *const> arguments, bool dtypes_only) {
  if (entry.inputs.size() != arguments.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TensorType &type = entry.inputs[i];
    const detail::TensorImpl &argument = *arguments[i];
    if (type.dtype != argument.dtype) return false;
    if (dtypes_only) continue;
    if (type.shape.size() != argument.rank) return false;
    for (std::size_t d = 0; d < type.shape.size(); ++d)
      if (type.shape[d] != unknown && type.shape[d] != argument.dims()[d]) return false;
  }
  return true;
}

} // namespace

Runnable::Runnable(const std::string &path, bool verify_weights, Device device)
    : archive_(Archive::open(path, verify_weights)), device_(device) {
  check_device(device);
  for (const StoredVariable &variable : manifest().variables)
    variables_.push_back(std::make_shared<VariableState>(archive_->weight(variable.name),
                                                         variable.name, /*trainable=*/false));
  for (const Entry &entry : manifest().entries) entries_.push_back(make(entry));
  std::sort(entries_.begin(), entries_.end(), [](const Callable &a, const Callable &b) {
    return a.open != b.open ? a.open < b.open : a.entry < b.entry;
  });
}

/// A program without its nodes: all that a call needs to know.
std::shared_ptr<const Program> Runnable::head_of(const Entry &entry) const {
  auto head = std::make_shared<Program>();
  head->name = manifest().name;
  const auto add = [&](const TensorType &type) {
    head->values.push_back(type);
    return static_cast<ValueId>(head->values.size() - 1);
  };
  for (const TensorType &type : entry.inputs) head->inputs.push_back(add(type));
  for (const TensorType &type : entry.outputs) head->outputs.push_back(add(type));
  for (const std::size_t number : entry.captures) {
    head->captures.push_back(archive_->weight(manifest().captures[number]));
    head->captured.push_back(add(detail::type_of(head->captures.back())));
  }
  for (const std::size_t number : entry.variables) head->variables.push_back(variables_[number]);
  head->written = entry.written;
  return head;
}

Runnable::Callable Runnable::make(const Entry &entry) const {
  CompiledCode code =
      device_ == Device() ? code_of(*archive_, entry) : code_on(*archive_, entry, device_);
  code.for_device = [archive = archive_, &entry](const Program &, Device device) {
    return code_on(*archive, entry, device);
  };
  return {.entry = &entry,
          .open = open_sizes(entry),
          .call = std::make_unique<CompiledCall>(head_of(entry), std::move(code), nullptr,
                                                 std::make_shared<StoredLines>(archive_, entry),
                                                 device_)};
}

void Runnable::refuse(std::span<detail::TensorImpl *const> arguments) const {
  std::vector<TensorType> types;
  for (const detail::TensorImpl *argument : arguments)
    types.push_back({argument->dtype, Shape(argument->sizes())});
  std::string message =
      manifest().name + ": there is no entry for (" + list_of(types) + "); there are:";
  bool counts = false, dtypes = false;
  for (const Entry &entry : manifest().entries) {
    counts |= entry.inputs.size() == arguments.size();
    dtypes |= fits(entry, arguments, /*dtypes_only=*/true);
    message += "\n  (" + list_of(entry.inputs) + ")";
  }
  if (!counts) throw ValueError(message);
  if (!dtypes) throw DTypeError(message);
  throw ShapeError(message);
}

const Runnable::Callable &Runnable::choose(std::span<detail::TensorImpl *const> arguments) const {
  for (const Callable &entry : entries_)
    if (fits(*entry.entry, arguments, /*dtypes_only=*/false)) return entry;
  refuse(arguments);
}

std::vector<Tensor> Runnable::run(std::span<detail::TensorImpl *const> arguments) const {
  return choose(arguments).call->run(arguments);
}

} // namespace weft::archive
