// Exports traced functions: records them for their signatures, compiles them for processors, and
// collects what they use.
#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "Export/Archive.h"
#include "Ops/Interpreter.h"
#include "Program/Sites.h"
#include "Runtime/CallContext.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Cpu.h"
#include "Support/Files.h"
#include "Support/Fork.h"
#include "Support/Version.h"
#include <weft/error.h>
#include <weft/program.h>

namespace weft {

using namespace archive;

namespace {

/// The instruction sets of a level of x86-64, "x86-64-v3", as its psABI has them and Cpu.h names
/// them; this machine's if the name is empty. Nothing for another name.
std::string features_of(std::string_view processor) {
  if (processor.empty()) return host_cpu_features_text();
  std::string features = "sse3,ssse3,cx16,sse4.1,sse4.2,popcnt,sahf";
  if (processor == "x86-64-v2") return features;
  features += ",movbe,avx,fma,f16c,bmi,avx2,bmi2,lzcnt";
  if (processor == "x86-64-v3") return features;
  features += ",avx512f,avx512dq,avx512cd,avx512bw,avx512vl";
  return processor == "x86-64-v4" ? features : std::string();
}

/// Throws ValueError, which names `function`, for a name that is no level.
void check_processor(std::string_view function, std::string_view processor) {
  if (!processor.empty() && !features_of(processor).empty()) return;
  throw ValueError(std::string(function) + ": there is no processor '" + std::string(processor) +
                   "'; there are x86-64-v2, x86-64-v3 and x86-64-v4, and this machine's where the "
                   "list is empty");
}

constexpr std::string_view kFunction = "export_program";

/// Throws ValueError for what is no chip's name; whether there is such a GPU the compiler knows.
void check_chip(std::string_view function, std::string_view chip) {
  const bool is_name = chip.starts_with("sm_") && chip.size() > 3 &&
                       std::all_of(chip.begin() + 3, chip.end(), [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
                       });
  if (!is_name)
    throw ValueError(std::string(function) + ": there is no GPU of the chip '" + std::string(chip) +
                     "': such names are sm_80, or sm_90a");
}

[[noreturn]] void refuse(const std::string &what) {
  throw ValueError(std::string(kFunction) + ": " + what);
}

/// A tensor of that type without memory for its elements; an unknown size is two.
Tensor example_of(const TensorType &type) {
  const Tensor zero = detail::new_tensor(type.dtype, {});
  std::fill_n(zero.impl()->data, item_size(type.dtype), std::byte{});
  std::vector<std::int64_t> sizes(type.shape.begin(), type.shape.end());
  std::replace(sizes.begin(), sizes.end(), unknown, std::int64_t{2});
  return detail::new_view(zero, sizes, std::vector<std::int64_t>(sizes.size(), 0), 0);
}

void check_host_calls(const Program &program) {
  if (program.hosts.empty()) return;
  const Sites sites(program);
  const auto found = std::find_if(sites.all().begin(), sites.all().end(), [](const Site &site) {
    return site.node->construct && site.node->construct->host;
  });
  const std::string name = program.hosts.front()->name;
  throw ValueError(std::string(kFunction) + ": " + program.name + " calls C++ code" +
                       (name.empty() ? "" : ", '" + name + "',") +
                       " by host_call, which no file can hold",
                   found == sites.all().end() ? CallSite::location() : found->location());
}

/// The lines of the op calls of a program.
void add_lines(Entry &entry, const Program &program) {
  std::map<std::string, std::uint32_t> files, functions;
  const Sites sites(program);
  for (const Site &site : sites.all()) {
    const SourceLocation location = site.location();
    Line line{0, location.line, location.column, 0};
    if (location.known()) {
      const auto [found, fresh] =
          files.emplace(location.file, static_cast<std::uint32_t>(files.size()));
      if (fresh) entry.files.push_back(location.file);
      line.file = found->second;
    }
    if (const char *function = site.function(); function != nullptr) {
      const auto [found, fresh] =
          functions.emplace(function, static_cast<std::uint32_t>(functions.size() + 1));
      if (fresh) entry.functions.emplace_back(function);
      line.function = found->second;
    }
    entry.lines.push_back(line);
  }
}

/// Gathers what goes into the archive, one signature after the other.
class Exporter {
public:
  Exporter(std::string name, const ExportOptions &options) : options_(options) {
    contents_.manifest.weft = library_version();
    contents_.manifest.runtime_abi = kRuntimeAbi;
    contents_.manifest.name = std::move(name);
  }

