// The ways of reading, format by format.
#include "Read.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "../Workers.h"
#include "Run.h"
#include <weft/events.h>
#include <weft/io.h>
#include <weft/log.h>
#include <weft/safetensors.h>
#include <weft/save.h>

namespace weft::fuzz {

namespace {

/// Looks at every element, so that memory that is not there would be seen.
void touch(const Tensor &tensor) {
  if (!tensor.defined()) throw StateError("a reader gave an undefined tensor");
  static_cast<void>(visit_dtype(tensor.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>) {
      const auto *bytes = reinterpret_cast<const unsigned char *>(tensor.span<T>().data());
      if (std::any_of(bytes, bytes + tensor.size(), [](unsigned char byte) { return byte > 1; }))
        throw StateError("a reader gave a bool that is neither 0 nor 1");
    }
    volatile double last = 0;
    for (const T value : tensor.span<T>()) last = static_cast<double>(value);
    return last;
  }));
}
void touch(const std::map<std::string, Tensor> &tensors) {
  for (const auto &[name, tensor] : tensors) touch(tensor);
}
void touch(const std::string &) {}
template <class A, class B>
void touch(const std::pair<A, B> &both) {
  touch(both.first);
  touch(both.second);
}
template <class Element>
void touch(const data::BasicDataset<Element> &dataset) {
  // No sample has as many elements, and mutants of some have no end.
  constexpr int most = 100'000;
  int count = 0;
  for (const auto &element : dataset) {
    touch(element);
    if (++count == most) break;
  }
}
/// At most so many: a data set that shuffles, or has no end.
void touch_some(const data::BasicDataset<Tensor> &dataset) {
  int left = 8;
  for (const Tensor &element : dataset) {
    touch(element);
    if (--left == 0) break;
  }
}

std::string bytes_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What moves a terminal's cursor, or ends a text of C.
bool is_control(char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; }

using Kinds = std::set<ErrorKind>;

class Reader {
public:
  explicit Reader(const FileCase &file) : file_(file), path_(file.folder + "/" + file.name) {}

  FileVerdict run() {
    read();
    if (verdict_.fault.empty() && file_.unchanged && refused_first_ && !may_refuse_valid())
      fail("a valid file is refused");
    if (verdict_.fault.empty() && file_.must_refuse && verdict_.refused == 0)
      fail("a changed bit is not seen, though there are checksums");
    return std::move(verdict_);
  }

private:
  /// The first way is the plainest, but CMYK is not read, nor dtypes that Weft lacks or another
  /// delimiter without being asked for, and a state is of one data set alone.
  bool may_refuse_valid() const {
    static const std::set<std::string> odd = {"cmyk.jpg", "dtypes.safetensors",
                                              "narrow.safetensors", "mark.csv"};
    return odd.contains(file_.name) || file_.format == Format::state;
  }

  void fail(std::string fault) {
    if (verdict_.fault.empty())
      verdict_.fault = std::move(fault) + ", " + std::string(name_of(file_.format));
  }

  /// Calls `read`. Errors are IOErrors or of these kinds, and name a file of the folder.
  bool attempt(const char *call, const Kinds &kinds, const std::function<void()> &read,
               bool names = true) {
    if (!verdict_.fault.empty()) return false;
    note_stage(call);
    ++verdict_.calls;
    try {
      read();
      return true;
    } catch (const Error &error) {
      ++verdict_.refused;
      refused_first_ = refused_first_ || verdict_.calls == 1;
      judge(call, kinds, error, names);
    } catch (const std::exception &error) {
      verdict_.detail += std::string(call) + ": " + error.what() + '\n';
      fail(std::string("an exception that is not Weft's in ") + call);
    }
    return false;
  }
  void judge(const char *call, const Kinds &kinds, const Error &error, bool names) {
    const std::string text(error.what());
    verdict_.detail += std::string(call) + ": " + text.substr(0, 2000) + '\n';
    if (error.kind() == ErrorKind::out_of_memory)
      return fail(std::string("memory beyond what the file explains in ") + call);
    if (error.kind() != ErrorKind::io && !kinds.contains(error.kind()))
      return fail(std::string("an error of another kind in ") + call);
    if (names && text.find(file_.folder) == std::string::npos)
      return fail(std::string("an error that does not name the file in ") + call);
    if (std::any_of(error.message().begin(), error.message().end(), is_control))
      return fail(std::string("an error with control characters in ") + call);
    if (text.size() > 4000)
      return fail(std::string("an error that is longer than a page in ") + call);
  }

