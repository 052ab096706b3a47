// Opens safetensors files and reads their tensors.
#include "IO/Safetensors.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <set>

#include <sys/mman.h>

#include "IO/InputFile.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Digest.h"
#include "Support/Files.h"
#include "Support/Messages.h"
#include "Support/Threads.h"
#include <weft/ops.h>

namespace weft {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Compares the header of a file of Weft's with its digest.
void check_header(const InputFile &file, const SafetensorsHeader &header, std::string text) {
  const auto found = header.texts.find(std::string(kHeaderDigest));
  if (found == header.texts.end()) {
    const auto ours = header.texts.lower_bound("weft.");
    if (ours == header.texts.end() || !ours->first.starts_with("weft.")) return;
    file.fail("its header is damaged: it has '" + shown(ours->first) +
              "' in the metadata, but no '" + std::string(kHeaderDigest) + "'");
  }
  const std::string own = '"' + std::string(kHeaderDigest) + "\":\"" + found->second + '"';
  const std::size_t at = text.find(own);
  if (at != std::string::npos && found->second.size() == Xxh3::kDigits) {
    text.replace(at + own.size() - 1 - Xxh3::kDigits, Xxh3::kDigits, Xxh3::kDigits, '0');
    if (xxh3_of(text) == found->second) return;
  }
  file.fail("its header is damaged: it is not what its digest says (or another program has "
            "written it anew, and kept '" +
            std::string(kHeaderDigest) + "' in the metadata)");
}

} // namespace

SafetensorsShard::SafetensorsShard(const std::string &path) : file(path) {
  unsigned char bytes[8];
  if (file.size() < sizeof bytes)
    file.fail("is no safetensors file: it has " + std::to_string(file.size()) +
              " bytes, where the length of the header takes 8");
  file.read_at(0, bytes, sizeof bytes, "header");
  std::uint64_t length = 0;
  for (std::size_t i = sizeof bytes; i-- > 0;) length = length << 8 | bytes[i];
  if (length > kMaxSafetensorsHeader)
    file.fail("is no safetensors file: its header would have " + std::to_string(length) +
              " bytes, more than " + std::to_string(kMaxSafetensorsHeader));
  if (length > file.size() - sizeof bytes)
    file.fail("is truncated: its header has " + std::to_string(length) + " bytes, but " +
              std::to_string(file.size() - sizeof bytes) + " follow");
  data = sizeof bytes + length;
  std::string text(length, '\0');
  file.read_at(sizeof bytes, text.data(), text.size(), "header");
  Result<SafetensorsHeader> read = parse_safetensors_header(text, file.size() - data);
  if (!read) file.fail(read.fault().message);
  header = std::move(*read);
  check_header(file, header, std::move(text));
}

