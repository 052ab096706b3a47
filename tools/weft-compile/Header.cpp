// Writes C headers.
#include "Header.h"

#include "CNames.h"
#include "Driver/Driver.h"
#include "Import/Import.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace mlir::weft {

/// The C type of an element: bool is one byte, and floats of 16 and 8 bits are their bits.
static std::string cType(Type element) {
  const ::weft::DTypeInfo &info = ::weft::dtype_info(*dtypeOf(element));
  const std::string bits = std::to_string(info.bits);
  switch (info.kind) {
  case ::weft::DTypeKind::floating:
    return info.bits == 64 ? "double" : info.bits == 32 ? "float" : "uint16_t";
  case ::weft::DTypeKind::complex: break; // code has real numbers instead
  case ::weft::DTypeKind::integer: return "int" + bits + "_t";
  case ::weft::DTypeKind::boolean:
  case ::weft::DTypeKind::storage:
  case ::weft::DTypeKind::unsigned_integer: return "uint" + bits + "_t";
  }
  return "void";
}

/// What the functions of the header themselves use.
static bool isUsed(StringRef name) {
  static const llvm::StringSet<> names = {"weft_rt_call", "weft_rt_gpu_call", "buffers", "bytes",
                                          "sizes",        "new_sizes",        "created", "status",
                                          "message",      "message_size",     "gpu"};
  return names.contains(name);
}

/// `name` as an identifier of C that is not in `taken`, into which it goes.
static std::string identifier(StringRef name, llvm::StringSet<> &taken) {
  std::string result = symbolName(name);
  while (isWordOfC(result) || isUsed(result) || !taken.insert(result).second) result += '_';
  return result;
}

/// The same for a function, which stands beside those of other headers.
static std::string functionName(StringRef name, llvm::StringSet<> &taken) {
  const std::string wanted = symbolName(name);
  return identifier(isInCLibrary(wanted) ? wanted + "_" : wanted, taken);
}

/// The inside of a string literal of C.
static std::string escaped(StringRef text) {
  std::string result;
  llvm::raw_string_ostream(result).write_escaped(text, /*UseHexEscapes=*/false);
  return result;
}

/// That of a buffer's elements, of which the function may say more (kElements).
static std::string elementOf(MemRefType type, func::FuncOp function, StringRef list,
                             size_t number) {
  return cType(notedElement(function, list, number, type.getElementType()));
}

/// "?x3", or "scalar".
static std::string sizesOf(MemRefType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      type.getShape(), os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size)) os << '?';
        else os << size;
      },
      "x");
  return type.getRank() == 0 ? "scalar" : text;
}

namespace {

/// A function of the header.
struct Signature {
  std::vector<std::string> parameters; ///< each with its comment
  std::vector<std::string> buffers, bytes, sizes, newSizes;
  std::string uses; ///< of the buffers: what weft_rt_gpu_call takes
  /// Of the outputs of unknown size.
  struct Output {
    std::string name, element;
  };
  std::vector<Output> outputs;
};

/// Fills a signature from a function after phase bufferize.
class SignatureBuilder {
public:
  /// `allocated`: what says of outputs of unknown size whose memory they are.
  SignatureBuilder(func::FuncOp function, StringRef allocated)
      : function(function), allocated(allocated) {}

