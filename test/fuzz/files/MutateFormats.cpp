// Changes to the fields of each format, behind which checksums and lengths are right again.
#include <algorithm>
#include <iterator>

#include <nlohmann/json.hpp>

#include "Bytes.h"
#include "Formats.h"
#include "Mutate.h"

namespace weft::fuzz {

namespace {

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string changed_idx(Random &random, std::string bytes) {
  static const std::string types = "\x08\x09\x0b\x0c\x0d\x0e\x0a\x1f";
  if (bytes.size() < 4) return bytes;
  switch (random.below(4)) {
  case 0: bytes[2] = types[random.below(types.size())]; break;
  case 1: bytes[3] = static_cast<char>(extreme(random)); break;
  case 2: put(bytes, 4 + 4 * random.below(4), big(extreme(random), 4)); break;
  default: {
    // Sizes whose product is the number of bytes there are, or 0.
    const std::size_t rank = random.below(256);
    std::string header = bytes.substr(0, 3) + static_cast<char>(rank);
    for (std::size_t i = 0; i < rank; ++i) header += big(1, 4);
    if (rank > 1) put(header, 4 + 4 * random.below(rank), big(extreme(random), 4));
    if (rank > 1 && random.one_in(2)) put(header, 4 + 4 * random.below(rank), big(0, 4));
    return header + bytes.substr(4, random.one_in(2) ? 0 : 8);
  }
  }
  return bytes;
}

std::string changed_npy(Random &random, const std::string &bytes) {
  static const std::vector<std::string> descriptors = {"<f4", ">f4", "<f8", "|b1", "<i4",
                                                       "<i8", "|O",  "<U5", "<c8", "|V16",
                                                       "<f2", "",    "=f4", "|S3"};
  static const std::vector<std::string> shapes = {"()",
                                                  "(0,)",
                                                  "(1,)",
                                                  "(4, 4)",
                                                  "(-1,)",
                                                  "(9223372036854775807,)",
                                                  "(9223372036854775808,)",
                                                  "(4294967296, 4294967296)",
                                                  "(0, 9223372036854775807, 9223372036854775807)",
                                                  "(3L,)",
                                                  "(3",
                                                  "(,)",
                                                  "[3]",
                                                  "(1e3,)",
                                                  "(3,,)"};
  auto [header, data] = npy_parts(bytes);
  if (random.one_in(3)) {
    std::string how;
    return npy_file(changed_text(random, header, how), data);
  }
  std::string shape = random.one_of(shapes);
  if (random.one_in(6)) {
    shape = "(";
    for (std::size_t i = 0; i < 20 + random.below(80); ++i) shape += "1,";
    shape += ")";
  }
  header = "{'descr': '" + random.one_of(descriptors) +
           "', 'fortran_order': " + (random.one_in(2) ? "True" : "False") + ", 'shape': " + shape +
           (random.one_in(8) ? ", 'shape': ()}" : "}");
  return npy_file(header, random.one_in(2) ? data : data.substr(0, random.below(data.size() + 1)));
}

/// The positions of a text in bytes.
std::vector<std::size_t> positions_of(const std::string &bytes, std::string_view text) {
  std::vector<std::size_t> positions;
  for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1))
    positions.push_back(at);
  return positions;
}

std::string changed_npz(Random &random, std::string bytes) {
  struct Field {
    std::string_view record;
    std::size_t at, size;
  };
  // Flags, method, checksum, sizes, lengths, start: of the directory, of members, of the end.
  static const std::vector<Field> fields = {
      {"PK\1\2", 8, 2},  {"PK\1\2", 10, 2}, {"PK\1\2", 16, 4}, {"PK\1\2", 20, 4}, {"PK\1\2", 24, 4},
      {"PK\1\2", 28, 2}, {"PK\1\2", 30, 2}, {"PK\1\2", 32, 2}, {"PK\1\2", 42, 4}, {"PK\3\4", 8, 2},
      {"PK\3\4", 26, 2}, {"PK\3\4", 28, 2}, {"PK\5\6", 8, 2},  {"PK\5\6", 10, 2}, {"PK\5\6", 12, 4},
      {"PK\5\6", 16, 4}, {"PK\5\6", 20, 2}};
  const Field field = random.one_of(fields);
  if (const auto positions = positions_of(bytes, field.record);
      !random.one_in(3) && !positions.empty()) {
    const std::size_t at = random.one_of(positions) + field.at;
    const std::uint64_t near = little_at(bytes, at, field.size) + random.below(5) - 2;
    put(bytes, at, little(random.one_in(2) ? near : extreme(random), field.size));
    return bytes;
  }
  // Arrays that lie in archives that do not.
  std::string how;
  const std::string array = npy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }",
                                     std::string(16, '\1'));
  std::vector<ZipMember> members;
  for (std::size_t i = 0; i < 1 + random.below(3); ++i)
    members.push_back({random.one_in(4) ? std::string("a\n\0b", 4) : "a" + std::to_string(i),
                       random.one_in(2) ? changed_npy(random, array)
                                        : changed_anywhere(random, array, array, how),
                       random.one_in(2)});
  if (random.one_in(4)) members.push_back(members[0]);
  if (random.one_in(8)) members[0].bytes = std::string(random.below(std::size_t{1} << 20), '\0');
  return zip_of(members);
}