namespace {

void add_shard(SafetensorsFile::State &state, std::unique_ptr<SafetensorsShard> shard) {
  SafetensorsHeader &header = shard->header;
  for (std::size_t i = 0; i < header.entries.size(); ++i) {
    SafetensorsEntry &entry = header.entries[i];
    const auto digest = header.texts.find(std::string(kDigestPrefix) + entry.name);
    state.elements.push_back({{.shard = shard.get(),
                               .offset = shard->data + header.offsets[i],
                               .digest = digest == header.texts.end() ? "" : digest->second,
                               .name = entry.name,
                               .bytes = entry.bytes}});
    state.entries.push_back(std::move(entry));
  }
  for (auto &[name, text] : header.texts)
    if (!name.starts_with(kDigestPrefix) && name != kHeaderDigest)
      state.texts.emplace(name, std::move(text));
  header = {};
  state.shards.push_back(std::move(shard));
}

/// Puts whole tensors in the place of pieces of them, of which none may be missing.
void join_pieces(const InputFile &index, SafetensorsFile::State &state) {
  struct Part {
    PieceOfTensor piece;
    SafetensorsEntry entry;
    SafetensorsFile::State::Run run;
  };
  std::map<std::string, std::vector<Part>> wholes;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < state.entries.size(); ++i) {
    SafetensorsEntry &entry = state.entries[i];
    const auto text = state.texts.find(std::string(kPiecePrefix) + entry.name);
    if (text != state.texts.end()) {
      std::optional<PieceOfTensor> piece = PieceOfTensor::parse(text->second);
      if (!piece || entry.shape.size() != 1)
        state.elements[i].front().shard->file.fail("has '" + shown(entry.name) +
                                                   "', which is no piece of a tensor");
      const std::string whole = piece->of;
      wholes[whole].push_back({std::move(*piece), std::move(entry), state.elements[i].front()});
      state.texts.erase(text);
      continue;
    }
    if (kept != i) {
      state.entries[kept] = std::move(entry);
      state.elements[kept] = std::move(state.elements[i]);
    }
    ++kept;
  }
  state.entries.resize(kept);
  state.elements.resize(kept);
  for (auto &[name, parts] : wholes) {
    std::ranges::sort(parts, {}, [](const Part &part) { return part.piece.begin; });
    const PieceOfTensor &first = parts.front().piece;
    SafetensorsEntry entry{
        .name = name, .dtype = parts.front().entry.dtype, .shape = first.whole, .bytes = 0};
    SafetensorsFile::State::Elements elements;
    std::int64_t size = 1, at = 0;
    for (const std::int64_t of : entry.shape)
      if (__builtin_mul_overflow(size, of, &size))
        index.fail("has '" + shown(name) + "', of too many elements");
    for (const Part &part : parts) {
      if (part.piece.whole != entry.shape || part.entry.dtype != entry.dtype)
        index.fail("has '" + shown(part.entry.name) +
                   "', which is a piece of another tensor than '" +
                   shown(parts.front().entry.name) + "'");
      if (part.piece.begin != at) break;
      at += part.entry.shape[0];
      entry.bytes += part.entry.bytes;
      elements.push_back(part.run);
    }
    if (elements.size() != parts.size() || at != size)
      index.fail("lacks elements of '" + shown(name) + "' from number " + std::to_string(at) +
                 " on, or has some twice");
    state.entries.push_back(std::move(entry));
    state.elements.push_back(std::move(elements));
  }
}

/// Opens the files that an index names, which must have just the tensors that it says.
void open_indexed(SafetensorsFile::State &state) {
  const InputFile index(state.path);
  const auto [files, digests] = read_safetensors_index(index);
  std::map<std::string, std::string> shards; // with a tensor of each
  for (const auto &[name, file] : files) shards.emplace(file, name);
  for (const auto &[file, tensor] : shards) {
    const auto shard = [&] {
      try {
        return std::make_unique<SafetensorsShard>(folder_of(state.path) + "/" + file);
      } catch (const IOError &error) {
        raise(ErrorKind::io,
              std::string(error.message()) + " (it is to have '" + shown(tensor) + "')");
      }
    };
    std::unique_ptr<SafetensorsShard> opened = shard();
    for (const SafetensorsEntry &entry : opened->header.entries)
      if (const auto found = files.find(entry.name); found == files.end() || found->second != file)
        index.fail("has " + shown(file) + " without '" + shown(entry.name) +
                   "', which is in that file");
    const auto own = opened->header.texts.find(std::string(kHeaderDigest));
    const auto digest = digests.find(file);
    if (digest != digests.end() &&
        (own == opened->header.texts.end() || own->second != digest->second))
      index.fail("is of another " + shown(file) + " than the one that is there, which has '" +
                 shown(tensor) + "'");
    add_shard(state, std::move(opened));
  }
  if (state.entries.size() != files.size()) {
    std::set<std::string_view> there;
    for (const SafetensorsEntry &entry : state.entries) there.insert(entry.name);
    for (const auto &[name, file] : files)
      if (!there.contains(name))
        index.fail("has '" + shown(name) + "' in " + shown(file) + ", where it is not");
  }
  join_pieces(index, state);
  // Each is in the one file that it belongs to: their names are unlike.
  std::vector<std::size_t> order(state.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return state.entries[a].name < state.entries[b].name;
  });
  std::vector<SafetensorsEntry> entries;
  std::vector<SafetensorsFile::State::Elements> elements;
  for (const std::size_t i : order) {
    if (!entries.empty() && entries.back().name == state.entries[i].name)
      index.fail("has '" + shown(entries.back().name) + "' as a whole and in pieces");
    entries.push_back(std::move(state.entries[i]));
    elements.push_back(std::move(state.elements[i]));
  }
  state.entries = std::move(entries);
  state.elements = std::move(elements);
}

} // namespace

