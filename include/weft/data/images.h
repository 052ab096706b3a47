// Images: PNG and JPEG files, read, written, and folders of them as data sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/data/dataset.h>
#include <weft/options.h>

namespace weft::data {

/// How images become tensors.
struct ImageOptions {
  /// 1 (grey), 3 (RGB) or 4 (RGB and alpha); by default as many as the file has, where grey with
  /// alpha is 4. Grey is 0.299 R + 0.587 G + 0.114 B; an alpha channel that is not asked for is
  /// left out, one that is not there is opaque.
  std::optional<int> channels = std::nullopt;
  /// Floating: numbers of [0, 1]; integers, such as u8: 0 to 255, or to 65535 of a PNG file of 16
  /// bits if the dtype holds that.
  DType dtype = DType::f32;
};
WEFT_OPTIONS(ImageOptions, channels, dtype)

/// Reads an image, (height, width, channels). JPEG is decoded exactly; a rotation in EXIF is
/// ignored, as TensorFlow ignores it. Throws IOError for a file that is missing, truncated,
/// damaged, of colours that are not supported (CMYK), or of more than 2^28 pixels; ValueError for
/// other numbers of channels, DTypeError for bool.
Tensor read_png(const std::string &path, const ImageOptions &options = {},
                std::source_location where = WEFT_HERE);
Tensor read_jpeg(const std::string &path, const ImageOptions &options = {},
                 std::source_location where = WEFT_HERE);
/// PNG or JPEG, as its first bytes say.
Tensor read_image(const std::string &path, const ImageOptions &options = {},
                  std::source_location where = WEFT_HERE);
/// The same of the bytes of a file, such as those in a record.
Tensor decode_image(std::string_view bytes, const ImageOptions &options = {},
                    std::source_location where = WEFT_HERE);

/// The bytes of a PNG file of an image (height, width) or (height, width, 1, 3 or 4): integers from
/// 0 to 255, bools, or floating numbers from 0 to 1, rounded to the nearest of 256 steps. Throws
/// ShapeError, and ValueError for an element that is outside or NaN.
std::string encode_png(const Tensor &image, std::source_location where = WEFT_HERE);
/// Writes them to a file, which appears as a whole or not at all. Throws IOError as well.
void write_png(const std::string &path, const Tensor &image,
               std::source_location where = WEFT_HERE);

/// Options of `from_image_folder`.
struct ImageFolderOptions {
  /// Height and width that images are resized to, bilinearly; as they are by default.
  std::optional<std::pair<std::int64_t, std::int64_t>> size = std::nullopt;
  ImageOptions image = {.channels = 3};
};
WEFT_OPTIONS(ImageFolderOptions, size, image)

/// The names of a folder's subfolders in the order of their bytes: the classes of
/// `from_image_folder`.
std::vector<std::string> image_classes(const std::string &folder,
                                       std::source_location where = WEFT_HERE);
/// Images and labels, i32(), of a folder with a subfolder for each class: the .png, .jpg and .jpeg
/// files in it, class by class, each in the order of their names, so shuffle them. A file is read
/// when its element is computed; put `.prefetch()` behind, or `map` with workers. Throws IOError
/// for a folder that is missing or has no images.
Dataset from_image_folder(const std::string &folder, const ImageFolderOptions &options = {},
                          std::source_location where = WEFT_HERE);

} // namespace weft::data
