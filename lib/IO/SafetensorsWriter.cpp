// Digest and write of each piece of memory while it is in the cache.
#include "IO/Safetensors.h"

#include <algorithm>
#include <bit>

#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Digest.h"
#include "Support/Files.h"

namespace weft {

static_assert(std::endian::native == std::endian::little, "the format has little-endian elements");

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
/// Files from this size on may bypass the page cache: smaller ones cost little.
constexpr std::uint64_t kLarge = std::uint64_t{32} << 20;

/// Calls `take(bytes, size)` for the pieces of the elements, and gives their digest.
template <class Take>
std::string in_pieces(const Tensor &tensor, const Take &take) {
  Xxh3 digest;
  const Tensor host = detail::on_host(tensor);
  const auto *next = reinterpret_cast<const char *>(host.impl()->data);
  std::size_t left = static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype());
  while (left != 0) {
    const std::size_t size = std::min(left, kPiece);
    digest.update(next, size);
    take(next, size);
    next += size;
    left -= size;
  }
  return digest.digits();
}

} // namespace

std::string safetensors_beginning(const std::vector<SafetensorsItem> &items,
                                  std::map<std::string, std::string> &texts,
                                  std::size_t alignment) {
  std::string &digest = texts[std::string(kHeaderDigest)];
  digest.assign(Xxh3::kDigits, '0');
  digest = xxh3_of(make_safetensors_header(items, texts, alignment));
  const std::string header = make_safetensors_header(items, texts, alignment);
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> 8 * i & 0xff);
  return bytes + header;
}

std::string write_safetensors(AtomicFile &file, std::vector<SafetensorsItem> items,
                              std::map<std::string, std::string> texts, bool beside_others) {
  sort_for_safetensors(items);
  const auto digest_of = [&](const SafetensorsItem &item) -> std::string & {
    return texts[std::string(kDigestPrefix) + item.name];
  };
  std::uint64_t bytes = 0;
  for (const SafetensorsItem &item : items) {
    digest_of(item).assign(Xxh3::kDigits, '0');
    bytes += static_cast<std::uint64_t>(item.tensor.size()) * item_size(item.tensor.dtype());
  }
  // The header comes first, but has the digests, whose length is known. A pipe must have them at
  // once.
  if (file.is_stream())
    for (const SafetensorsItem &item : items)
      digest_of(item) = in_pieces(item.tensor, [](const void *, std::size_t) {});
  const std::string start = safetensors_beginning(items, texts);
  file.reserve(start.size() + bytes);
  if (beside_others && bytes >= kLarge) file.bypass_cache();
  file.write(start.data(), start.size());
  for (const SafetensorsItem &item : items)
    digest_of(item) = in_pieces(
        item.tensor, [&](const void *piece, std::size_t size) { file.write(piece, size); });
  if (!file.is_stream()) {
    const std::string final_start = safetensors_beginning(items, texts);
    file.write_at(0, final_start.data(), final_start.size());
  }
  return texts[std::string(kHeaderDigest)];
}

SafetensorsItem writable_item(const std::string &function, const std::string &name,
                              const Tensor &tensor) {
  if (!tensor.defined()) throw StateError(function + ": the tensor '" + name + "' is undefined");
  if (tensor.traced())
    throw StateError(function + ": the tensor '" + name +
                     "' stands for a value of a traced function");
  return {name, make_contiguous(tensor)};
}

void save_safetensors(const std::string &path, const std::map<std::string, Tensor> &tensors,
                      const std::map<std::string, std::string> &metadata,
                      std::source_location where) {
  const CallSite site(where);
  check_path("save_safetensors", path);
  std::vector<SafetensorsItem> items;
  for (const auto &[name, tensor] : tensors)
    items.push_back(writable_item("save_safetensors", name, tensor));
  for (const auto &[name, text] : metadata)
    if (name.starts_with("weft."))
      throw ValueError("save_safetensors: the metadata '" + name +
                       "' begins with 'weft.', which is for Weft's own");
  AtomicFile file(path);
  write_safetensors(file, std::move(items), metadata);
  file.commit();
}

} // namespace weft
