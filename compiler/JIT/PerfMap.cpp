// Reads the line tables of an object and writes the file that perf reads.

#include "JIT/PerfMap.h"

#include "Support/Log.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <unistd.h>

namespace weft::jit {

namespace {

using llvm::DILineInfo;

struct Function {
  std::string name;
  llvm::object::SectionedAddress start;
  std::uint64_t size;
};

/// "train_step:matmul@train.cpp:41" of the frames of an address, innermost first. The outermost is
/// the entry, which is of use only where there is nothing else.
CodeRange labelled(const llvm::DIInliningInfo &frames) {
  CodeRange range{};
  const std::uint32_t count = frames.getNumberOfFrames();
  for (std::uint32_t i = std::max(count, 2U) - 1; i-- > 0;)
    range.name += (range.name.empty() ? "" : ":") + frames.getFrame(i).FunctionName;
  const DILineInfo &line = frames.getFrame(0);
  if (line.Line != 0)
    range.location =
        "@" + llvm::sys::path::filename(line.FileName).str() + ":" + std::to_string(line.Line);
  return range;
}

/// Where the line changes within [start, end), which begins the list.
std::vector<std::uint64_t> bounds(llvm::DWARFContext &dwarf,
                                  const llvm::object::SectionedAddress &start, std::uint64_t size) {
  std::vector<std::uint64_t> at{start.Address};
  llvm::DILineInfoTable lines = dwarf.getLineInfoForAddressRange(start, size);
  for (const auto &[address, line] : lines)
    if (address > at.back()) at.push_back(address);
  at.push_back(start.Address + size);
  return at;
}

} // namespace

std::vector<CodeRange> codeRanges(llvm::MemoryBufferRef object,
                                  const std::function<std::uint64_t(llvm::StringRef)> &addressOf) {
  std::vector<CodeRange> ranges;
  auto file = llvm::object::ObjectFile::createELFObjectFile(object);
  if (!file) {
    llvm::consumeError(file.takeError());
    return ranges;
  }
  const std::unique_ptr<llvm::DWARFContext> dwarf = llvm::DWARFContext::create(**file);
  const llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::BaseNameOnly,
                                         llvm::DILineInfoSpecifier::FunctionNameKind::ShortName);
  // Functions of a section keep their distances; those that have no name outside of the object are
  // found by one that has.
  std::map<std::uint64_t, std::uint64_t> bases;
  std::vector<Function> functions;
  for (const llvm::object::ELFSymbolRef symbol :
       llvm::cast<llvm::object::ELFObjectFileBase>(file->get())->symbols()) {
    if (symbol.getELFType() != llvm::ELF::STT_FUNC || symbol.getSize() == 0) continue;
    const auto name = llvm::expectedToOptional(symbol.getName());
    const auto address = llvm::expectedToOptional(symbol.getAddress());
    const auto section = llvm::expectedToOptional(symbol.getSection());
    if (!name || !address || !section || *section == (*file)->section_end()) continue;
    functions.push_back({name->str(), {*address, (*section)->getIndex()}, symbol.getSize()});
    if (const std::uint64_t loaded = addressOf(*name))
      bases[(*section)->getIndex()] = loaded - *address;
  }
  for (const Function &function : functions) {
    const auto base = bases.find(function.start.SectionIndex);
    if (base == bases.end()) continue;
    const std::vector<std::uint64_t> at = bounds(*dwarf, function.start, function.size);
    const std::size_t first = ranges.size();
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      const llvm::DIInliningInfo frames =
          dwarf->getInliningInfoForAddress({at[i], function.start.SectionIndex}, wanted);
      CodeRange range =
          frames.getNumberOfFrames() == 0 ? CodeRange{.name = function.name} : labelled(frames);
      range.start = base->second + at[i];
      range.size = at[i + 1] - at[i];
      CodeRange *last = ranges.size() > first ? &ranges.back() : nullptr;
      // What the optimizer merged from several lines has none.
      if (last != nullptr && last->name == range.name &&
          (range.location.empty() || last->location == range.location))
        last->size += range.size;
      else ranges.push_back(std::move(range));
    }
  }
  return ranges;
}

void writePerfMap(const std::vector<CodeRange> &ranges) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::FILE *file = std::fopen(path.c_str(), "ae");
  bool written = file != nullptr;
  for (const CodeRange &range : ranges)
    if (written)
      written = std::fprintf(file, "%llx %llx %s\n", static_cast<unsigned long long>(range.start),
                             static_cast<unsigned long long>(range.size),
                             (range.name + range.location).c_str()) > 0;
  if (file != nullptr) written = std::fclose(file) == 0 && written;
  if (!written) warn_line("error: " + path + ": cannot write the map of compiled code for perf");
}

} // namespace weft::jit
