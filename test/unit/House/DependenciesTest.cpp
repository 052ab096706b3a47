// libweft must stay small and quick to load: neither LLVM nor MLIR may be among the libraries it
// needs.
#include <gtest/gtest.h>

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace weft::house {
namespace {

template <class T>
T read_at(const std::vector<char> &bytes, std::size_t offset) {
  if (offset + sizeof(T) > bytes.size()) throw std::out_of_range("the ELF file is truncated");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The DT_NEEDED names of a 64-bit ELF shared library, read from its section headers.
std::vector<std::string> needed_libraries(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), {});
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    throw std::invalid_argument(path + " is not an ELF file");

  auto section = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(bytes, header.e_shoff + i * header.e_shentsize);
  };
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr dynamic = section(i);
    if (dynamic.sh_type != SHT_DYNAMIC) continue;
    const Elf64_Shdr strings = section(dynamic.sh_link);
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.sh_size; at += sizeof(Elf64_Dyn)) {
      const auto entry = read_at<Elf64_Dyn>(bytes, dynamic.sh_offset + at);
      if (entry.d_tag == DT_NEEDED)
        names.emplace_back(bytes.data() + strings.sh_offset + entry.d_un.d_val);
    }
  }
  return names;
}

TEST(Dependencies, LibweftNeedsNeitherLlvmNorMlir) {
  const std::vector<std::string> names = needed_libraries(WEFT_LIBRARY);
  EXPECT_FALSE(names.empty()) << WEFT_LIBRARY
                              << " names no library at all, not even libc: was it read rightly?";
  for (const std::string &name : names) {
    const bool compiler =
        name.find("LLVM") != std::string::npos || name.find("MLIR") != std::string::npos ||
        name.find("clang") != std::string::npos || name.find("weft-compiler") != std::string::npos;
    EXPECT_FALSE(compiler) << "libweft needs " << name
                           << "; only libweft-compiler, loaded at the first traced call, may";
  }
}

} // namespace
} // namespace weft::house
