// Every #include points down the layers of the library, and no file below the compiler's layer
// names an LLVM or MLIR header.
#include "SourceTree.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace weft::layout {
namespace {

// What each layer may include besides itself, as docs/architecture.md draws it. Public headers
// belong to the layer that implements them: kHeaderLayers below.
const std::map<std::string, std::set<std::string>> kMayInclude = [] {
  std::map<std::string, std::set<std::string>> may;
  may["Support"] = {};
  may["Cuda"] = {};
  may["Emulator"] = {"Cuda"}; // a library of its own
  may["Device"] = {"Support", "Cuda"};
  may["OpDefs"] = {"Support"};
  may["Complex"] = {"Support", "OpDefs", "Complex"};
  may["Runtime"] = may["Kernels"] = {"Support", "OpDefs", "Runtime", "Kernels"};
  may["Linalg"] = {"Support", "OpDefs", "Runtime", "Kernels", "Linalg"};
  may["Program"] = may["Runtime"];
  may["CodeCache"] = may["Runtime"];
  may["CodeCache"].insert({"Program", "CodeCache"});
  may["Ops"] = may["dialects"] = {"Support", "OpDefs", "Complex", "Runtime", "Kernels", "Program"};
  may["dialects"].insert({"Ops", "Autodiff"}); // run to fold constants; the rules of derivatives
  may["compiler"] = {"Support", "OpDefs", "Runtime",  "Kernels",
                     "Program", "Ops",    "Autodiff", "dialects"};
  may["Autodiff"] = {"Support", "OpDefs", "Runtime", "Kernels", "Ops", "Program"};
  may["Function"] = may["Autodiff"];
  may["Function"].insert({"Autodiff", "CodeCache"});
  may["Random"] = {"Support", "OpDefs", "Runtime", "Ops"};
  may["NN"] = may["Function"];
  may["NN"].insert({"Function", "Random", "NN", "Data", "IO"});
  may["Profile"] = {"Support"};
  may["Export"] = may["Function"];
  may["Export"].insert({"Function", "IO"});
  may["Data"] = may["IO"] = may["Events"] = may["Checkpoint"] = may["Train"] = may["NN"];
  may["Events"].insert("Events");
  may["Checkpoint"].insert("Checkpoint");
  // State that is cut over ranks, and is saved by all of them.
  for (const char *const layer : {"NN", "Checkpoint"}) may[layer].insert("Distributed");
  may["Distributed"] = {"Support", "OpDefs", "Runtime", "Kernels", "Ops", "Program"};
  may["Mpi"] = {"Distributed"}; // a library of its own
  may["Train"].insert({"Distributed", "Train", "Checkpoint", "Events", "Profile", "Export"});
  for (auto &[layer, below] : may)
    if (below.contains("Runtime")) below.insert("Device");
  return may;
}();

// The layers that stand above the compiler's: only these may name MLIR.
const std::set<std::string> kMlirLayers = {"dialects", "compiler", "tools"};

// The layer that implements each public header.
const std::map<std::string, std::string> kHeaderLayers = {
    {"weft/dtype.h", "Support"},
    {"weft/dtype_info.h", "Runtime"},
    {"weft/dtypes.def", "Support"},
    {"weft/float16.h", "Support"},
    {"weft/float8.h", "Support"},
    {"weft/error.h", "Support"},
    {"weft/log.h", "Support"},
    {"weft/options.h", "Support"},
    {"weft/shape.h", "Support"},
    {"weft/source.h", "Support"},
    {"weft/detail/callable.h", "Support"},
    {"weft/detail/fewest_digits.h", "Support"},
    {"weft/detail/inline_vector.h", "Support"},
    {"weft/detail/opcode.h", "OpDefs"},
    {"weft/device.h", "Device"},
    {"weft/detail/distributed_place.h", "Distributed"},
    {"weft/detail/first_values.h", "Distributed"},
    {"weft/distributed.h", "Distributed"},
    {"weft/mesh.h", "Distributed"},
    {"weft/log.h", "Support"},
    {"weft/memory.h", "Support"},
    {"weft/threads.h", "Support"},
    {"weft/events.h", "Events"},
    {"weft/train.h", "Train"},
    {"weft/detail/replica_scope.h", "Train"},
    {"weft/train/fit.h", "Train"},
    {"weft/train/history.h", "Train"},
    {"weft/train/progress.h", "Train"},
    {"weft/train/report.h", "Train"},
    {"weft/train/run.h", "Train"},
    {"weft/print.h", "Runtime"},
    {"weft/profile.h", "Profile"},
    {"weft/size.h", "Runtime"},
    {"weft/foreign_memory.h", "Runtime"},
    {"weft/dlpack.h", "Runtime"},
    {"weft/detail/dlpack.h", "Runtime"},
    {"weft/tensor.h", "Runtime"},
    {"weft/detail/tensor_impl.h", "Runtime"},
    {"weft/ops.h", "Ops"},
    {"weft/composites.h", "Ops"},
    {"weft/windows.h", "Ops"},
    {"weft/random.h", "Random"},
    {"weft/variable.h", "Ops"},
    {"weft/autodiff.h", "Autodiff"},
    {"weft/detail/batching.h", "Autodiff"},
    {"weft/vmap.h", "Autodiff"},
    {"weft/detail/derivative_mark.h", "Autodiff"},
    {"weft/custom_gradient.h", "Autodiff"},
    {"weft/gradient_tape.h", "Autodiff"},
    {"weft/gradients.h", "Autodiff"},
    {"weft/indexed_slices.h", "Autodiff"},
    {"weft/detail/derivative_structure.h", "Autodiff"},
    {"weft/phase.h", "Program"},
    {"weft/graph.h", "Program"},
    {"weft/detail/function_core.h", "Function"},
    {"weft/function.h", "Function"},
    {"weft/detail/parameters.h", "Export"},
    {"weft/program.h", "Export"},
    {"weft/c/program.h", "Export"},
    {"weft/c/gpu.h", "Runtime"},
    {"weft/device_memory.h", "Runtime"},
    {"weft/control_flow.h", "Function"},
    {"weft/host_call.h", "Function"},
    {"weft/detail/binding.h", "Runtime"},
    {"weft/detail/named_call.h", "Support"},
    {"weft/detail/interrupts.h", "Runtime"},
    {"weft/detail/body.h", "Ops"},
    {"weft/detail/indexing.h", "Ops"},
    {"weft/detail/parts.h", "Ops"},
    {"weft/detail/staging.h", "Function"},
    {"weft/detail/signature.h", "Function"},
    {"weft/structure.h", "Ops"},
    {"weft/nn/layer.h", "Ops"},
    {"weft/nn/model.h", "Ops"},
    {"weft/tensor_array.h", "Function"},
    {"weft/data.h", "Data"},
    {"weft/io.h", "IO"},
    {"weft/safetensors.h", "IO"},
    {"weft/save.h", "IO"},
    {"weft/detail/saved_value.h", "IO"},
    {"weft/checkpoint.h", "Checkpoint"},
    {"weft/detail/saved_parts.h", "Checkpoint"},
    {"weft/activations.h", "NN"},
    {"weft/detail/synchronized.h", "NN"},
    {"weft/losses.h", "NN"},
    {"weft/metrics.h", "NN"},
    {"weft/nn.h", "NN"},
    {"weft/optimizers.h", "NN"},
    {"weft/schedules.h", "NN"},
    {"weft/names.h", "Train"},
    {"weft/weft.h", "Train"},
};

// The folders of compiler/, which its headers are included by.
const std::set<std::string> kCompilerFolders = {"Driver", "Import", "JIT", "Pipelines", "Reports"};

// The layer of a file of this repository, or of what an #include names; empty for everything
// outside.
std::string layer_of_header(const std::string &target) {
  if (target.starts_with("weft/")) {
    const auto found = kHeaderLayers.find(target);
    if (found == kHeaderLayers.end() && target.starts_with("weft/nn/")) return "NN";
    if (found == kHeaderLayers.end() && target.starts_with("weft/data/")) return "Data";
    return found == kHeaderLayers.end() ? "unknown" : found->second;
  }
  if (target.starts_with("Weft/")) return "dialects";
  const std::string folder = target.substr(0, target.find('/'));
  if (kCompilerFolders.contains(folder)) return "compiler";
  return folder != target && kMayInclude.contains(folder) ? folder : "";
}

std::string layer_of_file(const std::string &path) {
  if (path.starts_with("include/")) return layer_of_header(path.substr(8));
  if (path.starts_with("dialects/")) return "dialects";
  if (path.starts_with("compiler/")) return "compiler";
  if (path.starts_with("tools/")) return "tools";
  const std::size_t slash = path.find('/', 4);
  return slash == std::string::npos ? "" : path.substr(4, slash - 4); // lib/LAYER/...
}

const std::vector<SourceFile> &sources() {
  static const std::vector<SourceFile> files = read_sources(
      {"include", "lib", "dialects", "compiler", "tools"}, {".h", ".cpp", ".def", ".inc"});
  return files;
}

TEST(Layers, EveryPublicHeaderHasOne) {
  for (const SourceFile &file : sources())
    if (file.path.starts_with("include/"))
      EXPECT_NE(layer_of_file(file.path), "unknown")
          << file.path << " is new: name the layer that implements it in kHeaderLayers of "
          << __FILE__;
}

TEST(Layers, EveryFolderOfLibIsOne) {
  for (const SourceFile &file : sources())
    if (file.path.starts_with("lib/") && file.path.find('/', 4) != std::string::npos)
      EXPECT_TRUE(kMayInclude.contains(layer_of_file(file.path)))
          << file.path << " lies in no layer that kMayInclude of " << __FILE__ << " knows";
}

TEST(Layers, EveryFolderOfTheCompilerIsKnown) {
  for (const SourceFile &file : sources())
    if (file.path.starts_with("compiler/"))
      EXPECT_TRUE(kCompilerFolders.contains(file.path.substr(9, file.path.find('/', 9) - 9)))
          << file.path << " lies in no folder that kCompilerFolders of " << __FILE__ << " knows";
}

TEST(Layers, ArrowsPointDown) {
  for (const SourceFile &file : sources()) {
    const std::string from = layer_of_file(file.path);
    const auto allowed = kMayInclude.find(from);
    if (allowed == kMayInclude.end()) continue; // tools stand above everything
    for (const Include &include : includes_of(file)) {
      const std::string to = layer_of_header(include.target);
      if (to.empty() || to == "unknown" || to == from) continue;
      EXPECT_TRUE(allowed->second.contains(to))
          << file.path << ":" << include.line << " includes " << include.target
          << ": an arrow from " << from << " up to " << to;
    }
  }
}

TEST(Layers, NeighboursDoNotIncludeEachOther) {
  std::map<std::pair<std::string, std::string>, std::string> edges;
  for (const SourceFile &file : sources())
    for (const Include &include : includes_of(file)) {
      const std::string from = layer_of_file(file.path), to = layer_of_header(include.target);
      if (!to.empty() && to != "unknown" && from != to)
        edges.emplace(std::pair(from, to), file.path + ":" + std::to_string(include.line));
    }
  for (const auto &[edge, where] : edges) {
    const auto back = edges.find({edge.second, edge.first});
    EXPECT_TRUE(back == edges.end())
        << edge.first << " includes " << edge.second << " at " << where
        << ", which includes it itself at " << (back == edges.end() ? "" : back->second);
  }
}

TEST(Layers, MlirIsNamedOnlyAboveTheCompilersLayer) {
  for (const SourceFile &file : sources()) {
    if (kMlirLayers.contains(layer_of_file(file.path))) continue;
    for (const Include &include : includes_of(file))
      EXPECT_FALSE(include.target.starts_with("mlir") || include.target.starts_with("llvm") ||
                   include.target.starts_with("Weft/"))
          << file.path << ":" << include.line << " includes " << include.target
          << "; libweft builds without LLVM and MLIR";
  }
}

TEST(Layers, ExamplesUseThePublicHeadersOnly) {
  for (const SourceFile &file : read_sources({"examples"}, {".h", ".cpp"}))
    for (const Include &include : includes_of(file)) {
      const std::string to = layer_of_header(include.target);
      EXPECT_TRUE(to.empty() || include.target.starts_with("weft/"))
          << file.path << ":" << include.line << " includes " << include.target
          << "; people copy examples, and only include/weft is installed";
    }
}

} // namespace
} // namespace weft::layout
