// One ORC session per process, one library in it per loaded object.

#include "JIT/Loader.h"

#include "JIT/PerfMap.h"
#include "Support/Fork.h"
#include "Support/Threads.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/Debugging/ELFDebugObjectPlugin.h"
#include "llvm/ExecutionEngine/Orc/EHFrameRegistrationPlugin.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectFileInterface.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/ExecutionEngine/Orc/TaskDispatch.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <utility>

namespace weft::jit {
namespace {

using namespace llvm::orc;

/// Collects what the session finds wrong on this thread while it lives: the details, of which the
/// errors that functions return only say that there were some.
class Details {
public:
  Details() { current_ = this; }
  ~Details() { current_ = nullptr; }
  Details(const Details &) = delete;
  Details &operator=(const Details &) = delete;

  static void add(const std::string &what) {
    if (current_ == nullptr) return;
    if (!current_->text_.empty()) current_->text_ += "; ";
    current_->text_ += what;
  }
  static std::string take() { return current_ ? std::exchange(current_->text_, {}) : ""; }

private:
  static thread_local constinit Details *current_;
  std::string text_;
};
thread_local constinit Details *Details::current_ = nullptr;

Fault fault(const std::string &what, llvm::Error error) {
  std::string message = what + ": " + llvm::toString(std::move(error));
  const std::string details = Details::take();
  if (!details.empty()) message += " (" + details + ")";
  return {ErrorKind::compile, std::move(message)};
}

/// The session and what all loaded objects share. It is created at the first use and never
/// destroyed: code may run until the process ends.
class Session {
public:
  static Result<Session *> get() {
    static auto *session = new Result<std::unique_ptr<Session>>(make());
    if (!*session) return session->fault();
    return (**session).get();
  }

  /// Tells debuggers of objects with debug information from now on.
  Check tellDebuggers() {
    static const auto &why = *new Check([this]() -> Check {
      auto error = llvm::Error::success();
      auto plugin = std::make_unique<ELFDebugObjectPlugin>(
          *execution_, /*RequireDebugSections=*/true, /*AutoRegisterCode=*/true, error);
      if (error) return fault("debuggers cannot be told of compiled code", std::move(error));
      layer_->addPlugin(std::move(plugin));
      return std::nullopt;
    }());
    return why;
  }

  ExecutionSession &execution() { return *execution_; }
  ObjectLinkingLayer &layer() { return *layer_; }
  JITDylib &library() { return *library_; }
  std::string nextName() { return "f" + std::to_string(count_++); }

private:
  static Result<std::unique_ptr<Session>> make() {
    auto session = std::make_unique<Session>();
    // Linking happens on the thread that asks for it, not on threads of its own.
    auto control =
        SelfExecutorProcessControl::Create(nullptr, std::make_unique<InPlaceTaskDispatcher>());
    if (!control) return fault("code cannot be loaded", control.takeError());
    session->execution_ = std::make_unique<ExecutionSession>(std::move(*control));
    session->execution_->setErrorReporter(
        [](llvm::Error error) { Details::add(llvm::toString(std::move(error))); });
    session->layer_ = std::make_unique<ObjectLinkingLayer>(*session->execution_);
    auto unwind = EHFrameRegistrationPlugin::Create(*session->execution_);
    if (!unwind) return fault("exceptions cannot pass compiled code", unwind.takeError());
    session->layer_->addPlugin(std::move(*unwind));

    // Symbols are looked up through libweft itself, so that they are found however it was loaded.
    session->library_ = &session->execution_->createBareJITDylib("libweft");
    Dl_info info{};
    const char *path = nullptr;
    if (dladdr(reinterpret_cast<void *>(&weft_rt_parallel_for), &info) != 0) path = info.dli_fname;
    auto symbols = DynamicLibrarySearchGenerator::Load(path, '\0');
    if (!symbols) {
      llvm::consumeError(symbols.takeError());
      symbols = DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
    }
    if (!symbols) return fault("libweft's functions cannot be found", symbols.takeError());
    session->library_->addGenerator(std::move(*symbols));
    return session;
  }

  std::unique_ptr<ExecutionSession> execution_;
  std::unique_ptr<ObjectLinkingLayer> layer_;
  JITDylib *library_ = nullptr;
  std::atomic<std::uint64_t> count_ = 0;
};

} // namespace

Result<std::unique_ptr<LoadedObject>> loadObject(std::unique_ptr<llvm::MemoryBuffer> object,
                                                 PhaseTimes *times, LoadFor who) {
  auto start = std::chrono::steady_clock::now();
  const Details details;
  Result<Session *> session = Session::get();
  if (!session) return session.fault();
  if (who.gdb)
    if (Check why = (*session)->tellDebuggers()) return *why;
  // The linker takes the object.
  const std::string copy = who.perf ? object->getBuffer().str() : "";
  ExecutionSession &execution = (*session)->execution();
  JITDylib &dylib = execution.createBareJITDylib((*session)->nextName());
  dylib.addToLinkOrder((*session)->library());
  auto loaded = std::unique_ptr<LoadedObject>(new LoadedObject(dylib));

  auto interface = getObjectFileInterface(execution, object->getMemBufferRef());
  if (!interface) return fault("the object code is not valid", interface.takeError());
  SymbolLookupSet defined;
  for (const auto &[name, flags] : interface->SymbolFlags) defined.add(name);
  if (auto error = (*session)->layer().add(dylib.getDefaultResourceTracker(), std::move(object),
                                           std::move(*interface)))
    return fault("the object code cannot be added", std::move(error));
  // Linking is lazy; errors in it belong here.
  auto symbols = execution.lookup(makeJITDylibSearchOrder(&dylib), std::move(defined));
  if (!symbols) return fault("the compiled code cannot be linked", symbols.takeError());
  if (who.perf) {
    const auto addressOf = [&](llvm::StringRef name) -> std::uint64_t {
      const auto found = symbols->find(execution.intern(name));
      return found == symbols->end() ? 0 : found->second.getAddress().getValue();
    };
    writePerfMap(codeRanges(llvm::MemoryBufferRef(copy, "weft.o"), addressOf));
  }
  if (times) {
    std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    times->link += passed.count();
  }
  return loaded;
}

LoadedObject::~LoadedObject() {
  const forks::Delay whole;
  ExecutionSession &execution = dylib_->getExecutionSession();
  if (auto error = execution.removeJITDylib(*dylib_)) execution.reportError(std::move(error));
}

Result<void *> LoadedObject::lookup(std::string_view name) const {
  const Details details;
  ExecutionSession &execution = dylib_->getExecutionSession();
  auto symbol = execution.lookup({dylib_}, execution.intern(llvm::StringRef(name)));
  if (!symbol)
    return fault("there is no compiled function " + std::string(name), symbol.takeError());
  return symbol->getAddress().toPtr<void *>();
}

} // namespace weft::jit
