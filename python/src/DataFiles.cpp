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

// The options of CSV files.
template <>
struct Shown<char> {
  static std::string type() { return "str"; }
  static std::string value(char value) { return shown_text(std::string(1, value).c_str()); }
};
template <>
struct Shown<std::vector<DType>> {
  static std::string type() { return "Any"; }
  static std::string value(const std::vector<DType> &value) {
    return shown_text(python_name(value[0]));
  }
};
static void read(char &target, nb::handle value, const Place &place, Given &given) {
  std::string text;
  if (value.is_none()) throw DTypeError(place.text() + " is None: a text is wanted");
  read(text, value, place, given);
  if (text.size() != 1)
    throw ValueError(place.text() + " is '" + text + "': one ASCII character is wanted");
  target = text[0];
}
static void read(std::vector<DType> &target, nb::handle value, const Place &place, Given &) {
  target.clear();
  if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0)
    for (const nb::handle dtype : value) target.push_back(to_dtype(dtype.ptr(), place));
  else target = {to_dtype(value.ptr(), place)};
}

namespace {

constexpr std::source_location kNowhere;
constexpr const char *kSet = "Dataset[Any]", *kTensors = "dict[str, Tensor]";

nb::dict dict_of(const std::map<std::string, Tensor> &tensors) {
  nb::dict dict;
  for (const auto &[name, tensor] : tensors) dict[kept_text(name)] = checked(wrap(tensor));
  return dict;
}
nb::list texts_of(const std::vector<std::string> &texts) {
  nb::list list;
  for (const std::string &text : texts) list.append(kept_text(text));
  return list;
}

/// What `read` gives without the lock of Python, as a data set.
template <class Read>
nb::object sourced(const Read &read, bool bare = false) {
  return dataset_of(BoundDataset(without_lock([&] { return read().pipeline(); }), bare));
}

/// The rows of some arrays as a tuple, or of all as a dict.
nb::object rows_of(const Path &path, const nb::dict &arrays, const nb::args &names) {
  nb::list chosen;
  for (const nb::handle name : names) {
    if (!arrays.contains(name))
      throw ValueError(path.bytes + " has no array '" + text_of(nb::str(name)) + "': it has " +
                       text_of(nb::str(", ").attr("join")(arrays)));
    chosen.append(arrays[name]);
  }
  if (chosen.size() == 0) return rows_of_tensors(arrays);
  return rows_of_tensors(chosen.size() == 1 ? nb::object(chosen[0]) : nb::tuple(chosen));
}

nb::dict read_npz(const Path &path) {
  return dict_of(without_lock([&] { return data::read_npz(path.bytes, kNowhere); }));
}
nb::dict read_csv(const Path &path, const data::CsvOptions &options) {
  return dict_of(without_lock([&] { return data::read_csv(path.bytes, options, kNowhere); }));
}
nb::dict read_safetensors(const Path &path, bool widen) {
  return dict_of(
      without_lock([&] { return load_safetensors(path.bytes, {.widen = widen}, kNowhere); }));
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

void define_sources(nb::module_ &data) {
  define(
      data, "idx",
      [](const Path &path, const std::optional<Path> &labels, const data::ArrayOptions &options) {
        if (!labels)
          return sourced([&] { return data::from_idx(path.bytes, options, kNowhere); }, true);
        return sourced(
            [&] { return data::from_idx(path.bytes, labels->bytes, options, kNowhere); });
      },
      Arg("path"), Arg("labels").as("Path | None") = nb::none(), keyword_only, Returns{kSet},
      R"(The rows of an IDX file, the format of MNIST, or pairs of rows of two. They stay the bytes
that they are in the file until they are copied into an element or a batch.

    >>> import struct
    >>> with open("labels.idx", "wb") as file:
    ...     _ = file.write(struct.pack(">BBBBI", 0, 0, 8, 1, 3) + bytes([7, 2, 1]))
    >>> [int(label) for label in wf.data.idx("labels.idx")]
    [7, 2, 1]

Args:
    dtype: what the elements of the first file become; by default they keep theirs
    scale: what floating elements are multiplied by: 1 / 255 makes bytes numbers of [0, 1]

Raises:
    IOError: for a file that is missing, damaged or no IDX file
    DTypeError: for a dtype that is narrower than the file's, or a scale of integers
)");
  define(
      data, "npy(path)",
      [](const Path &path) {
        return sourced([&] { return data::from_npy(path.bytes, kNowhere); }, true);
      },
      Returns{"Dataset[Tensor]"},
      R"(The rows of a .npy file.

    >>> np.save("rows.npy", np.arange(6).reshape(3, 2))
    >>> [row.tolist() for row in wf.data.npy("rows.npy")]
    [[0, 1], [2, 3], [4, 5]]
)");
  define(
      data, "npz",
      [](const Path &path, const nb::args &names) { return rows_of(path, read_npz(path), names); },
      Arg("path"), Arg("*names").as("str"), Returns{kSet},
      R"(Rows of the arrays of a .npz file: a dict of all, or the tuple of those that are named, as in
`npz("mnist.npz", "x_train", "y_train")`.

    >>> np.savez("digits.npz", x=np.zeros((3, 2)), y=np.arange(3))
    >>> [(x.shape, int(y)) for x, y in wf.data.npz("digits.npz", "x", "y")]
    [((2,), 0), ((2,), 1), ((2,), 2)]

Raises:
    IOError: for a file that is missing or damaged
    ValueError: for a name that is not there
)");
  define(
      data, "csv(path)",
      [](const Path &path, const data::CsvOptions &options) {
        return rows_of_tensors(read_csv(path, options));
      },
      Positional{2}, Returns{kSet},
      R"(Rows of a CSV file: dicts of numbers by the names of their columns. See `read_csv`.

    >>> with open("points.csv", "w") as file:
    ...     _ = file.write("x,y\n1,2\n3,4\n")
    >>> [(float(row["x"]), float(row["y"])) for row in wf.data.csv("points.csv")]
    [(1.0, 2.0), (3.0, 4.0)]
)");
  define(
      data, "lines(path)",
      [](const Path &path) {
        return sourced([&] { return data::from_lines(path.bytes, kNowhere); });
      },
      Returns{"Dataset[str]"},
      R"(The lines of a text file, without their ends. Bytes that are no UTF-8 are kept as Python's
surrogate escapes.

    >>> with open("poem.txt", "w") as file:
    ...     _ = file.write("one\ntwo\n")
    >>> list(wf.data.lines("poem.txt"))
    ['one', 'two']

Raises:
    IOError: for a file that cannot be read
)");
  define(
      data, "tfrecord(path)",
      [](const Path &path) {
        return sourced([&] {
          return data::from_tfrecord(path.bytes, kNowhere).map([](std::string bytes) {
            return Record{std::move(bytes)};
          });
        });
      },
      Returns{"Dataset[bytes]"},
      R"(The records of a TFRecord file. `map(wf.data.parse_example)` reads `tf.train.Example`s.

    >>> writer = wf.summary.create_file_writer("events")
    >>> writer.close()
    >>> len(list(wf.data.tfrecord(writer.path)))
    1

Raises:
    IOError: for what is truncated or damaged; in a loop too
)");
  define(
      data, "safetensors",
      [](const Path &path, const nb::args &names, bool widen) {
        return rows_of(path, read_safetensors(path, widen), names);
      },
      Arg("path"), Arg("*names").as("str"), keyword_only, Arg("widen") = false, Returns{kSet},
      R"(Rows of the tensors of a safetensors file: a dict of all, or the tuple of those that are
named.

    >>> wf.io.save_safetensors("rows.safetensors", {"x": wf.arange(3)})
    >>> [int(x) for x in wf.data.safetensors("rows.safetensors", "x")]
    [0, 1, 2]

Args:
    widen: reads F16 and BF16 as float32
)");
  define(
      data, "images",
      [](const Path &folder, std::optional<std::pair<std::int64_t, std::int64_t>> size,
         std::optional<int> channels, nb::handle dtype) {
        const data::ImageFolderOptions options{
            .size = size,
            .image = {.channels = channels, .dtype = to_dtype(dtype.ptr(), {"images", "dtype"})}};
        return sourced([&] { return data::from_image_folder(folder.bytes, options, kNowhere); });
      },
      Arg("folder"), keyword_only, Arg("size") = nb::none(), Arg("channels") = 3,
      Arg("dtype") = "float32", Returns{"Dataset[tuple[Tensor, Tensor]]"},
      R"(Images and labels, int32 scalars, of a folder with a subfolder for each class, class by
class: shuffle them. A file is read when its element is made: `prefetch` them.

    >>> import os
    >>> os.makedirs("pets/cat")
    >>> wf.data.write_png("pets/cat/1.png", wf.zeros((4, 5, 3)))
    >>> [(image.shape, int(label)) for image, label in wf.data.images("pets")]
    [((4, 5, 3), 0)]

Args:
    size: height and width that images are resized to
    channels: 1, 3 or 4; None for as many as a file has
    dtype: floating for numbers of [0, 1], integers for 0 to 255

Raises:
    IOError: for a folder that is missing or has no images
)");
  define(
      data, "image_classes(folder)",
      [](const Path &folder) { return texts_of(data::image_classes(folder.bytes, kNowhere)); },
      Returns{"list[str]"},
      R"(The classes of `images`: the names of the subfolders in the order of their bytes.

    >>> import os
    >>> os.makedirs("pets/cat"), os.makedirs("pets/dog")
    (None, None)
    >>> wf.data.image_classes("pets")
    ['cat', 'dog']
)");
}

void define_readers(nb::module_ &data) {
  define(
      data, "read_idx(path)",
      [](const Path &path, const data::IdxOptions &options) {
        return without_lock([&] { return data::read_idx(path.bytes, options, kNowhere); });
      },
      Positional{1},
      R"(The array of an IDX file.

    >>> import struct
    >>> with open("labels.idx", "wb") as file:
    ...     _ = file.write(struct.pack(">BBBBI", 0, 0, 8, 1, 3) + bytes([7, 2, 1]))
    >>> wf.data.read_idx("labels.idx")
    tensor([7, 2, 1], shape=(3,), dtype=uint8)
)");
  define<read_npz>(data, "read_npz(path)", Returns{kTensors},
                   R"(All arrays of a .npz file by their names.

    >>> np.savez("digits.npz", x=np.zeros((3, 2)), y=np.arange(3))
    >>> wf.data.read_npz("digits.npz")["y"]
    tensor([0, 1, 2], shape=(3,), dtype=int64)
)");
  define<read_csv>(
      data, "read_csv(path)", Positional{2}, Returns{kTensors},
      R"(The columns of a CSV file by name, each of shape (rows,). An empty field is NaN where the
dtype is floating.

    >>> with open("points.csv", "w") as file:
    ...     _ = file.write("x,y\n1,2\n3,4\n")
    >>> wf.data.read_csv("points.csv")["y"]
    tensor([2., 4.], shape=(2,), dtype=float32)

Args:
    columns: those to read, by name or, without a header, by number as text; by default all
    dtypes: one for each, or a single one

Raises:
    IOError: with line and column, for what is no number of the dtype, and rows that are too
        long or short
)");
  define<example_of>(
      data, "parse_example(data)", Returns{"dict[str, Any]"},
      R"(The features of a `tf.train.Example` by their names: tensors (n,) of float32 or int64, and
lists of bytes.

    >>> wf.data.parse_example(b"\n\x0d\n\x0b\n\x02id\x12\x05\x1a\x03\n\x01\x07")
    {'id': tensor([7], shape=(1,), dtype=int64)}
)");
}

void define_images(nb::module_ &data) {
  define(
      data, "read_image(path)",
      [](const Path &path, const data::ImageOptions &options) {
        return without_lock([&] { return data::read_image(path.bytes, options, kNowhere); });
      },
      Positional{1},
      R"(A PNG or JPEG file, (height, width, channels). Floating numbers are of [0, 1].

    >>> wf.data.write_png("black.png", wf.zeros((4, 5, 3)))
    >>> wf.data.read_image("black.png").shape
    (4, 5, 3)

Raises:
    IOError: for a file that is missing or damaged
    ValueError: for a number of channels other than 1, 3 and 4
)");
  define(
      data, "decode_image(data)",
      [](nb::bytes bytes, const data::ImageOptions &options) {
        const std::string_view text(bytes.c_str(), bytes.size());
        return without_lock([&] { return data::decode_image(text, options, kNowhere); });
      },
      Positional{1},
      R"(The same of the bytes of a file.

    >>> png = wf.data.encode_png(wf.ones((4, 5, 3)))
    >>> wf.data.decode_image(png).shape
    (4, 5, 3)
)");
  define(
      data, "encode_png(image)",
      [](nb::handle image) {
        const Tensor tensor = to_tensor(image.ptr(), {"encode_png", "image"});
        const std::string bytes = without_lock([&] { return data::encode_png(tensor, kNowhere); });
        return nb::bytes(bytes.data(), bytes.size());
      },
      R"(The bytes of a PNG file of an image (height, width) or (height, width, channels).

    >>> wf.data.encode_png(wf.zeros((4, 5)))[:4]
    b'\x89PNG'
)");
  define(
      data, "write_png(path, image)",
      [](const Path &path, nb::handle image) {
        const Tensor tensor = to_tensor(image.ptr(), {"write_png", "image"});
        without_lock([&] { data::write_png(path.bytes, tensor, kNowhere); });
      },
      R"(Writes an image as a PNG file, which appears as a whole or not at all.

    >>> wf.data.write_png("black.png", wf.zeros((4, 5, 3)))
    >>> wf.data.read_image("black.png", dtype="int32").shape
    (4, 5, 3)
)");
}

void define_tensor_files(nb::module_ &io) {
  define(
      io, "load_npy(path)",
      [](const Path &path) { return without_lock([&] { return load_npy(path.bytes, kNowhere); }); },
      R"(Reads a .npy file.

    >>> np.save("x.npy", np.array([1.0, 2.0], np.float32))
    >>> wf.io.load_npy("x.npy")
    tensor([1., 2.], shape=(2,), dtype=float32)

Raises:
    IOError: for a file that is missing or damaged
)");
  define(
      io, "save_npy(path, tensor)",
      [](const Path &path, nb::handle value) {
        const Tensor tensor = to_tensor(value.ptr(), {"save_npy", "tensor"});
        without_lock([&] { save_npy(path.bytes, tensor, kNowhere); });
      },
      R"(Writes a tensor as a .npy file.

    >>> wf.io.save_npy("x.npy", wf.arange(3))
    >>> np.load("x.npy")
    array([0, 1, 2], dtype=int32)
)");
  define<read_safetensors>(
      io, "load_safetensors", Arg("path"), keyword_only, Arg("widen") = false, Returns{kTensors},
      R"(All tensors of a safetensors file, or of an index (.json) and its files, by name.

    >>> wf.io.save_safetensors("table.safetensors", {"table": wf.ones(2)})
    >>> wf.io.load_safetensors("table.safetensors")
    {'table': tensor([1., 1.], shape=(2,), dtype=float32)}

Args:
    widen: reads F16 and BF16 as float32, for programs that compute in it

Raises:
    IOError: for a file that is missing, damaged, or not what its digests say
    DTypeError: for a dtype that Weft lacks
)");
  define(
      io, "safetensors_names(path)",
      [](const Path &path) {
        const SafetensorsFile file(path.bytes, kNowhere);
        std::vector<std::string> names;
        for (const SafetensorsEntry &entry : file.entries()) names.push_back(entry.name);
        return texts_of(names);
      },
      Returns{"list[str]"},
      R"(The names of the tensors of a file in its order; nothing else of it is read.

    >>> wf.io.save_safetensors("named.safetensors", {"w": [1.0], "b": 0.0})
    >>> sorted(wf.io.safetensors_names("named.safetensors"))
    ['b', 'w']

Raises:
    IOError: if it cannot be read, or is none
)");
  define(
      io, "safetensors_metadata(path)",
      [](const Path &path) {
        const SafetensorsFile file(path.bytes, kNowhere);
        return file.metadata();
      },
      R"(The texts beside the tensors of a safetensors file.

    >>> wf.io.save_safetensors("table.safetensors", {"table": wf.ones(2)}, {"made by": "an example"})
    >>> wf.io.safetensors_metadata("table.safetensors")["made by"]
    'an example'
)");
  define(
      io, "save_safetensors",
      [](const Path &path, nb::object values,
         const std::optional<std::map<std::string, std::string>> &metadata) {
        const nb::dict dict = to_dict(values, {"save_safetensors", "tensors"});
        std::map<std::string, Tensor> tensors;
        for (const auto &[name, value] : items_of(dict.ptr())) {
          if (!nb::isinstance<nb::str>(name))
            raise_type_error("save_safetensors: the names of tensors are text");
          tensors.emplace(nb::cast<std::string>(name),
                          to_tensor(value.ptr(), {"save_safetensors", "a tensor"}));
        }
        without_lock([&] {
          save_safetensors(path.bytes, tensors,
                           metadata.value_or(std::map<std::string, std::string>()), kNowhere);
        });
      },
      Arg("path"), Arg("tensors").as("Mapping[str, Any]"),
      Arg("metadata").as("Mapping[str, str] | None") = nb::none(),
      R"(Writes tensors and texts as a safetensors file, with a digest of each tensor.

    >>> wf.io.save_safetensors("table.safetensors", {"table": wf.ones((2, 3))})
    >>> wf.io.load_safetensors("table.safetensors")["table"].shape
    (2, 3)

Raises:
    ValueError: for names and texts that are not UTF-8 or reserved
)");
}

} // namespace

void define_data_files() {
  nb::module_ data = family("data"), io = family("io");
  define_sources(data);
  define_readers(data);
  define_images(data);
  define_tensor_files(io);
}

} // namespace weft::python
