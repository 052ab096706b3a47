// Reads what kernels need off their module, and runs ptxas.
#include "Reports/KernelReport.h"

#include "Weft/Conversion/LoopsToGpu/HostCalls.h"
#include "Weft/IR/Places.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::weft {

static std::optional<std::array<int64_t, 3>> sizesOf(Operation *kernel, StringRef name) {
  auto sizes = kernel->getAttrOfType<DenseI32ArrayAttr>(name);
  if (!sizes || sizes.size() != 3) return std::nullopt;
  return std::array<int64_t, 3>{sizes[0], sizes[1], sizes[2]};
}

/// The arrays in shared memory that a kernel names, and what launches give it besides.
static int64_t sharedBytesOf(LLVM::LLVMFuncOp kernel, gpu::GPUModuleOp module) {
  llvm::SmallPtrSet<Operation *, 4> found;
  kernel.walk([&](LLVM::AddressOfOp address) {
    auto global = module.lookupSymbol<LLVM::GlobalOp>(address.getGlobalName());
    if (global && global.getAddrSpace() == static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared))
      found.insert(global);
  });
  auto given = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedBytes);
  int64_t bytes = given ? given.getInt() : 0;
  const DataLayout layout(module->getParentOfType<ModuleOp>());
  for (Operation *op : found) {
    Type type = cast<LLVM::GlobalOp>(op).getType();
    int64_t count = 1;
    for (auto array = dyn_cast<LLVM::LLVMArrayType>(type); array;
         array = dyn_cast<LLVM::LLVMArrayType>(type)) {
      count *= array.getNumElements();
      type = array.getElementType();
    }
    bytes += count * static_cast<int64_t>(layout.getTypeSize(type).getFixedValue());
  }
  return bytes;
}

std::vector<KernelNote> kernelNotesOf(ModuleOp module) {
  std::vector<KernelNote> notes;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
      if (!kernel->hasAttr("nvvm.kernel")) continue;
      const ::weft::SourceLocation location = placeOf(kernel.getLoc());
      notes.push_back({.name = kernel.getName().str(),
                       .location = location.known() ? to_string(location) : "",
                       .blocks = sizesOf(kernel, "gpu.known_grid_size"),
                       .threads = sizesOf(kernel, "gpu.known_block_size"),
                       .sharedBytes = sharedBytesOf(kernel, kernels),
                       .assembled = std::nullopt});
    }
  return notes;
}

/// The number before a word: 24 of "Used 24 registers".
static int64_t numberBefore(StringRef line, StringRef word) {
  StringRef before = line.substr(0, line.find(word)).rtrim();
  int64_t number = 0;
  before.substr(before.find_last_not_of("0123456789") + 1).getAsInteger(10, number);
  return number;
}

::weft::Check addAssembled(std::vector<KernelNote> &notes, const std::string &ptx,
                           const std::string &chip, const std::string &ptxas) {
  auto fault = [](const llvm::Twine &what) {
    return ::weft::Fault{::weft::ErrorKind::compile, what.str()};
  };
  llvm::SmallString<128> text, words;
  int descriptor = 0;
  if (llvm::sys::fs::createTemporaryFile("weft", "ptx", descriptor, text) ||
      llvm::sys::fs::createTemporaryFile("weft", "ptxas", words))
    return fault("there is no place for the files of ptxas");
  const llvm::FileRemover removesText(text), removesWords(words);
  {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << ptx;
  }
  std::string failure;
  const std::string arch = "-arch=" + chip;
  const int status =
      llvm::sys::ExecuteAndWait(ptxas, {ptxas, "-v", arch, text, "-o", "/dev/null"}, std::nullopt,
                                {std::nullopt, StringRef(words), StringRef(words)}, 0, 0, &failure);
  auto buffer = llvm::MemoryBuffer::getFile(words);
  const StringRef said = buffer ? (*buffer)->getBuffer() : StringRef();
  if (status != 0)
    return fault(ptxas + ": it does not take the kernels for " + chip + ": " +
                 (failure.empty() ? said.trim() : StringRef(failure)));
  KernelNote *at = nullptr;
  SmallVector<StringRef> lines;
  said.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Function properties for ")) {
      StringRef name = line.substr(line.find(" for ") + 5).trim().trim('\'');
      auto found = llvm::find_if(notes, [&](const KernelNote &note) { return note.name == name; });
      at = found == notes.end() ? nullptr : &*found;
      if (at != nullptr) at->assembled.emplace();
    } else if (at != nullptr && line.contains(" bytes stack frame")) {
      at->assembled->stackBytes = numberBefore(line, " bytes stack frame");
      at->assembled->spillBytes = numberBefore(line, " bytes spill stores");
    } else if (at != nullptr && line.contains(" registers")) {
      at->assembled->registers = numberBefore(line, " registers");
    }
  }
  return std::nullopt;
}

/// "32x8" of threads along two axes.
static std::string product(const std::optional<std::array<int64_t, 3>> &sizes) {
  if (!sizes) return "?";
  std::string text = std::to_string((*sizes)[0]);
  for (size_t axis = 1; axis < 3; ++axis) {
    const bool rest = (*sizes)[1] > 1 || (*sizes)[2] > 1;
    if (axis == 1 ? rest : (*sizes)[2] > 1) text += "x" + std::to_string((*sizes)[axis]);
  }
  return text;
}

std::string textOf(const std::vector<KernelNote> &notes, const std::string &chip) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << notes.size() << (notes.size() == 1 ? " kernel" : " kernels") << " for " << chip << '\n';
  for (const KernelNote &note : notes) {
    os << "  " << note.name << ": " << product(note.blocks) << " blocks of "
       << product(note.threads) << " threads";
    if (note.sharedBytes != 0) os << ", " << note.sharedBytes << " bytes of shared memory";
    if (note.assembled) {
      os << ", " << note.assembled->registers << " registers";
      if (note.assembled->spillBytes != 0)
        os << ", " << note.assembled->spillBytes << " bytes spilled";
      if (note.assembled->stackBytes != 0) os << ", " << note.assembled->stackBytes << " of stack";
    }
    if (!note.location.empty()) os << " (" << note.location << ")";
    os << '\n';
  }
  return text;
}

} // namespace mlir::weft