SafetensorsFile::SafetensorsFile(const std::string &path, std::source_location where) {
  const CallSite site(where);
  check_path("SafetensorsFile", path);
  auto state = std::make_shared<State>();
  state->path = path;
  naming(path, [&] {
    if (path.ends_with(".json")) open_indexed(*state);
    else add_shard(*state, std::make_unique<SafetensorsShard>(path));
  });
  state_ = std::move(state);
}

const std::string &SafetensorsFile::path() const { return state_->path; }
const std::vector<SafetensorsEntry> &SafetensorsFile::entries() const & { return state_->entries; }
const std::map<std::string, std::string> &SafetensorsFile::metadata() const & {
  return state_->texts;
}

const SafetensorsEntry *SafetensorsFile::find(std::string_view name) const {
  const auto found = std::lower_bound(
      state_->entries.begin(), state_->entries.end(), name,
      [](const SafetensorsEntry &entry, std::string_view wanted) { return entry.name < wanted; });
  return found == state_->entries.end() || found->name != name ? nullptr : &*found;
}

namespace {

/// Whether elements are of a format that is read as a wider one if the caller wants that.
bool is_narrow(DType dtype) { return is_floating(dtype) && dtype_info(dtype).compute != dtype; }

/// A tensor that is being read, or a run of its elements.
struct Loading {
  const SafetensorsEntry *entry;
  const SafetensorsFile::State::Elements *elements;
  Tensor tensor;       ///< of the file's dtype
  std::uint64_t begin; ///< of the bytes that are wanted
  std::uint64_t bytes;

  void read() const {
    std::uint64_t at = 0; // of the run in the tensor
    for (const SafetensorsFile::State::Run &run : *elements) {
      if (at < begin + bytes && begin < at + run.bytes) read(run, at);
      at += run.bytes;
    }
  }

private:
  /// Of a run of which a part is wanted, all is read: the digest is of all.
  void read(const SafetensorsFile::State::Run &run, std::uint64_t at) const {
    const InputFile &file = run.shard->file;
    const bool whole = at >= begin && at + run.bytes <= begin + bytes;
    std::uint64_t from = 0, to = run.bytes;
    if (!whole && run.digest.empty()) {
      from = begin > at ? begin - at : 0;
      to = std::min(run.bytes, begin + bytes - at);
    }
    std::vector<char> room(whole ? 0 : std::min<std::uint64_t>(kPiece, to - from));
    char *const target = reinterpret_cast<char *>(tensor.impl()->data);
    Xxh3 digest;
    for (; from < to;) {
      const std::size_t size = std::min<std::uint64_t>(kPiece, to - from);
      char *const piece = whole ? target + (at + from - begin) : room.data();
      file.read_at(run.offset + from, piece, size, "elements");
      if (!run.digest.empty()) digest.update(piece, size);
      if (!whole) {
        const std::uint64_t first = std::max(at + from, begin),
                            last = std::min(at + from + size, begin + bytes);
        if (first < last)
          std::memcpy(target + (first - begin), piece + (first - at - from), last - first);
      }
      from += size;
    }
    if (!run.digest.empty() && digest.digits() != run.digest)
      file.fail("'" + shown(run.name) + "' is damaged: it is not what its digest says");
    check_booleans(file);
  }
  /// Any other bool than 0 and 1 is undefined behaviour.
  void check_booleans(const InputFile &file) const {
    if (tensor.dtype() != DType::boolean) return;
    const auto *elements_of = reinterpret_cast<const unsigned char *>(tensor.impl()->data);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      if (elements_of[i] > 1)
        file.fail("element " + std::to_string(i) + " of '" + shown(entry->name) +
                  "', which is BOOL, is " + std::to_string(elements_of[i]));
  }
};

/// Asks for large pages for elements that are about to be written: giving memory page by page of 4
/// KiB takes longer than reading a file that is in the page cache.
void prefer_large_pages(const Tensor &tensor) {
  constexpr std::uintptr_t kLargePage = std::uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<std::uintptr_t>(tensor.impl()->data);
  const std::uintptr_t end =
      begin + static_cast<std::uintptr_t>(tensor.size()) * item_size(tensor.dtype());
  const std::uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage,
                       last = end / kLargePage * kLargePage;
  // Where the system has none to give, all is as it was.
  if (first < last) madvise(reinterpret_cast<void *>(first), last - first, MADV_HUGEPAGE);
}

/// With memory for its elements.
Loading begin_loading(const SafetensorsFile &file, const WantedTensor &wanted) {
  const std::string &name = wanted.name;
  const SafetensorsEntry *const entry = file.find(name);
  if (entry == nullptr) throw IOError(file.path() + ": has no tensor '" + shown(name) + "'");
  const std::optional<DType> dtype = parse_safetensors_dtype(entry->dtype);
  if (!dtype)
    throw DTypeError(file.path() + ": '" + shown(entry->name) + "' is " + shown(entry->dtype) +
                     ", which Weft lacks");
  const auto number = static_cast<std::size_t>(entry - file.entries().data());
  Tensor tensor = naming(file.path(), [&] {
    return wanted.run ? detail::new_tensor(*dtype, Shape{wanted.run->second - wanted.run->first})
                      : detail::new_tensor(*dtype, entry->shape);
  });
  prefer_large_pages(tensor);
  const std::size_t item = item_size(*dtype);
  const std::uint64_t bytes = static_cast<std::uint64_t>(tensor.size()) * item;
  return {.entry = entry,
          .elements = &file.state().elements[number],
          .tensor = std::move(tensor),
          .begin = wanted.run ? static_cast<std::uint64_t>(wanted.run->first) * item : 0,
          .bytes = bytes};
}

Tensor widened(Tensor tensor, const SafetensorsOptions &options) {
  return options.widen && is_narrow(tensor.dtype())
             ? cast(tensor, dtype_info(tensor.dtype()).compute)
             : tensor;
}

} // namespace

