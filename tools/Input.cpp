// Reads input programs.
#include "Input.h"

#include "Import/TextLimits.h"
#include "Registration.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mlir::weft {

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;

/// The bytes of a pipe or a device, nothing if they are too many.
llvm::Expected<std::optional<llvm::SmallString<0>>> readStream(llvm::sys::fs::file_t stream) {
  llvm::SmallString<0> text;
  for (;;) {
    const size_t before = text.size();
    text.resize_for_overwrite(before + (size_t{1} << 16));
    llvm::Expected<size_t> got = llvm::sys::fs::readNativeFile(
        stream, llvm::MutableArrayRef(text.data() + before, text.size() - before));
    if (!got) return got.takeError();
    text.truncate(before + *got);
    if (*got == 0) return text;
    if (text.size() > kMostBytes) return std::nullopt;
  }
}

/// The elements of a resource; null if it is not there, or has another number of bytes.
Attribute elementsOf(DenseResourceElementsAttr resource) {
  const AsmResourceBlob *bytes = resource.getRawHandle().getBlob();
  Type element = resource.getType().getElementType();
  bool isSplat = false;
  // A bool is a bit of dense<..>, but a byte of a resource.
  if (!bytes || !(element.isIndex() || element.isIntOrFloat()) || element.isInteger(1) ||
      bytes->getData().empty() ||
      !DenseElementsAttr::isValidRawBuffer(resource.getType(), bytes->getData(), isSplat) ||
      (isSplat && resource.getType().getNumElements() != 1))
    return resource;
  return DenseElementsAttr::getFromRawBuffer(resource.getType(), bytes->getData());
}

/// Puts the elements of resources into the ops, Weft's and upstream's, as passes of MLIR end the
/// process on a resource of a single element. An error at the first that has none.
LogicalResult inlineResources(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](DenseResourceElementsAttr resource) { return elementsOf(resource); });
  replacer.recursivelyReplaceElementsIn(module);
  const WalkResult walked = module.walk([](Operation *op) -> WalkResult {
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (isa<DenseResourceElementsAttr>(attribute.getValue()))
        return op->emitOpError()
               << "'" << attribute.getName().getValue()
               << "' must be dense<..>, whose elements stand in the text, or a resource of as many "
                  "bytes as its type takes";
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Writes all of it.
void send(int pipe, StringRef bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(pipe, bytes.data(), bytes.size());
    if (count <= 0) _exit(1);
    bytes = bytes.drop_front(static_cast<size_t>(count));
  }
}

/// Reads bytecode and sends a T and its text, or an E and what is wrong with it.
[[noreturn]] void readBytecode(StringRef bytecode, int pipe) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP})
    std::signal(signal, SIG_DFL); // LLVM's handlers print where it was
  const rlimit none = {0, 0};
  (void)setrlimit(RLIMIT_CORE, &none);
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string error, text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty()) error = "E" + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytecode, ParserConfig(&context));
  llvm::raw_string_ostream os(text);
  if (module) module->print(os << 'T', OpPrintingFlags().enableDebugInfo());
  send(pipe, module ? text : error);
  _exit(0);
}

/// The text of bytecode. Upstream's reader believes the numbers in it, and writes where those that
/// are wrong lead, so a process of its own reads it.
std::optional<std::string> textOf(StringRef bytecode, std::string &error) {
  int ends[2];
  const pid_t child = ::pipe(ends) == 0 ? ::fork() : -1;
  if (child < 0) {
    error = std::string("its bytecode cannot be read: ") + std::strerror(errno);
    return std::nullopt;
  }
  if (child == 0) readBytecode(bytecode, ends[1]);
  ::close(ends[1]);
  auto answer = readStream(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool isWhole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  error = "its bytecode is damaged";
  if (!answer) llvm::consumeError(answer.takeError());
  else if (isWhole && *answer && (*answer)->starts_with("T")) return (*answer)->substr(1).str();
  else if (isWhole && *answer && !(*answer)->empty()) error += ": " + (*answer)->substr(1).str();
  return std::nullopt;
}

} // namespace

std::unique_ptr<llvm::MemoryBuffer> openProgram(StringRef path, std::string &error) {
  const auto fail = [&](const std::string &why) {
    error = path.str() + ": " + why;
    return nullptr;
  };
  const std::string tooMany =
      "has more than " + std::to_string(kMostBytes) + " bytes, the most that a program may have";
  const bool standard = path == "-";
  llvm::sys::fs::file_t file = llvm::sys::fs::getStdinHandle();
  if (!standard) {
    llvm::Expected<llvm::sys::fs::file_t> opened = llvm::sys::fs::openNativeFileForRead(path);
    if (!opened) {
      error = "cannot open input file '" + path.str() +
              "': " + llvm::errorToErrorCode(opened.takeError()).message();
      return nullptr;
    }
    file = *opened;
  }
  const llvm::scope_exit close([&] {
    if (!standard) (void)llvm::sys::fs::closeFile(file); // it was only read
  });
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(file, status)) return fail(code.message());
  if (status.type() == llvm::sys::fs::file_type::directory_file) return fail("is a folder");
  if (status.type() == llvm::sys::fs::file_type::regular_file && status.getSize() > kMostBytes)
    return fail(tooMany);
  auto text = readStream(file);
  if (!text) return fail(llvm::toString(text.takeError()));
  if (!*text) return fail(tooMany);
  if (text->value().starts_with("WEFTPROG"))
    return fail(
        "is a program that export_program wrote, which weft-run runs; this tool reads MLIR");
  if (isBytecode(**text)) {
    std::string why;
    std::optional<std::string> read = textOf(**text, why);
    if (!read) return fail(why);
    return llvm::MemoryBuffer::getMemBufferCopy(*read, standard ? "<stdin>" : path);
  }
  // An error of the parser would show such a line on the terminal.
  if (text->value().substr(0, 4096).contains('\0'))
    return fail("is binary, but no bytecode of MLIR");
  return llvm::MemoryBuffer::getMemBufferCopy(**text, standard ? "<stdin>" : path);
}

bool isParsable(const llvm::MemoryBuffer &input) {
  const auto fault = faultIn(input.getBuffer());
  if (!fault) return true;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(input.getMemBufferRef(), /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  sources.PrintMessage(llvm::SMLoc::getFromPointer(fault->location), llvm::SourceMgr::DK_Error,
                       fault->message);
  return false;
}

LogicalResult InputProgram::read(StringRef path) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openProgram(path, error);
  if (!file) {
    llvm::errs() << "error: " << error << '\n';
    return failure();
  }
  const StringRef text = file->getBuffer();
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  if (const auto fault = faultIn(text)) {
    sources.PrintMessage(llvm::SMLoc::getFromPointer(fault->location), llvm::SourceMgr::DK_Error,
                         fault->message);
    return failure();
  }
  parsed = parseSourceFile<ModuleOp>(sources, &context);
  return parsed ? inlineResources(*parsed) : failure();
}

OwningOpRef<ModuleOp> InputProgram::again() {
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  if (module && failed(inlineResources(*module))) return nullptr;
  return module;
}

} // namespace mlir::weft
