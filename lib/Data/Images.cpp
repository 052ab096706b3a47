// Images as tensors: samples converted, channels added and left out, folders gone through.
#include "Data/Images.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <new>

#include "Data/Stage.h"
#include "IO/InputFile.h"
#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include "Support/Messages.h"
#include "Support/SystemMemory.h"
#include <weft/memory.h>
#include <weft/ops.h>
#include <weft/windows.h>

namespace weft::data {

namespace {

/// Files are read whole; this is far beyond what pixels up to the limit take.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 31;

/// One pixel as red, green, blue and alpha.
struct Colour {
  std::uint32_t red, green, blue, alpha;
};

template <class Sample>
Colour colour_at(const Sample *samples, int channels, std::uint32_t opaque) {
  if (channels <= 2)
    return {samples[0], samples[0], samples[0], channels == 2 ? samples[1] : opaque};
  return {samples[0], samples[1], samples[2], channels == 4 ? samples[3] : opaque};
}

template <class Sample, class To>
void convert(const Pixels &pixels, int channels, To *to) {
  constexpr auto opaque = std::uint32_t{std::numeric_limits<Sample>::max()};
  const auto *from = reinterpret_cast<const Sample *>(pixels.samples.data());
  const auto number = [](std::uint32_t sample) {
    using Number = std::conditional_t<std::is_floating_point_v<To>, To, float>;
    if constexpr (is_floating_type<To>)
      return static_cast<To>(static_cast<Number>(sample) / Number(opaque));
    else if constexpr (std::in_range<To>(opaque)) return static_cast<To>(sample);
    else return static_cast<To>((sample * 255 + opaque / 2) / opaque); // the nearest of 8 bits
  };
  const bool coloured = pixels.channels >= 3;
  for (std::size_t i = 0; i < pixels.height * pixels.width; ++i, from += pixels.channels) {
    const Colour c = colour_at(from, pixels.channels, opaque);
    if (channels == 1) {
      // As ITU-R BT.601 weighs them, in 16 bits, rounded to the nearest; 64 bits hold 48.
      const std::uint64_t grey = (std::uint64_t{19595} * c.red + std::uint64_t{38470} * c.green +
                                  std::uint64_t{7471} * c.blue + 32768) >>
                                 16;
      *to++ = number(coloured ? static_cast<std::uint32_t>(grey) : c.red);
      continue;
    }
    *to++ = number(c.red);
    *to++ = number(c.green);
    *to++ = number(c.blue);
    if (channels == 4) *to++ = number(c.alpha);
  }
}

template <class T>
void to_samples(const Tensor &image, std::vector<unsigned char> &samples) {
  const T *from = weft::detail::elements<T>(image);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    bool inside = true;
    if constexpr (is_floating_type<T>) inside = from[i] >= T(0) && from[i] <= T(1);
    else if constexpr (!std::is_same_v<T, bool>) inside = std::in_range<unsigned char>(from[i]);
    if (!inside)
      raise(ErrorKind::value, "encode_png: element " + std::to_string(i) + " is " +
                                  number_text(static_cast<double>(from[i])) +
                                  " but must be from 0 to " + (is_floating_type<T> ? "1" : "255"));
    if constexpr (is_floating_type<T>)
      samples[i] = static_cast<unsigned char>(std::lround(static_cast<double>(from[i]) * 255));
    else if constexpr (std::is_same_v<T, bool>) samples[i] = from[i] ? 255 : 0;
    else samples[i] = static_cast<unsigned char>(from[i]);
  }
}

using Kind = Pixels (*)(std::string_view, const std::string &);

Tensor read_as(const char *function, Kind decode, const std::string &path,
               const ImageOptions &options) {
  check_path(function, path);
  check_options(options);
  return naming(path, [&] {
    const std::string bytes = read_file(path, kMostFileBytes);
    return decode == nullptr ? decode_named(bytes, path, options)
                             : as_tensor(decode(bytes, path), options);
  });
}

bool is_image_name(const std::filesystem::path &path) {
  std::string extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

/// What is in a folder and is wanted, in the order of names.
template <class Wanted>
std::vector<std::string> names_in(const std::filesystem::path &folder, const Wanted &wanted) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator entry(folder, code);
  for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code))
    if (wanted(*entry)) names.push_back(entry->path().filename().string());
  if (code) raise(ErrorKind::io, folder.string() + ": cannot be read: " + code.message());
  std::ranges::sort(names);
  return names;
}

