// Makes LLVM's debug attributes of locations.
//
// A location names a file, a line and the number of an op call. Lines need a scope, and a scope
// belongs to one file: each pair of op and file gets a subprogram, inlined into that of the
// function the code is in.

#include "JIT/DebugInfo.h"

#include "Weft/IR/Places.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

#include <map>

namespace weft::jit {

namespace {

using namespace mlir;

class Builder {
public:
  Builder(ModuleOp module, const CallNames &names)
      : module(module), names(names), context(module.getContext()) {}

  void run() {
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal()) annotate(function);
  }

private:
  LLVM::DIFileAttr fileOf(const std::string &path) {
    return LLVM::DIFileAttr::get(context, llvm::sys::path::filename(path),
                                 llvm::sys::path::parent_path(path));
  }

  LLVM::DICompileUnitAttr unit() {
    if (!compileUnit) {
      compileUnit = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context)),
                                                 llvm::dwarf::DW_LANG_C_plus_plus_14, mainFile,
                                                 StringAttr::get(context, "weft"),
                                                 /*isOptimized=*/true, LLVM::DIEmissionKind::Full);
    }
    return compileUnit;
  }

  LLVM::DISubprogramAttr subprogram(const std::string &name, LLVM::DIFileAttr file, unsigned line) {
    auto type = LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {});
    return LLVM::DISubprogramAttr::get(
        context, DistinctAttr::create(UnitAttr::get(context)), unit(), file,
        StringAttr::get(context, name), /*linkageName=*/StringAttr(), file, line, line,
        LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type,
        /*retainedNodes=*/{}, /*annotations=*/{});
  }

  /// The subprogram of an op called in that file.
  LLVM::DISubprogramAttr opScope(const std::string &op, const std::string &path, unsigned line) {
    LLVM::DISubprogramAttr &scope = opScopes[{op, path}];
    if (!scope) scope = subprogram(op, fileOf(path), line);
    return scope;
  }

  void annotate(LLVM::LLVMFuncOp function) {
    // The function's own location, or that of its first op that has one.
    SourceLocation start = mlir::weft::placeOf(function.getLoc());
    if (!start.known())
      function.walk([&](Operation *op) {
        start = mlir::weft::placeOf(op->getLoc());
        return start.known() ? WalkResult::interrupt() : WalkResult::advance();
      });
    if (!start.known()) return;
    if (!mainFile) mainFile = fileOf(start.file);
    LLVM::DISubprogramAttr scope =
        subprogram(function.getName().str(), fileOf(start.file), start.line);
    // Code without a line of its own belongs to the one before it.
    SourceLocation last = start;
    std::optional<std::int64_t> lastSite;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == function) return;
      SourceLocation location = mlir::weft::placeOf(op->getLoc());
      std::optional<std::int64_t> site = mlir::weft::siteNumber(op->getLoc());
      if (!location.known()) {
        location = last;
        site = lastSite;
      }
      op->setLoc(located(location, site, scope, start.file));
      last = location;
      lastSite = site;
    });
    function->setLoc(FusedLoc::get({locationOf(start)}, scope, context));
  }

  FileLineColLoc locationOf(const SourceLocation &location) {
    return FileLineColLoc::get(context, location.file, location.line, location.column);
  }

  /// Where in the function: another file than the function's needs a scope of its own.
  Location inFunction(const SourceLocation &location, LLVM::DISubprogramAttr function,
                      const std::string &functionFile) {
    LLVM::DILocalScopeAttr scope = function;
    if (location.file != functionFile)
      scope = LLVM::DILexicalBlockFileAttr::get(function, fileOf(location.file), 0);
    return FusedLoc::get({locationOf(location)}, scope, context);
  }

  Location located(const SourceLocation &location, std::optional<std::int64_t> site,
                   LLVM::DISubprogramAttr function, const std::string &functionFile) {
    Location caller = inFunction(location, function, functionFile);
    const std::optional<CallName> call = site ? names(*site) : std::nullopt;
    if (!call) return caller;
    auto frame = [&](const std::string &name) -> Location {
      return FusedLoc::get({locationOf(location)}, opScope(name, location.file, location.line),
                           context);
    };
    // What was inlined from another traced function keeps its frame.
    if (!call->function.empty() && call->function != function.getName().getValue())
      caller = CallSiteLoc::get(frame(call->function), caller);
    return CallSiteLoc::get(frame(call->op), caller);
  }

  ModuleOp module;
  const CallNames &names;
  MLIRContext *context;
  LLVM::DIFileAttr mainFile;
  LLVM::DICompileUnitAttr compileUnit;
  std::map<std::pair<std::string, std::string>, LLVM::DISubprogramAttr> opScopes;
};

} // namespace

void addDebugInfo(mlir::ModuleOp module, const CallNames &names) { Builder(module, names).run(); }

} // namespace weft::jit
