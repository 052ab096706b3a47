// Compares the key of a program with those of the entries, part by part.
#include "Explain.h"

#include "Driver/Driver.h"
#include "Support/Cpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::weft {

namespace {

using ::weft::cache::Entry;
using ::weft::cache::Key;
using ::weft::cache::Listed;

/// The features of the first text that the second lacks.
std::string without(StringRef features, StringRef others) {
  SmallVector<StringRef> all, taken;
  features.split(all, ',', -1, /*KeepEmpty=*/false);
  others.split(taken, ',', -1, /*KeepEmpty=*/false);
  llvm::erase_if(all, [&](StringRef name) { return llvm::is_contained(taken, name); });
  return llvm::join(all, ", ");
}

/// A line for each part of the key but the program in which an entry differs from what this process
/// would look for.
void explainParts(const Key &there, const Key &here, raw_ostream &os) {
  if (there.pipeline != here.pipeline)
    os << "  pipeline: " << there.pipeline << " there, " << here.pipeline << " here\n";
  if (there.build != here.build)
    os << "  build: " << there.build << " there, " << here.build << " here\n";
  const std::string only = without(there.features, here.features);
  const std::string lacking = without(here.features, there.features);
  if (!only.empty()) os << "  features: the entry has " << only << ", which this CPU lacks\n";
  if (!lacking.empty()) os << "  features: this CPU has " << lacking << ", which the entry lacks\n";
}

unsigned differences(const Key &a, const Key &b) {
  return (a.pipeline != b.pipeline) + (a.build != b.build) + (a.features != b.features);
}

/// Of the entries that `fits` takes, the one whose key differs in the fewest parts; the last used
/// of equals.
template <class Fits>
const Listed *nearest(ArrayRef<Listed> entries, const Key &here, Fits fits) {
  const Listed *found = nullptr;
  for (const Listed &listed : entries) {
    if (!listed.entry || !fits(*listed.entry)) continue;
    if (!found || differences(listed.entry->key, here) < differences(found->entry->key, here))
      found = &listed;
  }
  return found;
}

} // namespace

void explain(ModuleOp module, ArrayRef<Listed> entries, raw_ostream &os) {
  const ::weft::Digest digest = digestOf(module);
  const std::optional<Key> here = ::weft::cache::key_of({});
  if (!here) {
    os << "miss: libweft or libweft-compiler has no build id, so nothing is kept\n";
    return;
  }
  if (const Listed *same =
          nearest(entries, *here, [&](const Entry &entry) { return entry.module == digest; })) {
    const Entry &entry = *same->entry;
    if (differences(entry.key, *here) == 0) {
      os << "hit: the entry " << shortName(same->name) << " holds the code of this program, which "
         << "was @" << entry.function << "\n";
      return;
    }
    os << "miss: the entry " << shortName(same->name)
       << " is of this program and was compiled differently:\n";
    return explainParts(entry.key, *here, os);
  }
  llvm::StringSet<> names;
  for (auto function : module.getOps<func::FuncOp>()) names.insert(function.getName());
  const Listed *named =
      nearest(entries, *here, [&](const Entry &entry) { return names.contains(entry.function); });
  if (!named) {
    os << "miss: no entry is of this program, nor of a function of its names\n";
    return;
  }
  os << "miss: no entry is of this program; the nearest is " << shortName(named->name) << " by the "
     << "name @" << named->entry->function
     << ":\n  program: " << shortName(::weft::hex(named->entry->module)) << " there, "
     << shortName(::weft::hex(digest)) << " here\n";
  explainParts(named->entry->key, *here, os);
}

} // namespace mlir::weft
