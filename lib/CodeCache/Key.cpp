// Hashes programs, and finds the build ids of the libraries.
#include "CodeCache/CodeCache.h"

#include <cstring>
#include <elf.h>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "OpDefs/OpInfo.h"
#include "Program/CompilerBackend.h"
#include "Runtime/Variable.h"
#include "Support/Cpu.h"
#include <weft/detail/interrupts.h>

namespace weft::cache {

namespace {

/// Writes a program into a hash. Members are taken apart by structured bindings, so that a member
/// that is added does not compile until it is hashed too.
class Hasher {
public:
  /// What was hashed of a program that is called, and which was called first, second, ...: that
  /// decides how op calls are numbered (Program/Sites.h).
  struct Callee {
    std::size_t number;
    Digest digest;
  };
  /// What programs that call each other share.
  struct Shared {
    std::unordered_map<const Program *, Callee> called; ///< each once
    /// Numbers of the callables of the one that calls all others.
    std::unordered_map<const HostFunction *, std::size_t> hosts;
  };

  Hasher(const Program &program, Shared &shared, Scalars scalars = Scalars::own)
      : program_(program), shared_(shared), scalars_(scalars) {
    for (const VariableRef &variable : program.variables)
      numbers_.emplace(variable.get(), numbers_.size());
  }

  Digest run() {
    // Who binds the variables of the arguments (`parameters`) is the caller's business.
    // Names and locations in the source do not change the code, nor does how often it can be
    // differentiated (`orders`), nor the call that it was traced for (`hints`).
    const auto &[name, values, inputs, captured, captures, parameters, variables, written, outputs,
                 files, part, kernel, folded, hosts, checkpoint, tf32, orders, unrecorded, names,
                 hints] = static_cast<const ProgramHead &>(program_);
    const auto &nodes = program_.nodes;
    sha_.text("weft program 4");
    sha_.number(detail::interrupts_are_handled());
    sha_.number(values.size());
    for (const TensorType &value : values) type(value);
    ids(inputs);
    ids(captured);
    sha_.number(names.size());
    for (const Shape &shape : names)
      for (const std::int64_t size : shape)
        sha_.text(detail::is_named(size) ? detail::name_of_size(size) : std::string());
    sha_.number(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) {
      type(variables[i]->type());
      const auto cut = variables[i]->cut();
      sha_.number(cut == nullptr ? 0 : cut->ranks);
      sha_.number(cut == nullptr ? 0 : cut->group);
      sha_.number(written[i]);
    }
    all(nodes);
    ids(outputs);
    sha_.number(part.has_value());
    if (part) {
      const auto &[half, own_inputs, own_outputs] = *part;
      sha_.number(static_cast<std::uint8_t>(half));
      sha_.number(own_inputs);
      sha_.number(own_outputs);
    }
    sha_.number(kernel.has_value());
    if (kernel) {
      sha_.text(kernel->op);
      sha_.number(kernel->attributes.size());
      for (const auto &[attribute, value] : kernel->attributes) {
        sha_.text(attribute);
        one(value);
      }
    }
    // What the callables do is no part of the code, but it has their names.
    sha_.number(hosts.size());
    for (const std::string &symbol : program_.host_symbols()) sha_.text(symbol);
    sha_.text(checkpoint);
    sha_.number(tf32);
    sha_.number(unrecorded);
    return sha_.finish();
  }

private:
  void type(const TensorType &type) {
    sha_.number(static_cast<std::uint8_t>(type.dtype));
    sha_.number(type.shape.size());
    for (const std::int64_t size : type.shape) sha_.number(size);
  }

  template <class Ids>
  void ids(const Ids &list) {
    sha_.number(list.size());
    for (const ValueId id : list) sha_.number(id);
  }

  void all(const std::vector<ProgramNode> &nodes) {
    sha_.number(nodes.size());
    for (const ProgramNode &node : nodes) one(node);
  }

  void one(const ProgramNode &node) {
    const auto &[op, operands, attrs, result, construct, location] = node;
    sha_.number(construct != nullptr);
    ids(operands);
    if (construct) return one(*construct);
    sha_.text(op_info(op).name);
    sha_.number(result);
    sha_.number(attrs.size());
    for (const Attr &attr : attrs) one(attr);
  }

  void one(const ProgramConstruct &construct) {
    const auto &[kind, step, results, callee, variables, host, pure, record, ends_at_hosts, wrt] =
        static_cast<const ProgramConstructHead &>(construct);
    const auto &regions = construct.regions;
    sha_.number(static_cast<std::uint8_t>(kind));
    sha_.number(step);
    sha_.number(regions.size());
    for (const ProgramRegion &region : regions) {
      const auto &[arguments, nodes, outputs] = region;
      ids(arguments);
      all(nodes);
      ids(outputs);
    }
    ids(results);
    sha_.number(callee != nullptr);
    if (callee) called(*callee);
    sha_.number(variables.size());
    for (const VariableRef &variable : variables) content(variable);
    sha_.number(host != nullptr);
    if (host) sha_.number(shared_.hosts.at(host.get()));
    sha_.number(pure);
    sha_.number(record);
    sha_.number(ends_at_hosts);
    sha_.number(wrt.size());
    for (const std::uint32_t operand : wrt) sha_.number(operand);
  }