  ::weft::Result<Signature> build() {
    function.walk([&](memref::AllocOp alloc) {
      if (auto number = alloc->getAttrOfType<IntegerAttr>("weft.output"))
        created[number.getInt()] = alloc.getType();
    });
    unsigned inputs = 0;
    std::map<int64_t, unsigned> placed; // arguments by the number of their result
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto type = dyn_cast<MemRefType>(function.getArgument(i).getType());
      if (!type) return refuse("argument " + std::to_string(i) + " is no tensor");
      if (auto output = function.getArgAttrOfType<IntegerAttr>(i, "weft.output"))
        placed[output.getInt()] = i;
      else if (auto variable = function.getArgAttrOfType<FlatSymbolRefAttr>(i, "weft.variable")) {
        if (!type.hasStaticShape())
          return refuse("the size of @" + variable.getValue().str() + " is known only at run time");
        addVariable(i, variable.getValue(), type);
      } else addInput(i, "input" + std::to_string(inputs++), type);
    }
    const size_t results = placed.size() + created.size();
    for (size_t number = 0, next = 0; number < results; ++number)
      if (auto found = placed.find(static_cast<int64_t>(number)); found != placed.end())
        addOutput(number, cast<MemRefType>(function.getArgument(found->second).getType()));
      else if (auto type = created.find(static_cast<int64_t>(next++)); type != created.end())
        addNewOutput(number, type->second);
      else return refuse("result " + std::to_string(number) + " has no destination");
    return std::move(signature);
  }

private:
  ::weft::Fault refuse(const std::string &why) {
    return {::weft::ErrorKind::compile, "@" + function.getName().str() + ": " + why};
  }
  void add(const std::string &declaration, const std::string &comment) {
    signature.parameters.push_back(declaration + ", /* " + comment + " */");
  }
  std::string elementOfArgument(unsigned i, MemRefType type) {
    return elementOf(type, function, kElements, i);
  }
  std::string elementOfResult(size_t number, MemRefType type) {
    return elementOf(type, function, kResultElements, number);
  }
  /// A pointer, what the code does with its elements, and how many bytes these are.
  void addBuffer(const std::string &name, char use, MemRefType type,
                 ArrayRef<std::string> openSizes = {}) {
    signature.buffers.push_back("(void *)" + name);
    signature.uses += use;
    int64_t known = static_cast<int64_t>((type.getElementTypeBitWidth() + 7) / 8);
    for (int64_t size : type.getShape())
      if (!ShapedType::isDynamic(size)) known *= size;
    std::string bytes = std::to_string(known);
    for (const std::string &size : openSizes) bytes += " * " + size;
    signature.bytes.push_back(bytes);
  }
  void addInput(unsigned i, const std::string &wanted, MemRefType type) {
    const std::string name = identifier(wanted, taken);
    add("const " + elementOfArgument(i, type) + " *" + name, "input, " + sizesOf(type));
    std::vector<std::string> openSizes;
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) continue;
      const std::string dim = identifier(name + "_size" + std::to_string(axis), taken);
      add("int64_t " + dim, "its size in axis " + std::to_string(axis));
      signature.sizes.push_back(dim);
      openSizes.push_back(dim);
    }
    addBuffer(name, 'r', type, openSizes);
  }
  void addVariable(unsigned i, StringRef symbol, MemRefType type) {
    if (function.getArgument(i).use_empty()) {
      signature.buffers.push_back("NULL");
      signature.bytes.push_back("0");
      signature.uses += '-';
      return;
    }
    const std::string name = identifier(symbol, taken);
    const bool written = static_cast<bool>(function.getArgAttr(i, "weft.updated"));
    add((written ? "" : "const ") + elementOfArgument(i, type) + " *" + name,
        (written ? "variable, updated in place, " : "variable, ") + sizesOf(type));
    addBuffer(name, written ? 'u' : 'r', type);
  }
  void addOutput(size_t number, MemRefType type) {
    const std::string name = identifier("result" + std::to_string(number), taken);
    add(elementOfResult(number, type) + " *" + name, "output, " + sizesOf(type));
    addBuffer(name, 'w', type);
  }
  void addNewOutput(size_t number, MemRefType type) {
    const std::string name = identifier("result" + std::to_string(number), taken);
    add(elementOfResult(number, type) + " **" + name,
        "output, " + sizesOf(type) + ": " + allocated.str());
    const std::string sizes = identifier(name + "_sizes", taken);
    add("int64_t *" + sizes,
        type.getRank() == 1 ? "its size" : "its " + std::to_string(type.getRank()) + " sizes");
    signature.newSizes.push_back(sizes);
    signature.outputs.push_back({name, elementOfResult(number, type)});
  }

  func::FuncOp function;
  StringRef allocated;
  std::map<int64_t, MemRefType> created; ///< outputs of unknown size, counted among these
  llvm::StringSet<> taken;
  Signature signature;
};

/// An array of C where there are elements; gives what to call it.
std::string printArray(llvm::raw_ostream &os, StringRef type, StringRef name,
                       ArrayRef<std::string> elements) {
  if (elements.empty()) return "NULL";
  os << "  " << type << name << "[] = {";
  llvm::interleaveComma(elements, os);
  os << "};\n";
  return name.str();
}

/// The inline function of an entry.
/// `ptx` is the array of the kernels' text; empty for the processor.
void printFunction(llvm::raw_ostream &os, const Signature &signature, StringRef name,
                   StringRef entry, func::FuncOp function, const std::string &locations,
                   StringRef ptx) {
  os << "/* Row-major arrays; returns 0, or 1 with the reason in `message` (may be NULL). */\n"
        "static inline int32_t "
     << name << "(";
  if (!ptx.empty()) os << "\n    int32_t gpu, /* its number: 0 for gpu:0 */";
  for (const std::string &parameter : signature.parameters) os << "\n    " << parameter;
  os << "\n    char *message, int64_t message_size) {\n";
  const std::string buffers = printArray(os, "void *const ", "buffers", signature.buffers);
  const std::string bytes =
      ptx.empty() ? "" : printArray(os, "const int64_t ", "bytes", signature.bytes);
  const std::string sizes = printArray(os, "const int64_t ", "sizes", signature.sizes);
  const std::string newSizes = printArray(os, "int64_t *const ", "new_sizes", signature.newSizes);
  const size_t count = signature.outputs.size();
  if (count > 0) os << "  void *created[" << count << "];\n  const int32_t status =\n      ";
  else os << "  return ";
  auto arena = function->getAttrOfType<IntegerAttr>("weft.arena_bytes");
  if (ptx.empty()) os << "weft_rt_call(" << entry << ", " << buffers << ", ";
  else
    os << "weft_rt_gpu_call(" << entry << ", " << ptx << ", gpu, " << buffers << ", " << bytes
       << ", \"" << signature.uses << "\", " << signature.buffers.size() << ", ";
  os << sizes << ", " << signature.sizes.size() << ", " << (count > 0 ? "created" : "NULL") << ", "
     << newSizes << ", " << count << ", " << (arena ? arena.getInt() : 0)
     << ",\n                   \"" << escaped(function.getName()) << "\", " << locations
     << ", message, message_size);\n";
  for (auto [i, output] : llvm::enumerate(signature.outputs))
    os << "  *" << output.name << " = (" << output.element << " *)created[" << i << "];\n";
  os << (count > 0 ? "  return status;\n}\n" : "}\n");
}

} // namespace

