// Lays out archives and writes them from their first byte to their last.
#include "Export/Archive.h"

#include <algorithm>
#include <map>

#include "IO/Safetensors.h"
#include "Support/Digest.h"
#include "Support/Files.h"

namespace weft::archive {

namespace {

std::string_view elements_of(const Tensor &tensor) {
  return {reinterpret_cast<const char *>(tensor.impl()->data),
          static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype())};
}

/// Wide dtypes first, so that elements are aligned, and among those what fills whole lines of a
/// cache, so that most tensors begin with one.
void sort_weights(std::vector<SafetensorsItem> &items) {
  sort_for_safetensors(items);
  for (auto first = items.begin(); first != items.end();) {
    const DType dtype = first->tensor.dtype();
    const auto last = std::find_if(first, items.end(), [&](const SafetensorsItem &item) {
      return item.tensor.dtype() != dtype;
    });
    const auto key = [](const SafetensorsItem &item) {
      const bool fills_lines = elements_of(item.tensor).size() % kRegionAlignment == 0;
      return std::pair(!fills_lines, std::string_view(item.name));
    };
    std::sort(first, last, [&](const auto &a, const auto &b) { return key(a) < key(b); });
    first = last;
  }
}

/// The file from its start on: pieces of memory that live elsewhere, and zeros between them.
class Layout {
public:
  std::uint64_t size() const { return size_; }

  void align(std::uint64_t alignment) {
    const std::uint64_t zeros = (alignment - size_ % alignment) % alignment;
    static constexpr char nothing[kWeightsAlignment] = {};
    add({nothing, static_cast<std::size_t>(zeros)});
  }
  void add(std::string_view piece) {
    pieces_.push_back(piece);
    size_ += piece.size();
  }
  /// Adds a part at an offset of its own.
  Region add_region(std::string_view bytes, std::uint64_t alignment) {
    align(alignment);
    Sha256 sha;
    sha.update(bytes);
    const Region region{size_, bytes.size(), hex(sha.finish())};
    add(bytes);
    return region;
  }
  void write(AtomicFile &file) const {
    if (!file.is_stream()) file.reserve(size_);
    for (const std::string_view piece : pieces_) file.write(piece.data(), piece.size());
  }

private:
  std::uint64_t size_ = 0;
  std::vector<std::string_view> pieces_;
};

template <class T>
void put(std::string &bytes, T value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

} // namespace

void write_archive(const std::string &path, Contents contents) {
  Manifest &manifest = contents.manifest;
  std::string header(kHeaderBytes, '\0');
  Layout layout;
  layout.add(header);

  sort_weights(contents.weights);
  std::map<std::string, std::string> texts;
  for (const SafetensorsItem &item : contents.weights)
    texts[std::string(kDigestPrefix) + item.name] = xxh3_of(elements_of(item.tensor));
  const std::string weights = safetensors_beginning(contents.weights, texts, kWeightsAlignment);
  manifest.weights = layout.add_region(weights, kWeightsAlignment);
  for (const SafetensorsItem &item : contents.weights) layout.add(elements_of(item.tensor));
  manifest.weights.size = layout.size() - manifest.weights.offset;

  std::uint32_t major = kLeastMajor;
  for (std::size_t i = 0; i < manifest.entries.size(); ++i) {
    Entry &entry = manifest.entries[i];
    for (std::size_t j = 0; j < entry.objects.size(); ++j) {
      Object &object = entry.objects[j];
      object.code = layout.add_region(contents.objects[i][j], kRegionAlignment);
      if (object.chip.empty()) continue;
      object.ptx = layout.add_region(contents.ptx[i][j], kRegionAlignment);
      major = kMajor; // older versions of Weft would take it for damage
    }
    entry.bytecode = layout.add_region(contents.bytecode[i], kRegionAlignment);
  }

  const std::string text = to_json(manifest);
  const std::uint64_t offset = layout.size();
  layout.add(text);
  std::string start(kMagic);
  put(start, major);
  put(start, kMinor);
  put(start, layout.size());
  put(start, offset);
  put(start, std::uint64_t{text.size()});
  Sha256 sha;
  sha.update(start);
  sha.update(text);
  const Digest digest = sha.finish();
  start.append(reinterpret_cast<const char *>(digest.data()), digest.size());
  std::copy(start.begin(), start.end(), header.begin()); // where the layout knows it

  AtomicFile file(path);
  layout.write(file);
  file.commit();
}

} // namespace weft::archive
