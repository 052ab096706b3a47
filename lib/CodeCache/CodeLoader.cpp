// A linker for one object file: lays out its sections, resolves its symbols, applies its
// relocations.
#include "CodeCache/CodeLoader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <map>
#include <string>
#include <vector>

#include <sys/mman.h>

// How libgcc's unwinder is told of functions that no loaded file describes; the names are its own.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" void __register_frame(void *);
extern "C" void __deregister_frame(void *);
// NOLINTEND(bugprone-reserved-identifier)

namespace weft::cache {

namespace {

constexpr std::uint64_t kPage = 4096;
/// `jmp *address(%rip)` and the padding after it.
constexpr std::uint64_t kStubBytes = 8;

Fault fault(const std::string &what) {
  return {ErrorKind::io, "holds code that cannot be linked: " + what};
}

class Image final : public LoadedCode {
public:
  ~Image() override {
    if (frames_ != nullptr) __deregister_frame(frames_);
    if (memory_ != nullptr) munmap(memory_, size_);
  }

  void *lookup(std::string_view name) const override {
    const auto found = defined_.find(name);
    return found == defined_.end() ? nullptr : found->second;
  }

private:
  friend class Linker;
  std::byte *memory_ = nullptr;
  std::size_t size_ = 0;
  void *frames_ = nullptr;
  std::map<std::string, void *, std::less<>> defined_;
};

/// Links one object; every offset and number that it reads is checked against the object's size.
class Linker {
public:
  explicit Linker(std::string_view object) : object_(object), image_(new Image) {}

  Result<std::unique_ptr<LoadedCode>> run() {
    for (const auto step : {&Linker::read_headers, &Linker::lay_out, &Linker::resolve,
                            &Linker::relocate, &Linker::seal})
      if (Check check = (this->*step)()) return std::move(*check);
    return std::unique_ptr<LoadedCode>(std::move(image_));
  }

private:
  /// What may be done with memory; each kind has pages of its own.
  enum Kind : std::uint8_t { code, constants, data, kinds };

  template <class T>
  bool read(std::uint64_t offset, T &value) const {
    if (offset > object_.size() || sizeof value > object_.size() - offset) return false;
    std::memcpy(&value, object_.data() + offset, sizeof value);
    return true;
  }

  bool holds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= object_.size() && size <= object_.size() - offset;
  }

  /// A text of a string table.
  const char *text(const Elf64_Shdr &table, std::uint64_t offset) const {
    const bool is_ended = table.sh_size != 0 && holds(table.sh_offset, table.sh_size) &&
                          object_[table.sh_offset + table.sh_size - 1] == '\0';
    return is_ended && offset < table.sh_size ? object_.data() + table.sh_offset + offset : "";
  }

  Check read_headers() {
    Elf64_Ehdr header;
    if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_type != ET_REL || header.e_machine != EM_X86_64)
      return fault("it is no object file for x86-64");
    sections_.resize(header.e_shnum);
    for (std::size_t i = 0; i < sections_.size(); ++i)
      if (!read(header.e_shoff + i * sizeof(Elf64_Shdr), sections_[i]))
        return fault("its sections are outside of it");
    if (header.e_shstrndx >= sections_.size()) return fault("its sections have no names");
    names_ = sections_[header.e_shstrndx];
    for (const Elf64_Shdr &section : sections_) {
      if (section.sh_type != SHT_NOBITS && !holds(section.sh_offset, section.sh_size))
        return fault("a section is outside of it");
      if (section.sh_type != SHT_SYMTAB || section.sh_size < sizeof(Elf64_Sym)) continue;
      if (section.sh_link >= sections_.size()) return fault("its symbols have no names");
      symbol_names_ = sections_[section.sh_link];
      symbols_.resize(section.sh_size / sizeof(Elf64_Sym));
      std::memcpy(symbols_.data(), object_.data() + section.sh_offset,
                  symbols_.size() * sizeof(Elf64_Sym));
    }
    return std::nullopt;
  }

