// Makes samples: by Weft where it writes the format, by hand where it does not, and from the files
// of the tests.
#include "Samples.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <zlib.h>

#include "Bytes.h"
#include "Run.h"
#include <weft/events.h>
#include <weft/io.h>
#include <weft/safetensors.h>
#include <weft/save.h>

namespace weft::fuzz {

namespace {

std::string stored(const std::string &name) {
  const std::string path = WEFT_SOURCE_DIR "/test/unit/" + name;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) throw IOError(path + ": is missing or empty");
  return bytes;
}

std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Tensor ramp(const Shape &shape, DType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return reshape(arange(count, DType::i64), shape).astype(dtype);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

std::string idx_of(int type, const std::vector<std::uint32_t> &sizes, std::size_t item) {
  std::string bytes{'\0', '\0', static_cast<char>(type), static_cast<char>(sizes.size())};
  std::size_t count = item;
  for (const std::uint32_t size : sizes) {
    bytes += big(size, 4);
    count *= size;
  }
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(i * 7);
  return bytes;
}

std::string npy_of(const std::string &descr, const std::string &order, const std::string &shape,
                   std::size_t bytes) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string file = "\x93NUMPY";
  file += std::string("\1\0", 2) + little(header.size(), 2) + header;
  for (std::size_t i = 0; i < bytes; ++i) file += static_cast<char>(i % 2);
  return file;
}

void add_arrays(std::vector<Sample> &all, const std::string &scratch) {
  all.push_back({Format::idx, "a.idx", idx_of(0x08, {3, 2, 2}, 1), {}});
  all.push_back({Format::idx, "b.idx", idx_of(0x0d, {4, 3}, 4), {}});
  all.push_back({Format::idx, "c.idx", idx_of(0x0e, {}, 8), {}});
  all.push_back({Format::idx, "d.idx", idx_of(0x0b, {2, 0, 5}, 2), {}});
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean}) {
    const std::string path = scratch + "/array.npy";
    save_npy(path, ramp({{2, 3, 2}}, dtype));
    all.push_back({Format::npy, "array.npy", bytes_of(path), {}});
  }
  all.push_back({Format::npy, "fortran.npy", npy_of("<f4", "True", "(3, 2, 2)", 48), {}});
  all.push_back({Format::npy, "scalar.npy", npy_of("<i8", "False", "()", 8), {}});
  const std::string array = npy_of("<f4", "False", "(2, 2)", 16),
                    other = npy_of("|b1", "False", "(2,)", 2);
  all.push_back({Format::npz,
                 "both.npz",
                 zip_of({{"first.npy", array}, {"second.npy", other, /*deflated=*/true}}),
                 {}});
  for (const char *name : {"stored.npz", "deflated.npz"})
    all.push_back({Format::npz, name, stored(std::string("Data/Files/") + name), {}});
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void add_texts(std::vector<Sample> &all) {
  const auto add = [&](Format format, const std::string &name, const std::string &text) {
    all.push_back({format, name, text, {}});
  };
  add(Format::csv, "plain.csv", "a,b,c\n1,2.5,3\n4,5e-3,6\n");
  add(Format::csv, "quotes.csv", "\"a\",\"b,b\",\"c\"\"c\"\r\n\"1\",,\"nan\"\r\n-4,+5,inf\r\n");
  add(Format::csv, "mark.csv", "\xef\xbb\xbfx;y\n0;true\n1;FALSE\n");
  add(Format::lines, "text.txt", "one\ntwo\r\n\nfour");
  add(Format::history, "history.csv",
      "step,loss,\"acc,uracy\"\n1,0.5,\n2,0.25,0.9\n5,nan,inf\n9,-1e-300,1\n");
  train::History history;
  for (int i = 0; i < 5; ++i) history.add("loss", i * i, 1.0 / (i + 1));
  add(Format::history, "saved.csv", history.saved_state());
  for (auto &[name, text] : states_of_datasets()) add(Format::state, name, text);
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// An interlaced PNG file of 16 bits and three channels: seven pictures, each in lines of their own
/// (PNG's specification, 8.2).
std::string interlaced_png(std::size_t width, std::size_t height) {
  constexpr std::size_t starts[7][2] = {{0, 0}, {4, 0}, {0, 4}, {2, 0}, {0, 2}, {1, 0}, {0, 1}};
  constexpr std::size_t steps[7][2] = {{8, 8}, {8, 8}, {4, 8}, {4, 4}, {2, 4}, {2, 2}, {1, 2}};
  std::string raw;
  for (int pass = 0; pass < 7; ++pass) {
    const std::size_t columns =
        width <= starts[pass][0] ? 0 : (width - starts[pass][0] - 1) / steps[pass][0] + 1;
    const std::size_t rows =
        height <= starts[pass][1] ? 0 : (height - starts[pass][1] - 1) / steps[pass][1] + 1;
    for (std::size_t i = 0; i < rows && columns != 0; ++i)
      raw += '\0' + std::string(columns * 6, 'w');
  }
  const std::string header = big(width, 4) + big(height, 4) + std::string("\x10\2\0\0\1", 5);
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", header) + png_chunk("IDAT", compressed(raw)) +
         png_chunk("IEND", "");
}

/// One that moves: a control of two frames, the second beside the picture itself.
std::string animated_png() {
  const auto frame = [](std::uint32_t sequence) {
    return big(sequence, 4) + big(2, 4) + big(2, 4) + std::string(8, '\0') + big(1, 2) +
           big(10, 2) + std::string(2, '\0');
  };
  const std::string raw(2 * 3, '\0');
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR", big(2, 4) + big(2, 4) + std::string("\10\0\0\0\0", 5)) +
         png_chunk("acTL", big(2, 4) + big(0, 4)) + png_chunk("fcTL", frame(0)) +
         png_chunk("IDAT", compressed(raw)) + png_chunk("fcTL", frame(1)) +
         png_chunk("fdAT", big(2, 4) + compressed(raw)) + png_chunk("IEND", "");
}

void add_images(std::vector<Sample> &all) {
  std::map<std::string, std::string> images;
  for (const char *name : {"bits.png", "grey.png", "grey16.png", "grey_alpha.png", "palette.png",
                           "rgb.png", "rgba.png"})
    images[name] = stored(std::string("Data/Files/") + name);
  images["interlaced.png"] = interlaced_png(9, 7);
  images["animated.png"] = animated_png();
  for (const char *name : {"baseline.jpg", "cmyk.jpg", "grey.jpg", "progressive.jpg"})
    images[name] = stored(std::string("Data/Files/") + name);
  for (const auto &[name, bytes] : images)
    all.push_back({name.ends_with(".png") ? Format::png : Format::jpeg, name, bytes, {}});
  for (const char *name : {"a/1.png", "b/2.JPG"})
    all.push_back({Format::images,
                   name,
                   images[name[0] == 'a' ? "rgb.png" : "progressive.jpg"],
                   {{"a/0.png", images["grey.png"]}, {"b/notes.txt", "no image"}}});
}

//===----------------------------------------------------------------------===//
// Records and tensors by names
//===----------------------------------------------------------------------===//

void add_records(std::vector<Sample> &all, const std::string &scratch) {
  all.push_back({.format = Format::tfrecord,
                 .name = "records.tfrecord",
                 .bytes = stored("Data/Files/records.tfrecord"),
                 .beside = {},
                 .sealed = true});
  const std::string folder = scratch + "/events";
  std::filesystem::remove_all(folder);
  events::Writer writer(folder, {.resumed_at = 3});
  for (int step = 0; step < 3; ++step)
    writer.scalar("loss", 1.0F / static_cast<float>(step + 1), step);
  writer.histogram("weights", arange(10, DType::f32), 1, {.buckets = 4});
  writer.image("picture", full({2, 3, 3}, 0.5, DType::f32), 1);
  writer.text("notes", "**bold**", 2);
  writer.hyperparameters({{"rate", 0.1}, {"name", std::string("adam")}}, {"loss"});
  writer.finished();
  writer.close();
  all.push_back({Format::events, "events.out.tfevents.1", bytes_of(writer.path()), {}});
}

void add_safetensors(std::vector<Sample> &all, const std::string &scratch) {
  const std::string path = scratch + "/one.safetensors";
  save_safetensors(path,
                   {{"w", ramp({{2, 3}}, DType::f32)},
                    {"on", tensor({true, false})},
                    {"none", ramp({{0, 4}}, DType::i64)}},
                   {{"author", "nobody"}});
  all.push_back({.format = Format::safetensors,
                 .name = "one.safetensors",
                 .bytes = bytes_of(path),
                 .beside = {},
                 .sealed = true});
  const std::string reference = "IO/Reference/";
  for (const char *name : {"dtypes.safetensors", "narrow.safetensors"})
    all.push_back({Format::safetensors, name, stored(reference + name), {}});
  const std::vector<std::string> names = {"model.safetensors.index.json",
                                          "model-00001-of-00002.safetensors",
                                          "model-00002-of-00002.safetensors"};
  for (const std::string &name : names) {
    Sample sample{Format::index, name, stored(reference + name), {}};
    for (const std::string &other : names)
      if (other != name) sample.beside[other] = stored(reference + other);
    all.push_back(std::move(sample));
  }
}

void add_checkpoints(std::vector<Sample> &all, const std::string &scratch) {
  const std::string folder = scratch + "/checkpoints";
  std::filesystem::remove_all(folder);
  Run run;
  CheckpointManager manager(folder, {.background = false});
  for (int epoch = 1; epoch <= 2; ++epoch) {
    run.advance();
    manager.save(run, {.metric = 1.0 / epoch, .step = 10 * epoch});
  }
  const std::string first = bytes_of(folder + "/ckpt-1.safetensors"),
                    second = bytes_of(folder + "/ckpt-2.safetensors");
  all.push_back({.format = Format::checkpoint,
                 .name = "ckpt-2.safetensors",
                 .bytes = second,
                 .beside = {{"ckpt-1.safetensors", first}},
                 .sealed = true});
  all.push_back({.format = Format::checkpoint,
                 .name = "ckpt-9223372036854775806.safetensors",
                 .bytes = first,
                 .beside = {{"ckpt-3.safetensors.tmp-99999999999-1", "left over"},
                            {"ckpt-x.safetensors", second}},
                 .sealed = true});
}

std::string zlib_bytes(std::string_view bytes, int window) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw OutOfMemory("no memory to compress with");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

} // namespace