  void add(const Program &program) {
    check_host_calls(program);
    Entry entry;
    for (const ValueId input : program.inputs) entry.inputs.push_back(program.values[input]);
    for (const ValueId output : program.outputs) entry.outputs.push_back(program.values[output]);
    std::vector<std::size_t> frozen;
    for (std::size_t i = 0; i < program.variables.size(); ++i) {
      if (const auto cut = program.variables[i]->cut())
        refuse(said_of_cut("the variable '" + program.variables[i]->name() + "'", cut->ranks) +
               std::string(kGatherOnAll));
      if (options_.freeze) freeze(program, i, frozen);
      else add_variable(program.variables[i], program.written[i], entry);
    }
    for (const Tensor &capture : program.captures) entry.captures.push_back(number_of(capture));
    add_lines(entry, program);
    compile(program, frozen, entry);
    contents_.manifest.entries.push_back(std::move(entry));
  }

  Contents finish() {
    std::set<std::string> taken;
    for (const StoredVariable &variable : contents_.manifest.variables) taken.insert(variable.name);
    for (std::size_t i = 0; i < captures_.size(); ++i) {
      std::string name = "capture." + std::to_string(i);
      while (!taken.insert(name).second) name += '_';
      contents_.manifest.captures.push_back(name);
      contents_.weights.push_back({name, captures_[i]});
    }
    return std::move(contents_);
  }

private:
  static void freeze(const Program &program, std::size_t number, std::vector<std::size_t> &frozen) {
    if (program.written[number])
      refuse("the variable '" + program.variables[number]->name() +
             "' cannot be frozen: " + program.name + " assigns it");
    frozen.push_back(number);
  }

  void add_variable(const VariableRef &variable, bool written, Entry &entry) {
    auto found = std::find(variables_.begin(), variables_.end(), variable);
    if (found == variables_.end()) {
      const std::string name = unique_name(variable->name());
      contents_.manifest.variables.push_back({name, variable->type()});
      contents_.weights.push_back({name, detail::on_host(variable->load()).contiguous()});
      found = variables_.insert(found, variable);
    }
    entry.variables.push_back(static_cast<std::size_t>(found - variables_.begin()));
    entry.written.push_back(written);
  }

  std::string unique_name(const std::string &wanted) const {
    const auto &variables = contents_.manifest.variables;
    const std::string base = wanted.empty() || wanted == "__metadata__" ? "variable" : wanted;
    std::string name = base;
    const auto is_taken = [&] {
      return std::any_of(variables.begin(), variables.end(),
                         [&](const StoredVariable &other) { return other.name == name; });
    };
    for (int n = 1; is_taken(); ++n) name = base + "_" + std::to_string(n);
    return name;
  }

  /// Equal tensors, which traces may hold as copies, are stored once.
  std::size_t number_of(const Tensor &tensor) {
    const Tensor capture = detail::on_host(tensor);
    const auto bytes = static_cast<std::size_t>(capture.size()) * item_size(capture.dtype());
    const auto found = std::find_if(captures_.begin(), captures_.end(), [&](const Tensor &other) {
      return other.type() == capture.type() &&
             (other.impl()->data == capture.impl()->data ||
              std::memcmp(other.impl()->data, capture.impl()->data, bytes) == 0);
    });
    const auto number = static_cast<std::size_t>(found - captures_.begin());
    if (found == captures_.end()) captures_.push_back(capture);
    return number;
  }

