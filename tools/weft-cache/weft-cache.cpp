// weft-cache: shows what is in the code cache, explains a miss, and empties it.
#include "../Help.h"
#include "../Input.h"
#include "../Output.h"
#include "../Tools.h"
#include "Driver/Driver.h"
#include "Explain.h"
#include "Support/Cpu.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"

#include <ctime>

using namespace mlir;
using namespace mlir::weft;
namespace cache = ::weft::cache;
namespace cl = llvm::cl;

namespace {
/// Registered when this tool starts: the tools are one program, and each has its own options.
struct Options {
  cl::OptionCategory category{"weft-cache options"};
  cl::opt<std::string> verb{cl::Positional, cl::Required, cl::desc("list|explain|clear"),
                            cl::cat(category)};
  cl::opt<std::string> inputFile{cl::Positional, cl::desc("[FILE.mlir]"), cl::cat(category)};
  cl::opt<bool> full{"full", cl::desc("List whole names, builds and features"), cl::cat(category)};
};
} // namespace

static Options *options;

static std::string sizeText(double bytes) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return llvm::formatv(unit == 0 ? "{0:f0} {1}" : "{0:f1} {1}", bytes, units[unit]).str();
}

static std::string ageText(int64_t seconds) {
  if (seconds < 120) return std::to_string(std::max<int64_t>(seconds, 0)) + " s ago";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min ago";
  if (seconds < 172800) return std::to_string(seconds / 3600) + " h ago";
  return std::to_string(seconds / 86400) + " days ago";
}

/// What an entry's instruction sets mean for this CPU.
static std::string featuresText(const std::string &features) {
  if (features == ::weft::host_cpu_features_text()) return "as this CPU";
  const std::string missing = ::weft::missing_cpu_feature(features);
  return missing.empty() ? "fewer than this CPU" : missing + ", which this CPU lacks";
}

static int list(const cache::Folder &folder) {
  const std::vector<cache::Listed> entries = folder.list();
  uint64_t sum = 0;
  for (const cache::Listed &listed : entries) sum += listed.bytes;
  llvm::outs() << folder.path() << ": " << entries.size()
               << (entries.size() == 1 ? " entry, " : " entries, ") << sizeText(sum) << " of "
               << sizeText(folder.cap()) << '\n';
  const int64_t now = std::time(nullptr);
  if (!entries.empty())
    llvm::outs() << llvm::formatv("{0,-16}{1,10}  {2,-13}{3,12}  {4,-20}{5}\n", "entry", "size",
                                  "used", "compiled in", "function", "features");
  for (const cache::Listed &listed : entries) {
    llvm::outs() << llvm::formatv("{0,-16}{1,10}  {2,-13}",
                                  options->full ? listed.name : shortName(listed.name),
                                  sizeText(listed.bytes), ageText(now - listed.used));
    if (!listed.entry) {
      llvm::outs() << listed.entry.fault().message << '\n';
      continue;
    }
    llvm::outs() << llvm::formatv("{0,9:f1} ms  {1,-20}{2}\n", listed.entry->compile_ms,
                                  listed.entry->function, featuresText(listed.entry->key.features));
    if (options->full)
      llvm::outs() << "  pipeline " << listed.entry->key.pipeline << ", build "
                   << listed.entry->key.build << "\n  features " << listed.entry->key.features
                   << '\n';
  }
  return 0;
}

static int explainFile(const cache::Folder &folder) {
  CompilerContext context;
  InputProgram input(context);
  if (failed(input.read(options->inputFile))) return 1;
  explain(input.module(), folder.list(), llvm::outs());
  return 0;
}

static int fail(const llvm::Twine &what) {
  llvm::errs() << "error: " << what << '\n';
  return 1;
}

static int runVerb() {
  if (options->verb != "list" && options->verb != "explain" && options->verb != "clear")
    return fail("'" + options->verb + "' is none of list, explain, clear");
  if (options->verb == "explain" && options->inputFile.empty())
    return fail("explain needs a FILE.mlir");
  if (options->verb != "explain" && !options->inputFile.empty())
    return fail(options->verb + " takes no file");
  const std::optional<cache::Folder> folder = cache::Folder::from_environment();
  if (!folder) return fail("the cache is off, by WEFT_CACHE or for want of a home folder");
  if (::weft::Check check = folder->prepare()) return fail(check->message);
  if (options->verb == "list") return list(*folder);
  if (options->verb == "explain") return explainFile(*folder);
  const auto removed = folder->clear();
  if (!removed) return fail(removed.fault().message);
  llvm::outs() << folder->path() << ": " << *removed
               << (*removed == 1 ? " entry removed\n" : " entries removed\n");
  return 0;
}

int mlir::weft::cacheMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  static Options registered;
  options = &registered;
  cl::HideUnrelatedOptions(options->category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "weft-cache: look into the code cache\n\n"
      "  weft-cache list                 what is there: size, last use, function, CPU features\n"
      "  weft-cache explain step.mlir    why the code of this program is there or not\n"
      "  weft-cache clear                remove everything\n\n"
      "The folder is $WEFT_CACHE_DIR, or $XDG_CACHE_HOME/weft, or ~/.cache/weft.\n");
  try {
    const int status = runVerb();
    return finish(llvm::outs(), "-") ? status : 1;
  } catch (const ::weft::Error &error) {
    return fail(error.message());
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