std::string changed_records(Random &random, const std::string &bytes, std::string &how) {
  std::vector<std::string> records = records_of(bytes);
  if (records.empty()) return bytes;
  std::string &record = records[random.below(records.size())];
  switch (random.below(6)) {
  case 0: record = changed_anywhere(random, record, records.back(), how); break;
  case 1: record.clear(); break;
  case 2: records.insert(records.begin(), records.back()); break;
  case 3: {
    // A length that lies, under a checksum that does not.
    std::string file = file_of_records(records);
    std::string head = file_of_records({std::string()}).substr(0, 12);
    const std::string lie = little(extreme(random), 8);
    // The checksum of the eight bytes as a record has that of its bytes.
    const std::string framed = file_of_records({lie});
    head = lie + framed.substr(20, 4);
    std::size_t at = 0;
    for (std::size_t i = 0, left = random.below(records.size()); i < left; ++i)
      at += 16 + records[i].size();
    put(file, at, head);
    return file;
  }
  default: record = changed_message(random, record, how); break;
  }
  return file_of_records(records);
}

std::string changed_png(Random &random, const std::string &bytes) {
  Chunks chunks = chunks_of(bytes);
  if (chunks.empty()) return bytes;
  const std::size_t i = random.below(chunks.size());
  static const std::vector<std::string> types = {"PLTE", "tRNS", "gAMA", "iCCP", "zTXt", "iTXt",
                                                 "acTL", "fcTL", "fdAT", "IDAT", "IHDR", "IEND",
                                                 "sBIT", "hIST", "eXIf", "ABCD", "cHRM", "pHYs"};
  switch (random.below(7)) {
  case 0: { // width, height, bits, colours, method, filter, interlace
    auto &header = chunks[0].second;
    const std::size_t field = random.below(7);
    if (field < 2)
      put(header, 4 * field, big(random.one_in(3) ? extreme(random) : random.below(1 << 17), 4));
    else put(header, 6 + field, big(random.one_in(2) ? random.below(17) : extreme(random), 1));
    break;
  }
  case 1:
    chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(i),
                  chunks[random.below(chunks.size())]);
    break;
  case 2: chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(i)); break;
  case 3: std::swap(chunks[i], chunks[random.below(chunks.size())]); break;
  case 4: {
    std::string how;
    chunks[i].second = changed_anywhere(random, chunks[i].second, chunks[0].second, how);
    break;
  }
  case 5: {
    std::string data(random.one_in(4) ? 800 : random.below(40), static_cast<char>(random.next()));
    const std::string &type = random.one_of(types);
    // A text that is short in the file and long in memory.
    if (type == "zTXt" || type == "iCCP")
      data = "name" + std::string(2, '\0') + compressed(std::string(std::size_t{4} << 20, 'x'));
    chunks.insert(chunks.begin() + static_cast<std::ptrdiff_t>(i), {type, data});
    break;
  }
  default:
    for (auto &[type, data] : chunks)
      if (type == "IDAT") {
        std::string how;
        data = compressed(changed_anywhere(random, decompressed(data), bytes, how));
        break;
      }
  }
  return file_of_chunks(chunks);
}