  void compile(const Program &program, const std::vector<std::size_t> &frozen, Entry &entry) {
    const forks::Delay whole;
    CompilerBackend &compiler = compiler_backend();
    SavedProgram saved = compiler.save(program, frozen);
    if (options_.freeze) saved.variables.clear(); // none is left in it
    std::vector<std::string> processors = options_.processors;
    if (processors.empty()) processors.emplace_back();
    std::vector<std::string> objects, ptx;
    const auto add = [&](const std::string &processor, const std::string &chip) {
      CompiledCode code = compiler.compile(saved, program.name, chip.empty() ? processor : chip);
      entry.objects.push_back(
          {.processor = processor.empty() ? compiler.host_processor() : processor,
           .features = features_of(processor),
           .symbol = std::move(code.symbol),
           .arena_bytes = code.arena_bytes,
           .variables = std::move(code.variables),
           .code = {},
           .chip = chip,
           .ptx = {}});
      objects.push_back(std::move(code.object));
      ptx.push_back(std::move(code.ptx));
    };
    for (const std::string &processor : processors) add(processor, {});
    for (const std::string &chip : options_.chips) add("x86-64-v2", chip);
    contents_.objects.push_back(std::move(objects));
    contents_.ptx.push_back(std::move(ptx));
    contents_.bytecode.push_back(std::move(saved.bytecode));
    entry.program = {{}, std::move(saved.function), std::move(saved.variables)};
  }

  const ExportOptions &options_;
  Contents contents_;
  std::vector<VariableRef> variables_; ///< of the manifest
  std::vector<Tensor> captures_;
};

/// Whether a function with that type in its own signature takes tensors of the other.
bool admits(const TensorType &own, const TensorType &type) {
  if (own.dtype != type.dtype) return false;
  if (is_any_rank(own.shape)) return true;
  return std::equal(
      own.shape.begin(), own.shape.end(), type.shape.begin(), type.shape.end(),
      [](std::int64_t wanted, std::int64_t size) { return wanted == unknown || wanted == size; });
}

/// The signatures that there shall be code for, which fit a function of `count` tensors.
std::vector<std::vector<TensorType>>
signatures_of(const FunctionOptions &function, std::size_t count, const ExportOptions &options) {
  std::vector<std::vector<TensorType>> signatures = options.signatures;
  if (signatures.empty() && (!function.signature.empty() || count == 0))
    signatures.push_back(function.signature);
  if (signatures.empty())
    refuse(function.name + " has no signature: say what it will be called with, as in "
                           "{.signatures = {{spec(f32, {unknown, 784})}}}");
  for (std::size_t i = 0; i < signatures.size(); ++i) {
    const std::string which = "signature " + std::to_string(i);
    if (signatures[i].size() != count)
      refuse(which + " has " + std::to_string(signatures[i].size()) + " tensors, but " +
             function.name + " takes " + std::to_string(count));
    for (std::size_t j = 0; j < function.signature.size(); ++j)
      if (!admits(function.signature[j], signatures[i][j]))
        refuse(which + " has " + to_string(signatures[i][j]) + " where " + function.name +
               ", by its own signature, takes " + to_string(function.signature[j]));
    for (const TensorType &type : signatures[i]) {
      if (is_any_rank(type.shape))
        refuse(which + " admits any rank, but code has one: write a signature for each");
      for (const std::int64_t size : type.shape)
        if (size < 0 && size != unknown)
          throw ShapeError(std::string(kFunction) + ": " + which + " has the size " +
                           std::to_string(size) + " in " + to_string(type));
    }
    for (std::size_t j = 0; j < i; ++j)
      if (signatures[i] == signatures[j])
        refuse(which + " is signature " + std::to_string(j) + " again: (" + list_of(signatures[i]) +
               ")");
  }
  return signatures;
}

} // namespace

void detail::export_program(const FunctionOptions &function, std::size_t count,
                            const RecordExample &record, const std::string &path,
                            const ExportOptions &options, const std::source_location &where) {
  const CallSite site(where);
  check_path(kFunction, path);
  for (const std::string &processor : options.processors) check_processor(kFunction, processor);
  for (const std::string &chip : options.chips) check_chip(kFunction, chip);
  if (const Interpreter *current = Interpreter::current(); current && current->traces())
    throw StateError(std::string(kFunction) +
                     ": a traced function cannot export another one: there are no "
                     "values yet");
  const auto signatures = signatures_of(function, count, options);
  Exporter exporter(options.name.empty() ? function.name : options.name, options);
  for (const std::vector<TensorType> &signature : signatures) {
    std::vector<Tensor> examples;
    for (const TensorType &type : signature) examples.push_back(example_of(type));
    exporter.add(*record(signature, examples));
  }
  write_archive(path, exporter.finish());
}

} // namespace weft
