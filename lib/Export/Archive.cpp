// Opens archives: what may be looked at is checked first.
#include "Export/Archive.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "Runtime/NewTensor.h"
#include "Support/Digest.h"

namespace weft::archive {

namespace {

template <class T>
T read_number(std::string_view bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string digest_of(std::string_view bytes) {
  Sha256 sha;
  sha.update(bytes);
  return hex(sha.finish());
}

bool holds(std::uint64_t whole, std::uint64_t offset, std::uint64_t size) {
  return offset <= whole && size <= whole - offset;
}

} // namespace

std::shared_ptr<const Archive> Archive::open(const std::string &path, bool verify_weights) {
  const std::shared_ptr<Archive> archive(new Archive(path));
  archive->read_manifest();
  archive->check_regions();
  archive->read_weights();
  archive->check_names();
  if (verify_weights) archive->check_weights();
  return archive;
}

void Archive::read_manifest() {
  const std::string_view all = file_.bytes();
  if (!all.starts_with(kMagic.substr(0, std::min(all.size(), kMagic.size()))) || all.empty())
    fail("is no program: it does not begin with " + std::string(kMagic));
  if (all.size() < kHeaderBytes)
    fail("is truncated: it ends after " + std::to_string(all.size()) + " bytes");
  const auto major = read_number<std::uint32_t>(all, 8),
             minor = read_number<std::uint32_t>(all, 12);
  if (major > kMajor)
    fail("has format " + std::to_string(major) + "." + std::to_string(minor) +
         ", but this version of Weft reads up to " + std::to_string(kMajor) +
         ".x: load it with a newer one, or export it with this one");
  if (major != 0 && major < kLeastMajor)
    fail("has format " + std::to_string(major) + "." + std::to_string(minor) +
         ", but this version of Weft reads " + std::to_string(kLeastMajor) +
         ".x: load it with an older one, or export it again");
  const auto size = read_number<std::uint64_t>(all, 16);
  const auto offset = read_number<std::uint64_t>(all, 24),
             length = read_number<std::uint64_t>(all, 32);
  if (all.size() < size)
    fail("is truncated: it has " + std::to_string(all.size()) + " of " + std::to_string(size) +
         " bytes");
  if (major == 0 || all.size() != size || length > kMaxManifest || offset < kHeaderBytes ||
      !holds(size, offset, length))
    fail("is damaged: its header does not fit it");
  const std::string_view text = all.substr(offset, length);
  Sha256 sha;
  sha.update(all.substr(0, 40));
  sha.update(text);
  if (const Digest digest = sha.finish();
      std::memcmp(digest.data(), all.data() + 40, digest.size()) != 0)
    fail("is damaged: its manifest is not what its digest says");
  Result<Manifest> read = parse_manifest(text);
  if (!read) fail(read.fault().message);
  manifest_ = std::move(*read);
}

void Archive::check_digest(const Region &region, std::string_view bytes,
                           const std::string &what) const {
  if (digest_of(bytes) != region.digest)
    fail("is damaged: " + what + " is not what its digest says");
}

void Archive::check_regions() const {
  const std::string_view all = file_.bytes();
  std::vector<Region> regions = {
      {0, kHeaderBytes, {}},
      {read_number<std::uint64_t>(all, 24), read_number<std::uint64_t>(all, 32), {}},
      manifest_.weights};
  for (const Entry &entry : manifest_.entries) {
    regions.push_back(entry.bytecode);
    for (const Object &object : entry.objects) {
      regions.push_back(object.code);
      if (!object.chip.empty()) regions.push_back(object.ptx);
    }
  }
  std::sort(regions.begin(), regions.end(),
            [](const Region &a, const Region &b) { return a.offset < b.offset; });
  std::uint64_t end = 0;
  for (const Region &region : regions) {
    if (region.offset < end || !holds(all.size(), region.offset, region.size))
      fail("is damaged: its parts lie outside of it or on each other");
    const std::string_view gap = all.substr(end, region.offset - end);
    if (gap.size() >= kWeightsAlignment || gap.find_first_not_of('\0') != gap.npos)
      fail("is damaged: there is something between its parts");
    end = region.offset + region.size;
  }
  if (end != all.size()) fail("is damaged: there is something behind its parts");
  for (const Entry &entry : manifest_.entries) {
    check_digest(entry.bytecode, bytes(entry.bytecode), "the program of an entry");
    for (const Object &object : entry.objects) {
      check_digest(object.code, bytes(object.code), "the code for " + object.processor);
      if (!object.chip.empty())
        check_digest(object.ptx, bytes(object.ptx), "the kernels for " + object.chip);
    }
  }
}

void Archive::read_weights() {
  const std::string_view all = bytes(manifest_.weights);
  const std::uint64_t length = all.size() < 8 ? 0 : read_number<std::uint64_t>(all, 0);
  if (all.size() < 8 || length > kMaxSafetensorsHeader || length > all.size() - 8 ||
      manifest_.weights.offset % kWeightsAlignment != 0)
    fail("is damaged: its weights have no header");
  check_digest(manifest_.weights, all.substr(0, 8 + length), "the header of its weights");
  Result<SafetensorsHeader> read =
      parse_safetensors_header(all.substr(8, length), all.size() - 8 - length);
  if (!read) fail("the weights in it: " + read.fault().message);
  weights_ = std::move(*read);
  elements_ = manifest_.weights.offset + 8 + length;
}

std::size_t Archive::find(const std::string &name) const {
  const auto found = std::lower_bound(
      weights_.entries.begin(), weights_.entries.end(), name,
      [](const SafetensorsEntry &entry, const std::string &wanted) { return entry.name < wanted; });
  if (found == weights_.entries.end() || found->name != name)
    fail("is damaged: there is no '" + name + "' among its weights");
  return static_cast<std::size_t>(found - weights_.entries.begin());
}

/// What the manifest names must be there, of dtypes that Weft has and where they are aligned.
void Archive::check_names() const {
  const auto check = [&](const std::string &name, const TensorType *type) {
    const std::size_t i = find(name);
    const auto dtype = parse_safetensors_dtype(weights_.entries[i].dtype);
    if (!dtype || (type != nullptr && !(*type == TensorType{*dtype, weights_.entries[i].shape})))
      fail("is damaged: '" + name + "' among its weights is of another type");
    if ((elements_ + weights_.offsets[i]) % item_size(*dtype) != 0)
      fail("is damaged: '" + name + "' among its weights is not aligned");
  };
  for (const StoredVariable &variable : manifest_.variables) check(variable.name, &variable.type);
  for (const std::string &capture : manifest_.captures) check(capture, nullptr);
}

void Archive::check_weights() const {
  for (std::size_t i = 0; i < weights_.entries.size(); ++i) {
    const SafetensorsEntry &entry = weights_.entries[i];
    const std::string_view elements =
        file_.bytes().substr(elements_ + weights_.offsets[i], entry.bytes);
    const auto digest = weights_.texts.find(std::string(kDigestPrefix) + entry.name);
    if (digest == weights_.texts.end() || xxh3_of(elements) != digest->second)
      fail("is damaged: '" + entry.name + "' among its weights is not what its digest says");
    // Any other bool than 0 and 1 is undefined behaviour.
    if (entry.dtype == safetensors_dtype(DType::boolean) &&
        std::any_of(elements.begin(), elements.end(),
                    [](char byte) { return static_cast<unsigned char>(byte) > 1; }))
      fail("is damaged: '" + entry.name + "' among its weights, which is BOOL, has other values");
  }
}

Tensor Archive::weight(const std::string &name) const {
  const std::size_t i = find(name);
  const char *data = file_.bytes().data() + elements_ + weights_.offsets[i];
  // Nobody writes to foreign memory: an update in place makes a copy first.
  return detail::new_external(
      *parse_safetensors_dtype(weights_.entries[i].dtype), weights_.entries[i].shape,
      const_cast<char *>(data),
      {[](void *context) { delete static_cast<std::shared_ptr<const Archive> *>(context); },
       new std::shared_ptr<const Archive>(shared_from_this())});
}

} // namespace weft::archive