  void read() {
    switch (file_.format) {
    case Format::idx: return idx();
    case Format::npy: return npy();
    case Format::npz: return npz();
    case Format::csv: return csv();
    case Format::lines: return lines();
    case Format::tfrecord: return tfrecord();
    case Format::safetensors: return safetensors(path_);
    case Format::index: return safetensors(file_.folder + "/model.safetensors.index.json");
    case Format::png:
    case Format::jpeg: return image();
    case Format::images: return images();
    case Format::checkpoint: return checkpoint();
    case Format::events: return events();
    case Format::state: return state();
    case Format::history: return history();
    case Format::tree: return tree();
    }
  }

  void idx() {
    using enum ErrorKind;
    attempt("read_idx", {}, [&] { touch(data::read_idx(path_)); });
    attempt("from_idx", {shape, dtype}, [&] { touch(data::from_idx(path_)); });
    attempt("from_idx of pairs", {shape, dtype, value},
            [&] { touch(data::from_idx(path_, path_)); });
    attempt("from_idx scaled", {shape, dtype},
            [&] { touch(data::from_idx(path_, {.dtype = DType::f64, .scale = 0.5})); });
  }
  void npy() {
    attempt("load_npy", {}, [&] { touch(load_npy(path_)); });
    attempt("from_npy", {ErrorKind::shape}, [&] { touch(data::from_npy(path_)); });
  }
  void npz() {
    attempt("read_npz", {}, [&] { touch(data::read_npz(path_)); });
    attempt("from_npz", {ErrorKind::shape}, [&] { touch(data::from_npz(path_)); });
    attempt("from_npz of pairs", {ErrorKind::shape, ErrorKind::value},
            [&] { touch(data::from_npz(path_, "first", "second")); });
  }
  void csv() {
    using enum ErrorKind;
    attempt("read_csv", {}, [&] { touch(data::read_csv(path_)); });
    attempt("read_csv without a header", {},
            [&] { touch(data::read_csv(path_, {.dtypes = {DType::f64}, .header = false})); });
    attempt("read_csv of columns", {value}, [&] {
      touch(data::read_csv(path_, {.columns = {"a", "c"}, .dtypes = {DType::i64, DType::f32}}));
    });
    attempt("read_csv of bools", {},
            [&] { touch(data::read_csv(path_, {.dtypes = {DType::boolean}, .delimiter = ';'})); });
    attempt("from_csv", {}, [&] { touch(data::from_csv(path_)); });
  }
  void lines() {
    attempt("from_lines", {}, [&] { touch(data::from_lines(path_)); });
  }
  void tfrecord() {
    attempt("from_tfrecord", {}, [&] { touch(data::from_tfrecord(path_)); });
    attempt("from_tfrecord with parse_example", {}, [&] {
      for (const data::Example &example : data::from_tfrecord(path_).map(
               [](const std::string &record) { return data::parse_example(record); }))
        touch(example.numbers);
    });
    const std::string bytes = bytes_of(path_);
    attempt("parse_example", {}, [&] { touch(data::parse_example(bytes).numbers); }, false);
  }
  void safetensors(const std::string &path) {
    using enum ErrorKind;
    attempt("SafetensorsFile", {dtype}, [&] {
      const SafetensorsFile file(path);
      for (const SafetensorsEntry &entry : file.entries()) touch(file.load(entry.name));
    });
    attempt("load_safetensors", {dtype}, [&] { touch(load_safetensors(path, {.widen = true})); });
    struct Model {
      Variable w{zeros({2, 3})}, on{tensor({true, true})};
      WEFT_FIELDS(Model, w, on)
    };
    const Model model;
    const std::string before = to_string(model.w.value());
    if (!attempt("load_weights", {}, [&] { load_weights(path, model, {.widen = true}); }) &&
        to_string(model.w.value()) != before)
      fail("a load that failed has changed something");
    attempt("load_weights of some", {},
            [&] { load_weights(path, Model{}, {.strict = false}).expect_partial(); });
  }
  void tree() {
    using Tensors = std::map<std::string, Tensor>;
    attempt("load of any kind", {ErrorKind::dtype},
            [&] { static_cast<void>(weft::detail::read_saved(path_)); });
    attempt("load of tensors", {ErrorKind::dtype}, [&] {
      for (const auto &[name, tensor] : load<Tensors>(path_))
        if (tensor.defined()) touch(tensor);
    });
    attempt("load of a struct", {ErrorKind::dtype}, [&] {
      for (const auto &[name, layer] : load<SavedSearch>(path_).layers)
        if (layer.w.defined()) touch(layer.w);
    });
  }
  void image() {
    const bool png = file_.format == Format::png;
    attempt("read_image", {}, [&] { touch(data::read_image(path_)); });
    attempt(png ? "read_png" : "read_jpeg", {}, [&] {
      const data::ImageOptions options{.channels = 3, .dtype = DType::i32};
      touch(png ? data::read_png(path_, options) : data::read_jpeg(path_, options));
    });
    attempt(png ? "read_jpeg" : "read_png", {},
            [&] { touch(png ? data::read_jpeg(path_) : data::read_png(path_)); });
    const std::string bytes = bytes_of(path_);
    attempt("decode_image", {}, [&] { touch(data::decode_image(bytes, {.channels = 1})); }, false);
  }
  void images() {
    attempt("from_image_folder", {}, [&] { touch(data::from_image_folder(file_.folder)); });
    attempt("from_image_folder resized", {},
            [&] { touch(data::from_image_folder(file_.folder, {.size = {{4, 4}}})); });
  }
  void checkpoint() {
    using enum ErrorKind;
    Run run;
    const std::string before = run.text();
    const auto keeps = [&](bool read) {
      if (!read && run.text() != before) fail("a restore that failed has changed something");
    };
    keeps(attempt("Checkpoint::restore", {}, [&] {
      Checkpoint(run).restore(path_).expect_partial();
      touch_some(run.data);
    }));
    if (!verdict_.fault.empty()) return;
    attempt("latest_checkpoint", {}, [&] { latest_checkpoint(file_.folder); });
    CheckpointManager manager(file_.folder, {.keep = 0, .background = false});
    attempt("CheckpointManager::checkpoints", {}, [&] {
      for (const CheckpointInfo &info : manager.checkpoints())
        static_cast<void>(info.time.time_since_epoch() / std::chrono::hours(1));
    });
    for (const bool partial : {false, true}) {
      Run other;
      attempt("CheckpointManager::restore_latest", {}, [&] {
        manager.restore_latest(other, {.partial = partial});
        touch_some(other.data);
      });
      attempt("CheckpointManager::restore_best", {},
              [&] { manager.restore_best(other, {.partial = partial}); });
    }
    struct Weights {
      Variable weight{zeros({2, 3})}, count{zeros({}, DType::i64)};
      WEFT_FIELDS(Weights, weight, count)
    };
    attempt("load_weights of a checkpoint", {},
            [&] { load_weights(path_, Weights{}, {.strict = false}).expect_partial(); });
    // Whatever lies there, the next save has a number of its own.
    attempt("CheckpointManager::save", {}, [&] { manager.save(run); });
  }
  void events() {
    attempt("events::read", {}, [&] {
      for (const events::Event &event : events::read(path_))
        if (event.numbers.defined()) touch(event.numbers);
    });
    attempt("events::read_scalars", {}, [&] { events::read_scalars(file_.folder); });
  }
  void state() {
    using enum ErrorKind;
    const std::string text = bytes_of(path_);
    for (auto &[name, dataset] : state_datasets()) {
      Stateful &state = dataset.pipeline().state();
      const std::string before = state.saved_state();
      const bool good = attempt("check_state", {value}, [&] { state.check_state(text); }, false);
      const bool taken =
          attempt("restore_state", {value}, [&] { state.restore_state(text); }, false);
      if (!verdict_.fault.empty()) return;
      if (good != taken) fail("check_state and restore_state differ");
      if (!taken && state.saved_state() != before)
        fail("a state that was refused has changed something");
      if (taken) attempt("a loop over a restored data set", {}, [&] { touch_some(dataset); });
    }
  }
  void history() {
    attempt("History::load_csv", {}, [&] {
      const train::History read = train::History::load_csv(path_);
      train::History again;
      again.restore_state(read.saved_state());
      // NaN is not equal to itself.
      if (again.saved_state() != read.saved_state())
        throw StateError(path_ + ": a history is not read as it is written");
      static_cast<void>(read.plot({}, {.width = 40}));
    });
    // A state, which is no file.
    const std::string text = bytes_of(path_);
    train::History other;
    attempt(
        "History::restore_state", {ErrorKind::value}, [&] { other.restore_state(text); }, false);
  }

  FileCase file_;
  std::string path_;
  FileVerdict verdict_;
  bool refused_first_ = false;
};

} // namespace

FileVerdict read_all_ways(const FileCase &file) {
  set_log_sink([](std::string_view) {});
  return Reader(file).run();
}

} // namespace weft::fuzz