std::string changed_jpeg(Random &random, std::string bytes) {
  struct Segment {
    std::size_t at, size;
    unsigned char marker;
  };
  std::vector<Segment> segments;
  for (std::size_t at = 2; at + 4 <= bytes.size() && bytes[at] == '\xff';) {
    const std::size_t size = big_at(bytes, at + 2, 2);
    segments.push_back({at, size + 2, static_cast<unsigned char>(bytes[at + 1])});
    if (segments.back().marker == 0xda) break;
    at += 2 + size;
  }
  if (segments.empty()) return bytes;
  const Segment one = random.one_of(segments);
  const auto of_frame = [](const Segment &segment) {
    return segment.marker >= 0xc0 && segment.marker <= 0xc2;
  };
  const auto frame = std::find_if(segments.begin(), segments.end(), of_frame);
  switch (random.below(6)) {
  case 0: // height or width
    if (frame != segments.end())
      put(bytes, frame->at + 5 + 2 * random.below(2),
          big(random.one_in(2) ? extreme(random) : random.below(65536), 2));
    break;
  case 1: // precision, number of components, their ids and sampling
    if (frame != segments.end())
      put(bytes, frame->at + 4 + random.below(frame->size),
          big(random.one_in(2) ? extreme(random) : random.below(0x50), 1));
    break;
  case 2: // another coding: progressive, lossless, arithmetic
    if (frame != segments.end()) bytes[frame->at + 1] = static_cast<char>(0xc0 + random.below(16));
    break;
  case 3: bytes.insert(one.at, bytes.substr(one.at, one.size)); break;
  case 4: bytes.erase(one.at, one.size); break;
  default: put(bytes, one.at + 4 + random.below(one.size), big(extreme(random), 1)); break;
  }
  return bytes;
}

/// Changes a text of the metadata, among them numbers and the states of data sets; false if there
/// is none.
bool changed_metadata(Random &random, std::string &header, std::string &how) {
  auto json = nlohmann::json::parse(header, nullptr, false);
  if (!json.is_object() || !json.contains("__metadata__")) return false;
  auto &texts = json["__metadata__"];
  if (!texts.is_object() || texts.empty()) return false;
  auto entry = texts.begin();
  std::advance(entry, random.below(texts.size()));
  if (!entry->is_string()) return false;
  const std::string text = *entry;
  *entry = random.one_in(3)   ? extreme_text(random)
           : random.one_in(2) ? changed_json(random, text, how)
                              : changed_text(random, text, how);
  header = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  how += "metadata, ";
  return true;
}

std::string changed_safetensors(Random &random, const std::string &bytes, std::string &how) {
  auto [header, data] = safetensors_parts(bytes);
  if (random.one_in(2) && changed_metadata(random, header, how))
    return safetensors_file(header, data);
  if (random.one_in(5)) data = changed_anywhere(random, data, header, how);
  else header = changed_json(random, header, how);
  return safetensors_file(header, data);
}

} // namespace

std::string changed_message(Random &random, std::string bytes, std::string &how) {
  how += "message, ";
  // Any byte may be a tag or a length; whole fields are put between.
  const std::size_t at = random.below(bytes.size() + 1);
  switch (random.below(5)) {
  case 0: bytes.insert(at, varint(extreme(random))); break;
  case 1: put(bytes, at, varint(extreme(random))); break;
  case 2: { // a field of bytes around what follows
    const std::string rest = bytes.substr(at);
    bytes =
        bytes.substr(0, at) + varint(8 * (1 + random.below(9)) + 2) + varint(rest.size()) + rest;
    break;
  }
  case 3: { // many sizes, or deep
    std::string field =
        varint(8 * (1 + random.below(9)) + random.below(6)) + varint(random.below(6));
    for (std::size_t i = 0; i < 300; ++i) bytes.insert(at, field);
    break;
  }
  default:
    if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] + (random.one_in(2) ? 1 : -1));
  }
  return bytes;
}

std::string changed_format(Random &random, Format format, const std::string &bytes,
                           std::string &how) {
  how += "fields of " + std::string(name_of(format)) + ", ";
  switch (format) {
  case Format::idx: return changed_idx(random, bytes);
  case Format::npy: return changed_npy(random, bytes);
  case Format::npz: return changed_npz(random, bytes);
  case Format::tfrecord:
  case Format::events: return changed_records(random, bytes, how);
  case Format::safetensors:
  case Format::tree:
  case Format::checkpoint: return changed_safetensors(random, bytes, how);
  case Format::index:
    return bytes.starts_with('{') ? changed_json(random, bytes, how)
                                  : changed_safetensors(random, bytes, how);
  case Format::png: return changed_png(random, bytes);
  case Format::jpeg: return changed_jpeg(random, bytes);
  case Format::images:
    return bytes.starts_with('\x89') ? changed_png(random, bytes) : changed_jpeg(random, bytes);
  case Format::state: return changed_json(random, bytes, how);
  case Format::csv:
  case Format::lines:
  case Format::history: return changed_text(random, bytes, how);
  }
  return bytes;
}

} // namespace weft::fuzz