/// The locations that the code reports when it fails, as weft_rt_call takes them: "17 step.mlir:7".
static std::vector<std::string> reportedLocations(ModuleOp module,
                                                  ArrayRef<::weft::SourceLocation> locations) {
  llvm::SmallSetVector<size_t, 8> reported;
  module.walk([&](func::CallOp call) {
    APInt site;
    if (!call.getCallee().starts_with("weft_rt_") || call.getNumOperands() == 0 ||
        !matchPattern(call.getOperand(0), m_ConstantInt(&site)))
      return;
    const auto number = static_cast<size_t>(site.getSExtValue());
    if (number < locations.size() && locations[number].known()) reported.insert(number);
  });
  std::vector<std::string> texts;
  for (size_t number : reported)
    texts.push_back(std::to_string(number) + " " + to_string(locations[number]));
  return texts;
}

/// The declaration of what runs an entry.
static void declareCall(llvm::raw_ostream &os, bool onGpu) {
  os << "int32_t " << (onGpu ? "weft_rt_gpu_call" : "weft_rt_call")
     << "(int32_t (*entry)(void *const *, const int64_t *, void *),\n";
  if (onGpu)
    os << "                     const char *ptx, int32_t gpu, void *const *buffers,\n"
          "                     const int64_t *bytes, const char *uses, int64_t buffer_count,\n"
          "                     const int64_t *sizes, int64_t size_count,\n";
  else
    os << "                     void *const *buffers, const int64_t *sizes, int64_t size_count,\n";
  os << "                     void **created, int64_t *const *new_sizes, int64_t created_count,\n"
        "                     int64_t arena_bytes, const char *function, const char *const "
        "*locations,\n"
        "                     int64_t location_count, char *message, int64_t message_size);\n";
}

::weft::Result<std::string> emitHeader(ModuleOp module, StringRef guard,
                                       ArrayRef<::weft::SourceLocation> sites, StringRef ptx) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const std::string symbol = symbolName(guard);
  os << "/* Entries of " << guard
     << ", written by weft-compile. Link with libweft-runtime, or with libweft. Functions may be\n"
        " * called from several threads at once, but for variables that one of them updates. */\n"
        "#ifndef "
     << symbol << "\n#define " << symbol
     << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n"
        "#endif\n\n";
  declareCall(os, /*onGpu=*/!ptx.empty());
  const std::string kernels = ptx.empty() ? "" : symbol + "_ptx";
  if (!ptx.empty())
    os << "\n/* Arrays are in memory of that GPU (weft/c/gpu.h), or are copied there and back. */\n"
          "extern const char "
       << kernels << "[] __asm__(\"" << escaped(ptx) << "\");\n";
  const std::vector<std::string> locations = reportedLocations(module, sites);
  if (!locations.empty()) {
    os << "\n/* The lines that errors name, by their numbers in the code. */\n"
          "static const char *const "
       << symbol << "_locations[] = {";
    llvm::interleaveComma(
        locations, os, [&](const std::string &location) { os << '"' << escaped(location) << '"'; });
    os << "};\n";
  }
  const std::string locationsText = (locations.empty() ? "NULL" : symbol + "_locations") + ", " +
                                    std::to_string(locations.size());
  llvm::StringSet<> taken;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !function.isPublic()) continue;
    auto signature =
        SignatureBuilder(function, ptx.empty() ? "memory that free() takes"
                                               : "the GPU's memory, for weft_gpu_free()")
            .build();
    if (!signature) return signature.fault();
    // The entry's symbol may hold characters that a name in C may not.
    const std::string entrySymbol = entryName(function.getName());
    const std::string name = functionName(function.getName(), taken);
    const std::string entry = identifier(name + "_weft_entry", taken);
    os << "\nint32_t " << entry << "(void *const *buffers, const int64_t *sizes, void *context)";
    if (entry != entrySymbol) os << " __asm__(\"" << escaped(entrySymbol) << "\")";
    os << ";\n\n";
    printFunction(os, *signature, name, entry, function, locationsText, kernels);
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

} // namespace mlir::weft