class ImageRows final : public detail::Maker {
public:
  ImageRows(std::string folder, std::vector<std::string> classes, const ImageFolderOptions &options)
      : folder_(std::move(folder)), options_(options) {
    for (std::size_t label = 0; label < classes.size(); ++label) {
      const auto files = names_in(std::filesystem::path(folder_) / classes[label],
                                  [](const auto &entry) { return is_image_name(entry.path()); });
      for (const std::string &file : files)
        files_.push_back({classes[label] + "/" + file, static_cast<std::int32_t>(label)});
    }
    if (files_.empty())
      raise(ErrorKind::io, folder_ + ": has no subfolders with .png, .jpg or .jpeg files");
  }
  std::size_t count() const { return files_.size(); }
  detail::Item make(std::int64_t index) const override {
    const File &file = files_[static_cast<std::size_t>(index)];
    const std::string path = folder_ + "/" + file.name;
    Tensor image = decode_named(read_file(path, kMostFileBytes), path, options_.image);
    if (options_.size) {
      const DType dtype = image.dtype();
      image = reshape(image, {1, image.size(0), image.size(1), image.size(2)});
      image = resize_image(image, {options_.size->first, options_.size->second});
      // Integers become the nearest of what is between them.
      if (!is_floating(dtype)) image = floor(image + 0.5).astype(dtype);
      image = reshape(image, {image.size(1), image.size(2), image.size(3)});
    }
    return {{image, weft::detail::new_scalar(file.label)}, nullptr};
  }
  std::string origin(std::int64_t index) const override {
    return folder_ + "/" + files_[static_cast<std::size_t>(index)].name;
  }

private:
  struct File {
    std::string name;
    std::int32_t label;
  };
  std::string folder_;
  std::vector<File> files_;
  ImageFolderOptions options_;
};

} // namespace

void check_options(const ImageOptions &options) {
  if (options.channels && *options.channels != 1 && *options.channels != 3 &&
      *options.channels != 4)
    raise(ErrorKind::value,
          "the option channels is " + std::to_string(*options.channels) + " but must be 1, 3 or 4");
  if (!is_dtype(options.dtype) || options.dtype == DType::boolean || options.dtype == DType::i8 ||
      is_complex(options.dtype))
    raise(ErrorKind::dtype, "the option dtype must be floating, or an integer that holds 255");
}

void check_size(const Pixels &pixels, const std::string &name, std::uint64_t most) {
  if (pixels.height == 0 || pixels.width == 0) raise(ErrorKind::io, name + ": has no pixels");
  // Neither side has more than 31 bits.
  const std::uint64_t count = std::uint64_t{pixels.height} * pixels.width;
  if (count <= std::min(most, kMostPixels)) return;
  const std::string sides = std::to_string(pixels.height) + " x " + std::to_string(pixels.width);
  if (count > kMostPixels)
    raise(ErrorKind::io, name + ": is said to have " + sides + " pixels, and more than " +
                             std::to_string(kMostPixels) + " are not read");
  raise(ErrorKind::io, name + ": is truncated or damaged: it is said to have " + sides +
                           " pixels, for which it is too short");
}

void make_room(Pixels &pixels, const std::string &name) {
  const std::size_t bytes =
      pixels.height * pixels.width * static_cast<std::size_t>(pixels.channels * pixels.bits / 8);
  try {
    // Asking takes longer than decoding a small image.
    if (bytes > (64u << 20) && system_memory::shortage(bytes, memory_stats().current))
      throw std::bad_alloc();
    pixels.samples.resize(bytes);
  } catch (const std::bad_alloc &) {
    raise(ErrorKind::out_of_memory,
          name + ": its pixels take " + std::to_string(bytes) + " bytes, more than can be had");
  }
}

Tensor as_tensor(const Pixels &pixels, const ImageOptions &options) {
  const int own = pixels.channels == 2 ? 4 : pixels.channels;
  const int channels = options.channels.value_or(own);
  const Tensor image = weft::detail::new_tensor(
      options.dtype, {{static_cast<std::int64_t>(pixels.height),
                       static_cast<std::int64_t>(pixels.width), std::int64_t{channels}}});
  visit_real(options.dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, std::int8_t>) {
      T *to = weft::detail::elements<T>(image);
      if (pixels.bits == 16) convert<std::uint16_t>(pixels, channels, to);
      else convert<std::uint8_t>(pixels, channels, to);
    }
  });
  return image;
}