  static Kind kind_of(const Elf64_Shdr &section) {
    if ((section.sh_flags & SHF_EXECINSTR) != 0) return code;
    return (section.sh_flags & SHF_WRITE) != 0 ? data : constants;
  }

  /// Gives every section its offset, and each undefined symbol an address slot and a jump to it:
  /// what is called may be further away than a call reaches.
  Check lay_out() {
    offsets_.assign(sections_.size(), 0);
    std::uint64_t at = 0;
    for (int kind = 0; kind < kinds; ++kind) {
      starts_[kind] = at;
      for (std::size_t i = 0; i < sections_.size(); ++i) {
        const Elf64_Shdr &section = sections_[i];
        if ((section.sh_flags & SHF_ALLOC) == 0 || kind_of(section) != kind) continue;
        if ((section.sh_flags & SHF_TLS) != 0) return fault("it has thread-local data");
        const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 1);
        if (alignment > kPage || (alignment & (alignment - 1)) != 0 ||
            section.sh_size > (std::uint64_t{1} << 30))
          return fault("a section's size or alignment is none");
        offsets_[i] = at = (at + alignment - 1) / alignment * alignment;
        // The unwinder reads tables up to a zero, which the pad is.
        at += section.sh_size + 8;
      }
      if (kind == code) {
        stubs_ = at = (at + 15) / 16 * 16;
        at += symbols_.size() * kStubBytes;
      } else if (kind == constants) {
        slots_ = at = (at + 15) / 16 * 16;
        at += symbols_.size() * sizeof(void *);
      }
      at = (at + kPage - 1) / kPage * kPage;
    }
    starts_[kinds] = at;
    void *memory = mmap(nullptr, at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return fault("there is no memory for it");
    image_->memory_ = static_cast<std::byte *>(memory);
    image_->size_ = at;
    for (std::size_t i = 0; i < sections_.size(); ++i)
      if ((sections_[i].sh_flags & SHF_ALLOC) != 0 && sections_[i].sh_type != SHT_NOBITS)
        std::memcpy(image_->memory_ + offsets_[i], object_.data() + sections_[i].sh_offset,
                    sections_[i].sh_size);
    return std::nullopt;
  }