std::string compressed(std::string_view bytes) { return zlib_bytes(bytes, MAX_WBITS); }
std::string deflated(std::string_view bytes) { return zlib_bytes(bytes, -MAX_WBITS); }

std::string png_chunk(std::string_view type, std::string_view data) {
  const std::string inside = std::string(type) + std::string(data);
  return big(data.size(), 4) + inside + big(crc_of(inside), 4);
}

std::string zip_of(const std::vector<ZipMember> &members) {
  std::string file, directory;
  for (const auto &[name, bytes, packs] : members) {
    const std::string packed = packs ? deflated(bytes) : bytes;
    // Version, flags, method, time, date, checksum, sizes, lengths of the name and of extras.
    const std::string common = little(20, 2) + little(0, 2) + little(packs ? 8 : 0, 2) +
                               little(0, 4) + little(crc_of(bytes), 4) + little(packed.size(), 4) +
                               little(bytes.size(), 4) + little(name.size(), 2) + little(0, 2);
    directory +=
        "PK\1\2" + little(20, 2) + common + std::string(10, '\0') + little(file.size(), 4) + name;
    file += "PK\3\4" + common + name + packed;
  }
  const std::string count = little(members.size(), 2);
  return file + directory + "PK\5\6" + std::string(4, '\0') + count + count +
         little(directory.size(), 4) + little(file.size(), 4) + little(0, 2);
}

