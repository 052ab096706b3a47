// Reads input programs.
#include "Input.h"

#include "Import/TextLimits.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

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

/// An error at the first op, Weft's or upstream's, whose elements are a resource: it may not be
/// there, and passes of MLIR end the process on one of a single element.
LogicalResult verifyResources(ModuleOp module) {
  const WalkResult walked = module.walk([](Operation *op) -> WalkResult {
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (isa<DenseResourceElementsAttr>(attribute.getValue()))
        return op->emitOpError() << "'" << attribute.getName().getValue()
                                 << "' must be dense<..>, whose elements stand in the text";
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
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
  const auto close = llvm::make_scope_exit([&] {
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
  if (isBytecode(**text))
    return fail("is MLIR's bytecode, but Weft's tools read text: MLIR trusts what bytecode says");
  return llvm::MemoryBuffer::getMemBufferCopy(**text, standard ? "<stdin>" : path);
}

bool isParsable(const llvm::MemoryBuffer &input) {
  const auto fault = faultIn(input.getBuffer());
  if (!fault) return true;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(input.getMemBufferRef(), /*RequiresNullTerminator=*/false),
      llvm::SMLoc());
  sources.PrintMessage(llvm::SMLoc::getFromPointer(fault->place), llvm::SourceMgr::DK_Error,
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
    sources.PrintMessage(llvm::SMLoc::getFromPointer(fault->place), llvm::SourceMgr::DK_Error,
                         fault->message);
    return failure();
  }
  parsed = parseSourceFile<ModuleOp>(sources, &context);
  return parsed ? verifyResources(*parsed) : failure();
}

} // namespace mlir::weft