  Check resolve() {
    addresses_.assign(symbols_.size(), 0);
    for (std::size_t i = 1; i < symbols_.size(); ++i) {
      const Elf64_Sym &symbol = symbols_[i];
      const char *name = text(symbol_names_, symbol.st_name);
      if (symbol.st_shndx == SHN_UNDEF) {
        void *outside = resolve_symbol(name);
        if (outside == nullptr && ELF64_ST_BIND(symbol.st_info) != STB_WEAK)
          return fault("there is no function " + std::string(name));
        addresses_[i] = reinterpret_cast<std::uint64_t>(outside);
      } else if (symbol.st_shndx == SHN_ABS) {
        addresses_[i] = symbol.st_value;
      } else {
        if (symbol.st_shndx >= sections_.size()) return fault("a symbol is in no section");
        const Elf64_Shdr &section = sections_[symbol.st_shndx];
        if ((section.sh_flags & SHF_ALLOC) == 0) continue; // of debug information
        if (symbol.st_value > section.sh_size) return fault("a symbol is outside of its section");
        std::byte *address = image_->memory_ + offsets_[symbol.st_shndx] + symbol.st_value;
        addresses_[i] = reinterpret_cast<std::uint64_t>(address);
        if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) image_->defined_[name] = address;
      }
      write_stub(i);
    }
    return std::nullopt;
  }

  std::byte *slot(std::size_t symbol) { return image_->memory_ + slots_ + symbol * sizeof(void *); }
  std::byte *stub(std::size_t symbol) { return image_->memory_ + stubs_ + symbol * kStubBytes; }

  void write_stub(std::size_t symbol) {
    std::memcpy(slot(symbol), &addresses_[symbol], sizeof(void *));
    const unsigned char jump[2] = {0xff, 0x25};
    const auto distance = static_cast<std::int32_t>(slot(symbol) - (stub(symbol) + 6));
    std::memcpy(stub(symbol), jump, sizeof jump);
    std::memcpy(stub(symbol) + sizeof jump, &distance, sizeof distance);
  }

  Check relocate() {
    for (const Elf64_Shdr &section : sections_) {
      if (section.sh_type == SHT_REL) return fault("it has relocations without addends");
      if (section.sh_type != SHT_RELA) continue;
      if (section.sh_info >= sections_.size()) return fault("relocations are of no section");
      if ((sections_[section.sh_info].sh_flags & SHF_ALLOC) == 0) continue;
      for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size;
           at += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        std::memcpy(&relocation, object_.data() + section.sh_offset + at, sizeof relocation);
        if (Check check = apply(relocation, section.sh_info)) return check;
      }
    }
    return std::nullopt;
  }

  Check apply(const Elf64_Rela &relocation, std::size_t section) {
    const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
    const std::size_t symbol = ELF64_R_SYM(relocation.r_info);
    const std::size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
    const std::uint64_t size = sections_[section].sh_size;
    if (symbol >= symbols_.size() || relocation.r_offset > size ||
        width > size - relocation.r_offset)
      return fault("a relocation is outside of its section");
    std::byte *at = image_->memory_ + offsets_[section] + relocation.r_offset;
    const auto address = reinterpret_cast<std::uint64_t>(at);
    const auto addend = static_cast<std::uint64_t>(relocation.r_addend);
    std::uint64_t target = addresses_[symbol];
    const bool is_outside = symbols_[symbol].st_shndx == SHN_UNDEF;
    switch (type) {
    case R_X86_64_NONE: return std::nullopt;
    case R_X86_64_64:
      target += addend;
      std::memcpy(at, &target, sizeof target);
      return std::nullopt;
    case R_X86_64_PC64:
      target += addend - address;
      std::memcpy(at, &target, sizeof target);
      return std::nullopt;
    case R_X86_64_PLT32:
      if (is_outside) target = reinterpret_cast<std::uint64_t>(stub(symbol));
      break;
    case R_X86_64_PC32: break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX: target = reinterpret_cast<std::uint64_t>(slot(symbol)); break;
    default: return fault("a relocation has the unknown type " + std::to_string(type));
    }
    const auto distance = static_cast<std::int64_t>(target + addend - address);
    const auto narrow = static_cast<std::int32_t>(distance);
    if (narrow != distance) return fault("a relocation does not reach its symbol");
    std::memcpy(at, &narrow, sizeof narrow);
    return std::nullopt;
  }

  /// Makes code executable and constants constant, and tells the unwinder of the functions.
  Check seal() {
    constexpr int protections[kinds] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int kind = 0; kind < kinds; ++kind) {
      const std::uint64_t size = starts_[kind + 1] - starts_[kind];
      if (size != 0 && mprotect(image_->memory_ + starts_[kind], size, protections[kind]) != 0)
        return fault("its memory cannot be made executable");
    }
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr &section = sections_[i];
      if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0 ||
          std::strcmp(text(names_, section.sh_name), ".eh_frame") != 0)
        continue;
      if (image_->frames_ != nullptr) return fault("it has two tables for the unwinder");
      image_->frames_ = image_->memory_ + offsets_[i];
      __register_frame(image_->frames_);
    }
    return std::nullopt;
  }

  std::string_view object_;
  std::unique_ptr<Image> image_;
  std::vector<Elf64_Shdr> sections_;
  Elf64_Shdr names_{}, symbol_names_{};
  std::vector<Elf64_Sym> symbols_;
  std::vector<std::uint64_t> offsets_, addresses_; ///< of sections, in the memory; of symbols
  std::uint64_t starts_[kinds + 1] = {};
  std::uint64_t stubs_ = 0, slots_ = 0;
};

} // namespace

Result<std::unique_ptr<LoadedCode>> load_code(std::string_view object) {
  return Linker(object).run();
}

} // namespace weft::cache
