// Files of data in Python: sources of data sets, and reading and writing at once.
#include "Data.h"
#include "Define.h"
#include "Snapshots.h"
#include "Text.h"

#include <map>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>
#include <weft/data/files.h>
#include <weft/data/images.h>
#include <weft/io.h>
#include <weft/safetensors.h>

namespace weft::python {

namespace {

constexpr std::source_location kNowhere;

nb::dict dict_of(const std::map<std::string, Tensor> &tensors) {
  nb::dict dict;
  for (const auto &[name, tensor] : tensors) dict[kept_text(name)] = checked(wrap(tensor));
  return dict;
}

data::ArrayOptions array_options(nb::handle dtype, double scale) {
  return {.dtype = to_optional_dtype(dtype.ptr(), {"idx", "dtype"}), .scale = scale};
}

BoundPipeline idx(const std::string &path, const std::optional<std::string> &labels,
                  nb::handle dtype, double scale) {
  const data::ArrayOptions options = array_options(dtype, scale);
  return without_lock([&]() -> BoundPipeline {
    if (labels) return {data::from_idx(path, *labels, options, kNowhere).pipeline()};
    return {data::from_idx(path, options, kNowhere).pipeline(), true};
  });
}

data::CsvOptions csv_options(std::vector<std::string> columns, const nb::sequence &dtypes,
                             bool header, const std::string &delimiter) {
  data::CsvOptions options{.columns = std::move(columns), .dtypes = {}, .header = header};
  for (const nb::handle dtype : dtypes)
    options.dtypes.push_back(to_dtype(dtype.ptr(), {"csv", "dtypes"}));
  if (delimiter.size() != 1)
    throw ValueError("csv: the delimiter is '" + delimiter + "': one ASCII character is wanted");
  options.delimiter = delimiter[0];
  return options;
}

data::ImageOptions image_options(std::optional<int> channels, nb::handle dtype) {
  return {.channels = channels, .dtype = to_dtype(dtype.ptr(), {"read_image", "dtype"})};
}

nb::dict example_of(nb::bytes bytes) {
  const std::string_view text(bytes.c_str(), bytes.size());
  const data::Example example = data::parse_example(text, kNowhere);
  nb::dict dict = dict_of(example.numbers);
  for (const auto &[name, list] : example.strings) {
    nb::list strings;
    for (const std::string &each : list) strings.append(nb::bytes(each.data(), each.size()));
    dict[kept_text(name)] = strings;
  }
  return dict;
}

void define_sources(nb::module_ &module) {
  define<idx>(module, "internal_from_idx", Arg("path"), Arg("labels").none(), Arg("dtype").none(),
              Arg("scale"));
  define(module, "internal_from_npy(path)", [](const std::string &path) {
    return without_lock(
        [&] { return BoundPipeline{data::from_npy(path, kNowhere).pipeline(), true}; });
  });
  define(module, "internal_from_lines(path)", [](const std::string &path) {
    return without_lock([&] { return BoundPipeline{data::from_lines(path, kNowhere).pipeline()}; });
  });
  define(module, "internal_from_tfrecord(path)", [](const std::string &path) {
    return without_lock([&] {
      const auto records = data::from_tfrecord(path, kNowhere).map([](std::string bytes) {
        return Record{std::move(bytes)};
      });
      return BoundPipeline{records.pipeline()};
    });
  });
  define(
      module, "internal_from_image_folder",
      [](const std::string &folder, std::optional<std::pair<std::int64_t, std::int64_t>> size,
         std::optional<int> channels, nb::handle dtype) {
        const data::ImageFolderOptions options{.size = size,
                                               .image = image_options(channels, dtype)};
        return without_lock([&] {
          return BoundPipeline{data::from_image_folder(folder, options, kNowhere).pipeline()};
        });
      },
      Arg("folder"), Arg("size").none(), Arg("channels").none(), Arg("dtype"));
  define(module, "internal_image_classes(folder)", [](const std::string &folder) {
    nb::list names;
    for (const std::string &name : data::image_classes(folder, kNowhere))
      names.append(kept_text(name));
    return names;
  });
}

void define_readers(nb::module_ &module) {
  define(
      module, "internal_read_idx",
      [](const std::string &path, nb::handle dtype) {
        const data::IdxOptions options{to_optional_dtype(dtype.ptr(), {"read_idx", "dtype"})};
        return without_lock([&] { return data::read_idx(path, options, kNowhere); });
      },
      Arg("path"), Arg("dtype").none());
  define(module, "internal_read_npz(path)", [](const std::string &path) {
    return dict_of(without_lock([&] { return data::read_npz(path, kNowhere); }));
  });
  define(module, "internal_read_csv(path, columns, dtypes, header, delimiter)",
         [](const std::string &path, std::vector<std::string> columns, const nb::sequence &dtypes,
            bool header, const std::string &delimiter) {
           const data::CsvOptions options =
               csv_options(std::move(columns), dtypes, header, delimiter);
           return dict_of(without_lock([&] { return data::read_csv(path, options, kNowhere); }));
         });
  define(module, "internal_load_npy(path)", [](const std::string &path) {
    return without_lock([&] { return load_npy(path, kNowhere); });
  });
  define(module, "internal_save_npy(path, tensor)", [](const std::string &path, nb::handle value) {
    const Tensor tensor = to_tensor(value.ptr(), {"save_npy", "tensor"});
    without_lock([&] { save_npy(path, tensor, kNowhere); });
  });
  define(module, "internal_load_safetensors(path, widen)", [](const std::string &path, bool widen) {
    return dict_of(
        without_lock([&] { return load_safetensors(path, {.widen = widen}, kNowhere); }));
  });
  define(module, "internal_safetensors_metadata(path)", [](const std::string &path) {
    const SafetensorsFile file(path, kNowhere);
    return file.metadata();
  });
  define(module, "internal_safetensors_names(path)", [](const std::string &path) {
    const SafetensorsFile file(path, kNowhere);
    nb::list names;
    for (const SafetensorsEntry &entry : file.entries()) names.append(kept_text(entry.name));
    return names;
  });
  define(module, "internal_save_safetensors(path, values, metadata)",
         [](const std::string &path, const nb::dict &values,
            const std::map<std::string, std::string> &metadata) {
           std::map<std::string, Tensor> tensors;
           for (const auto &[name, value] : items_of(values.ptr())) {
             if (!nb::isinstance<nb::str>(name))
               raise_type_error("save_safetensors: the names of tensors are text");
             tensors.emplace(nb::cast<std::string>(name),
                             to_tensor(value.ptr(), {"save_safetensors", "a tensor"}));
           }
           without_lock([&] { save_safetensors(path, tensors, metadata, kNowhere); });
         });
  define<example_of>(module, "internal_parse_example(data)");
}

void define_images(nb::module_ &module) {
  define(
      module, "internal_read_image",
      [](const std::string &path, std::optional<int> channels, nb::handle dtype) {
        const data::ImageOptions options = image_options(channels, dtype);
        return without_lock([&] { return data::read_image(path, options, kNowhere); });
      },
      Arg("path"), Arg("channels").none(), Arg("dtype"));
  define(
      module, "internal_decode_image",
      [](nb::bytes bytes, std::optional<int> channels, nb::handle dtype) {
        const data::ImageOptions options = image_options(channels, dtype);
        const std::string_view text(bytes.c_str(), bytes.size());
        return without_lock([&] { return data::decode_image(text, options, kNowhere); });
      },
      Arg("data"), Arg("channels").none(), Arg("dtype"));
  define(module, "internal_encode_png(image)", [](nb::handle image) {
    const Tensor tensor = to_tensor(image.ptr(), {"encode_png", "image"});
    const std::string bytes = without_lock([&] { return data::encode_png(tensor, kNowhere); });
    return nb::bytes(bytes.data(), bytes.size());
  });
  define(module, "internal_write_png(path, image)", [](const std::string &path, nb::handle image) {
    const Tensor tensor = to_tensor(image.ptr(), {"write_png", "image"});
    without_lock([&] { data::write_png(path, tensor, kNowhere); });
  });
}

} // namespace

void define_data_files(nb::module_ &module) {
  define_sources(module);
  define_readers(module);
  define_images(module);
}

} // namespace weft::python