std::optional<DType> loaded_dtype(std::string_view dtype, const SafetensorsOptions &options) {
  const std::optional<DType> own = parse_safetensors_dtype(dtype);
  return own && options.widen && is_narrow(*own) ? dtype_info(*own).compute : own;
}

std::vector<Tensor> load_tensors(const SafetensorsFile &file,
                                 const std::vector<WantedTensor> &wanted,
                                 const SafetensorsOptions &options) {
  std::vector<Loading> all;
  all.reserve(wanted.size());
  std::uint64_t bytes = 0;
  for (const WantedTensor &one : wanted) {
    all.push_back(begin_loading(file, one));
    bytes += all.back().entry->bytes;
  }
  // The next free thread takes the next tensor. Small files are not worth waking threads for.
  std::atomic<std::size_t> next{0};
  const auto readers =
      static_cast<std::int64_t>(std::min<std::uint64_t>(all.size(), bytes / kPiece + 1));
  try {
    threads::parallel_for(0, readers, 1, [&](std::int64_t, std::int64_t) {
      for (std::size_t i; (i = next.fetch_add(1)) < all.size();) all[i].read();
    });
  } catch (const Error &error) {
    raise(error.kind(), std::string(error.message())); // from a thread that has no line of the user
  }
  std::vector<Tensor> tensors;
  for (Loading &one : all) tensors.push_back(widened(std::move(one.tensor), options));
  return tensors;
}

Tensor SafetensorsFile::load(std::string_view name, const SafetensorsOptions &options,
                             std::source_location where) const {
  const CallSite site(where);
  Loading one = begin_loading(*this, std::string(name));
  one.read();
  return widened(std::move(one.tensor), options);
}

std::map<std::string, Tensor> load_safetensors(const std::string &path,
                                               const SafetensorsOptions &options,
                                               std::source_location where) {
  const CallSite site(where);
  const SafetensorsFile file(path);
  std::vector<std::string> names;
  for (const SafetensorsEntry &entry : file.entries()) names.push_back(entry.name);
  const std::vector<Tensor> tensors = load_tensors(file, {names.begin(), names.end()}, options);
  std::map<std::string, Tensor> all;
  for (std::size_t i = 0; i < names.size(); ++i) all.emplace(names[i], tensors[i]);
  return all;
}

} // namespace weft