Tensor decode_named(std::string_view bytes, const std::string &name, const ImageOptions &options) {
  if (is_png(bytes)) return as_tensor(decode_png(bytes, name), options);
  if (is_jpeg(bytes)) return as_tensor(decode_jpeg(bytes, name), options);
  raise(ErrorKind::io, name + ": is neither a PNG nor a JPEG file");
}

Tensor read_png(const std::string &path, const ImageOptions &options, std::source_location where) {
  const CompositeCall site("read_png", where);
  return read_as("read_png", decode_png, path, options);
}
Tensor read_jpeg(const std::string &path, const ImageOptions &options, std::source_location where) {
  const CompositeCall site("read_jpeg", where);
  return read_as("read_jpeg", decode_jpeg, path, options);
}
Tensor read_image(const std::string &path, const ImageOptions &options,
                  std::source_location where) {
  const CompositeCall site("read_image", where);
  return read_as("read_image", nullptr, path, options);
}
Tensor decode_image(std::string_view bytes, const ImageOptions &options,
                    std::source_location where) {
  const CompositeCall site("decode_image", where);
  check_options(options);
  return decode_named(bytes, "the image", options);
}

Tensor drawable(const Tensor &image) {
  if (!is_floating(image.dtype())) return image;
  return minimum(maximum(select(image == image, image, 0), 0), 1);
}

std::string encode_png(const Tensor &image, std::source_location where) {
  const CompositeCall site("encode_png", where);
  if (image.traced()) raise(ErrorKind::state, "the image stands for a value of a traced function");
  if (is_complex(image.dtype()))
    raise(ErrorKind::dtype, "the image has complex elements, " +
                                std::string(name_of(image.dtype())) + ": real ones are wanted");
  const Shape shape = image.shape();
  const std::int64_t channels = shape.rank() == 3 ? shape[2] : 1;
  if ((shape.rank() != 2 && shape.rank() != 3) ||
      (channels != 1 && channels != 3 && channels != 4) || shape[0] == 0 || shape[1] == 0)
    raise(ErrorKind::shape, "the image must be (height, width) or (height, width, 1, 3 or 4) and "
                            "not empty; it is " +
                                to_string(shape));
  Pixels pixels{static_cast<std::size_t>(shape[0]),
                static_cast<std::size_t>(shape[1]),
                static_cast<int>(channels),
                8,
                {}};
  check_size(pixels, "the image", kMostPixels);
  make_room(pixels, "the image");
  const Tensor source = make_contiguous(weft::detail::on_host(image));
  visit_real(image.dtype(), [&]<class T>() { to_samples<T>(source, pixels.samples); });
  return encode_pixels(pixels);
}

void write_png(const std::string &path, const Tensor &image, std::source_location where) {
  const CompositeCall site("write_png", where);
  check_path("write_png", path);
  const std::string bytes = encode_png(image);
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

std::vector<std::string> image_classes(const std::string &folder, std::source_location where) {
  const CompositeCall site("image_classes", where);
  check_path("image_classes", folder);
  return names_in(folder, [](const auto &entry) {
    std::error_code none;
    return entry.is_directory(none);
  });
}

Dataset from_image_folder(const std::string &folder, const ImageFolderOptions &options,
                          std::source_location where) {
  const CompositeCall site("from_image_folder", where);
  check_path("from_image_folder", folder);
  check_options(options.image);
  if (options.size && (options.size->first < 1 || options.size->second < 1))
    raise(ErrorKind::value, "the option size must be 1 or more on both sides");
  auto rows = std::make_shared<const ImageRows>(folder, image_classes(folder), options);
  const auto count = static_cast<std::int64_t>(rows->count());
  std::string description = "from_image_folder of " + std::to_string(count);
  if (options.size)
    description += " resized to " + std::to_string(options.size->first) + " x " +
                   std::to_string(options.size->second);
  const bool varies = !options.size || !options.image.channels;
  return Dataset(detail::Pipeline(
      std::make_shared<detail::RowStage>(std::move(description), count, std::move(rows),
                                         varies ? detail::Varying::all : detail::Varying::none)));
}

} // namespace weft::data