void add_trees(std::vector<Sample> &all, const std::string &scratch) {
  using Value = weft::detail::SavedValue;
  using Kind = Value::Kind;
  const Value number = Value::integer(std::int64_t{-7}), text = Value::of_text("a \"text\"");
  const Value half{.kind = Kind::floating, .real = 0.5},
      infinite{.kind = Kind::floating, .real = -std::numeric_limits<double>::infinity()};
  const Value list{.kind = Kind::list, .entries = {number, text, half, infinite, Value()}};
  // All kinds, as C++ reads some of them and Python the others.
  const Value all_kinds{
      .kind = Kind::dict,
      .keys = {text, number, half, Value(), {.kind = Kind::boolean, .real = 1}},
      .entries = {
          {.kind = Kind::tensor, .tensor = ramp({{2, 3}}, DType::f32)},
          {.kind = Kind::variable, .variable = Variable(ones({2}), "v", false)},
          {.kind = Kind::tuple, .entries = {list, {.kind = Kind::scalar, .tensor = tensor(1)}}},
          {.kind = Kind::record, .text = "m:C", .fields = {"x", "y"}, .entries = {list, number}},
          {.kind = Kind::named,
           .text = "m:P",
           .fields = {"z"},
           .entries = {{.kind = Kind::complex, .real = 1, .imaginary = -2}}}}};
  const std::string path = scratch + "/tree.weft";
  weft::detail::write_saved(path, all_kinds);
  all.push_back({.format = Format::tree,
                 .name = "kinds.weft",
                 .bytes = bytes_of(path),
                 .beside = {},
                 .sealed = true});
  save(path,
       SavedSearch{.layers = {{"a", {ones({2}), std::nullopt, 3}}}, .note = "x", .pair = {1, 0.5}});
  all.push_back({.format = Format::tree,
                 .name = "search.weft",
                 .bytes = bytes_of(path),
                 .beside = {},
                 .sealed = true});
}

std::vector<Sample> samples(const std::string &scratch) {
  std::filesystem::create_directories(scratch);
  std::vector<Sample> all;
  add_arrays(all, scratch);
  add_texts(all);
  add_images(all);
  add_records(all, scratch);
  add_safetensors(all, scratch);
  add_checkpoints(all, scratch);
  add_trees(all, scratch);
  std::filesystem::remove_all(scratch);
  return all;
}

} // namespace weft::fuzz
