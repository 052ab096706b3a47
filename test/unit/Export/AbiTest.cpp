// Notices changes of what compiled code and the library know of each other: archives outlive both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>

#include "Runtime/CallContext.h"
#include "Support/Digest.h"

namespace weft {
namespace {

std::string read(const std::filesystem::path &path) {
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary)
      .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// The text without comments, and with one space where there were several.
std::string plain(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("//")) at = std::min(text.find('\n', at), text.size() - 1);
    const bool space = std::isspace(static_cast<unsigned char>(text[at])) != 0 || text[at] == '\\';
    if (!space) all += text[at];
    else if (!all.ends_with(' ')) all += ' ';
  }
  return all;
}

/// All declarations in headers that name weft_rt_* functions, and the structs that these take.
std::string declarations() {
  std::set<std::string> found; // by their text, so that they may be moved
  for (const auto &item : std::filesystem::recursive_directory_iterator(WEFT_SOURCE_DIR "/lib")) {
    if (item.path().extension() != ".h") continue;
    const std::string text = plain(read(item.path()));
    for (std::size_t at = 0; (at = text.find("weft_rt_", at)) != text.npos;) {
      const std::size_t start = text.find_last_of(";{}", at) + 1, end = text.find(';', at);
      found.insert(text.substr(start, end - start));
      at = end;
    }
    for (const std::string name : {"RuntimeValue", "RuntimeMove", "COutputs"})
      if (const std::size_t at = text.find("struct " + name + " {"); at != text.npos)
        found.insert(text.substr(at, text.find('}', at) - at));
  }
  std::string all;
  for (const std::string &one : found) all += one + '\n';
  return all;
}

std::string digest_of(const std::string &text) {
  Sha256 sha;
  sha.update(text);
  return hex(sha.finish());
}

/// The weft_rt_* functions that libweft exports, some of which are declared by generated code.
std::string exported_names() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&weft_rt_alloc), &info) == 0) return "";
  const std::string file = read(info.dli_fname);
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  std::set<std::string> names;
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file.data() + section.sh_offset + at, sizeof symbol);
      const std::string name = file.data() + sections[section.sh_link].sh_offset + symbol.st_name;
      if (symbol.st_shndx != SHN_UNDEF && name.starts_with("weft_rt_")) names.insert(name);
    }
  }
  std::string all;
  for (const std::string &name : names) all += name + '\n';
  return all;
}

TEST(Abi, DeclarationsAreThoseOfThisVersion) {
  const std::string all = declarations();
  EXPECT_NE(all.find("weft_rt_on_stop"), all.npos);
  EXPECT_NE(all.find("weft_rt_convolution_##Name"), all.npos);
  EXPECT_NE(all.find("weft_rt_parallel_for"), all.npos);
  EXPECT_EQ(digest_of(all), "535fcc4e5ef76438dd00f188ee5de7f315bb5523806961d0df9c790ff8e210d9")
      << "the functions that compiled code calls were changed: raise kRuntimeAbi in "
         "lib/Runtime/CallContext.h, and write this digest here. They are now:\n"
      << all;
  const std::string names = exported_names();
  EXPECT_NE(names.find("weft_rt_cumsum_f32"), names.npos);
  EXPECT_EQ(digest_of(names), "7b614bd92c4365a1fee030cc5fdaf530603a8b81073297609db56b8f87799108")
      << "raise kRuntimeAbi in lib/Runtime/CallContext.h if one has gone or "
         "means something else, and write this digest here:\n"
      << names;
  // What generated code declares.
  EXPECT_NE(read(WEFT_SOURCE_DIR "/tools/weft-tblgen/OpTable.cpp")
                .find("\"(weft::CallContext *context, std::int64_t site, const std::int64_t "
                      "*numbers, \""),
            std::string::npos)
      << "routines take something else: raise kRuntimeAbi in lib/Runtime/CallContext.h, and write "
         "here what they take";
  EXPECT_EQ(kRuntimeAbi, 6) << "was raised: write it here, too";
}

TEST(Abi, CompiledCodeReadsTheArenaOnly) {
  // Of a CallContext it knows one field; the others are the library's own.
  EXPECT_EQ(offsetof(CallContext, arena), 0u) << "raise kRuntimeAbi in lib/Runtime/CallContext.h";
  EXPECT_EQ(sizeof(RuntimeValue), 24u) << "raise kRuntimeAbi in lib/Runtime/CallContext.h";
  EXPECT_EQ(sizeof(RuntimeMove), 24u) << "raise kRuntimeAbi in lib/Runtime/CallContext.h";
}

} // namespace
} // namespace weft