  void called(const Program &callee) {
    const auto [found, fresh] =
        shared_.called.try_emplace(&callee, Callee{shared_.called.size(), {}});
    Callee &entry = found->second; // stays where it is when others are added
    if (fresh) entry.digest = Hasher(callee, shared_).run();
    sha_.number(entry.number);
    sha_.update(entry.digest.data(), entry.digest.size());
  }

  void one(const Attr &attr) {
    sha_.number(attr.index());
    std::visit([this](const auto &value) { content(value); }, attr);
  }

  template <class T>
    requires std::is_arithmetic_v<T>
  void content(T value) {
    sha_.number(value);
  }
  void content(DType value) { sha_.number(static_cast<std::uint8_t>(value)); }
  void content(const Ints &value) {
    sha_.number(value.size());
    for (const std::int64_t number : value) sha_.number(number);
  }
  void content(const std::string &value) { sha_.text(value); }
  void content(const ConstantRef &value) {
    type(value->type);
    std::size_t elements = 1;
    for (const std::int64_t size : value->type.shape) elements *= static_cast<std::size_t>(size);
    if (elements == 1 && scalars_ == Scalars::any) return;
    const std::size_t bytes = elements * item_size(value->type.dtype);
    sha_.update(value->bytes, bytes);
  }
  void content(const VariableRef &value) { sha_.number(numbers_.at(value.get())); }

  const Program &program_;
  Shared &shared_;
  const Scalars scalars_; ///< of its own constants; those of called programs always count
  std::unordered_map<const VariableState *, std::size_t> numbers_; ///< of the variables
  Sha256 sha_;
};

/// The GNU build id among the notes of a segment; empty if there is none.
std::string find_build_id(const std::vector<char> &notes) {
  for (std::size_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + at, sizeof header);
    const std::size_t name = at + sizeof header;
    const std::size_t content = name + (std::size_t{header.n_namesz} + 3) / 4 * 4;
    const std::size_t next = content + (std::size_t{header.n_descsz} + 3) / 4 * 4;
    if (next > notes.size()) return {};
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes.data() + name, "GNU", 4) == 0)
      return {notes.data() + content, header.n_descsz};
    at = next;
  }
  return {};
}

/// The build id of an ELF image; `read` copies bytes at an offset into the image, and `is_loaded`
/// says whether offsets are those of the memory or of the file.
template <class Read>
std::string image_build_id(const Read &read, bool is_loaded) {
  Elf64_Ehdr header;
  if (!read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return {};
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return {};
    if (segment.p_type != PT_NOTE || segment.p_filesz == 0 || segment.p_filesz > 65536) continue;
    std::vector<char> notes(segment.p_filesz);
    if (!read(is_loaded ? segment.p_vaddr : segment.p_offset, notes.data(), notes.size()))
      return {};
    if (std::string id = find_build_id(notes); !id.empty()) return id;
  }
  return {};
}

/// Of the library that holds this address.
std::string loaded_build_id(const void *address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fbase == nullptr) return {};
  const char *base = static_cast<const char *>(info.dli_fbase);
  return image_build_id(
      [base](std::uint64_t at, void *to, std::size_t size) {
        std::memcpy(to, base + at, size);
        return true;
      },
      /*is_loaded=*/true);
}

std::string file_build_id(const std::string &path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string id = image_build_id(
      [file](std::uint64_t at, void *to, std::size_t size) {
        return pread(file, to, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
      },
      /*is_loaded=*/false);
  close(file);
  return id;
}

std::string hex_of(const std::string &bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::optional<std::string> find_build() {
  const std::string library = loaded_build_id(reinterpret_cast<const void *>(&build_id));
  // A program that links the compiler has it already; else it is the file that would be loaded.
  const void *linked = dlsym(RTLD_DEFAULT, "weft_compiler_backend");
  const std::string compiler =
      linked != nullptr ? loaded_build_id(linked) : file_build_id(compiler_path());
  if (library.empty()) return std::nullopt;
  if (!compiler.empty()) return hex_of(library) + "-" + hex_of(compiler);
  // What is compiled already runs without a compiler.
  const std::optional<Folder> folder = Folder::from_environment();
  if (!folder || folder->prepare()) return std::nullopt;
  const std::optional<std::string> noted = folder->compiler_of(hex_of(library));
  if (!noted) return std::nullopt;
  return hex_of(library) + "-" + *noted;
}

} // namespace

Digest Key::digest() const {
  Sha256 sha;
  sha.text("weft key 1");
  sha.update(program.data(), program.size());
  for (const std::string *part : {&pipeline, &build, &features}) sha.text(*part);
  return sha.finish();
}

Digest hash(const Program &program, Scalars scalars) {
  Hasher::Shared shared;
  for (const HostFunctionRef &host : program.hosts)
    shared.hosts.emplace(host.get(), shared.hosts.size());
  return Hasher(program, shared, scalars).run();
}

const std::optional<std::string> &build_id() {
  static const auto &id = *new std::optional<std::string>(find_build()); // as long as the process
  return id;
}

std::optional<Key> key_of(const Digest &program, const std::string &chip) {
  if (!build_id()) return std::nullopt;
  return Key{program, chip.empty() ? "cpu" : chip, *build_id(), host_cpu_features_text()};
}

} // namespace weft::cache
