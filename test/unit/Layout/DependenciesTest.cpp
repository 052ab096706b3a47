// libweft must stay small and quick to load: neither LLVM nor MLIR may be among the libraries it
// needs. Where libweft-compiler has an LLVM of its own inside, nobody else may see it.
#include <gtest/gtest.h>

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace weft::layout {
namespace {

template <class T>
T read_at(const std::vector<char> &bytes, std::size_t offset) {
  if (offset + sizeof(T) > bytes.size()) throw std::out_of_range("the ELF file is truncated");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// An ELF file of 64 bits, by its section headers.
class ElfFile {
public:
  explicit ElfFile(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
    header_ = read_at<Elf64_Ehdr>(bytes_, 0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0)
      throw std::invalid_argument(path + " is not an ELF file");
  }

  // The libraries that it needs.
  std::vector<std::string> needed() const {
    std::vector<std::string> names;
    for_entries<Elf64_Dyn>(SHT_DYNAMIC, [&](const Elf64_Dyn &entry, const char *strings) {
      if (entry.d_tag == DT_NEEDED) names.emplace_back(strings + entry.d_un.d_val);
    });
    return names;
  }

  // The symbols that it has for others.
  std::set<std::string> exported() const {
    std::set<std::string> names;
    for_entries<Elf64_Sym>(SHT_DYNSYM, [&](const Elf64_Sym &symbol, const char *strings) {
      if (symbol.st_shndx != SHN_UNDEF) names.insert(strings + symbol.st_name);
    });
    return names;
  }

private:
  Elf64_Shdr section(std::size_t i) const {
    return read_at<Elf64_Shdr>(bytes_, header_.e_shoff + i * header_.e_shentsize);
  }
  template <class Entry, class Take>
  void for_entries(Elf64_Word type, const Take &take) const {
    for (std::size_t i = 0; i < header_.e_shnum; ++i) {
      const Elf64_Shdr found = section(i);
      if (found.sh_type != type) continue;
      const char *strings = bytes_.data() + section(found.sh_link).sh_offset;
      for (std::size_t at = 0; at + sizeof(Entry) <= found.sh_size; at += sizeof(Entry))
        take(read_at<Entry>(bytes_, found.sh_offset + at), strings);
    }
  }

  std::vector<char> bytes_;
  Elf64_Ehdr header_;
};

bool is_of_llvm(const std::string &library) {
  return library.find("LLVM") != std::string::npos || library.find("MLIR") != std::string::npos ||
         library.find("clang") != std::string::npos;
}

TEST(Dependencies, LibweftNeedsNeitherLlvmNorMlir) {
  const std::vector<std::string> names = ElfFile(WEFT_LIBRARY).needed();
  EXPECT_FALSE(names.empty()) << WEFT_LIBRARY
                              << " names no library at all, not even libc: was it read rightly?";
  for (const std::string &name : names)
    EXPECT_FALSE(is_of_llvm(name) || name.find("weft-compiler") != std::string::npos)
        << "libweft needs " << name
        << "; only libweft-compiler, loaded at the first traced call, may";
}

#ifdef WEFT_COMPILER_LIBRARY
TEST(Dependencies, TheCompilerAndTheToolsBringTheirLlvmAlong) {
  for (const char *path : {WEFT_COMPILER_LIBRARY, WEFT_TOOLS})
    for (const std::string &name : ElfFile(path).needed())
      EXPECT_FALSE(is_of_llvm(name)) << path << " needs " << name;
}

TEST(Dependencies, TheCompilerExportsItsDoorAndWhatGdbLooksFor) {
  EXPECT_EQ(ElfFile(WEFT_COMPILER_LIBRARY).exported(),
            (std::set<std::string>{"__jit_debug_descriptor", "__jit_debug_register_code",
                                   "weft_compiler_backend"}));
}
#endif

} // namespace
} // namespace weft::layout
