// data_digits and train_from_dataset: batches of shuffled images, alone and while a network trains
// on them.
#include "Benchmarks.h"
#include "Digits.h"

#include <weft/weft.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <stdlib.h>

namespace weft::bench {

namespace {

void write_idx(const std::string &path, const std::string &header, std::size_t bytes,
               unsigned char modulus) {
  std::string text = header;
  text.reserve(header.size() + bytes);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < bytes; ++i) {
    state = state * 1664525u + 1013904223u;
    text += static_cast<char>((state >> 24) % modulus);
  }
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

data::Dataset batches(const DigitFiles &files) {
  return data::from_idx(files.images(), files.labels(), {.dtype = f32, .scale = 1 / 255.0})
      .shuffle({.seed = 1})
      .batch(kDigitsBatch, {.drop_remainder = true});
}

/// Images per second of whole epochs.
double images_per_second(const data::Dataset &dataset) {
  return 1 /
         seconds_per_call(
             [&](std::int64_t epochs) {
               for (std::int64_t i = 0; i < epochs; ++i)
                 for (const auto &[x, y] : dataset) keep(x);
             },
             0.3) *
         static_cast<double>(kDigits / kDigitsBatch * kDigitsBatch);
}

/// The network of examples/digits.
nn::Sequential network() {
  return nn::Sequential{nn::Conv2D(16, 3, {.activation = relu}),
                        nn::MaxPooling2D(2),
                        nn::Conv2D(32, 3, {.activation = relu}),
                        nn::MaxPooling2D(2),
                        nn::Flatten(),
                        nn::Dense(10)};
}

} // namespace

DigitFiles::DigitFiles() {
  std::string name = std::filesystem::temp_directory_path() / "weft-bench-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make the folder " + name);
  folder_ = name;
  // Magic, and sizes with their high byte first: 60,000 x 28 x 28.
  const std::string count("\x00\x00\xea\x60", 4), size("\x00\x00\x00\x1c", 4);
  write_idx(images(), std::string("\x00\x00\x08\x03", 4) + count + size + size, kDigits * 784, 255);
  write_idx(labels(), std::string("\x00\x00\x08\x01", 4) + count, kDigits, 10);
}

DigitFiles::~DigitFiles() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Row data_digits(const std::string &name, const Session &session) {
  const DigitFiles files;
  const data::Dataset plain = batches(files), ahead = plain.prefetch(2);
  std::vector<Contender> contenders = {{"weft", [&] { return images_per_second(plain); }}};
  const std::string torch = session.peers + "/torch_data";
  const auto add_torch = [&](const char *way, const std::string &workers) {
    if (!std::filesystem::exists(torch)) return;
    Contender peer = line_server("torch", {torch, way, workers, files.images(), files.labels()},
                                 session.threads);
    peer.full_name = [full = peer.full_name, way, workers] {
      return full() + ", " + way + ", " + workers + " workers";
    };
    contenders.push_back(std::move(peer));
  };
  const std::string tensorflow = session.peers + "/tensorflow/bin/python";
  const auto add_tensorflow = [&](const char *way) {
    if (!std::filesystem::exists(session.peers + "/tensorflow.stamp")) return;
    Contender peer = line_server(
        "tf.data",
        {tensorflow, session.sources + "/peers/tf_data.py", way, files.images(), files.labels()},
        session.threads);
    peer.full_name = [full = peer.full_name, way] { return full() + ", " + way; };
    contenders.push_back(std::move(peer));
  };
  for (const char *way : {"batched", "examples"})
    for (const int workers : {0, session.threads}) add_torch(way, std::to_string(workers));
  for (const char *way : {"elements", "indices"}) add_tensorflow(way);
  Row row = compare(name, "img/s", contenders, session.repeats);
  row.fields["with_prefetch"] = images_per_second(ahead);
  return row;
}

Row train_from_dataset(const std::string &name, const Session &session) {
  const nn::Sequential model = network();
  const optimizers::Adam adam(model);
  const auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, model(x[{ellipsis, newaxis}]));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  });
  constexpr std::int64_t kSteps = 200; // of an epoch, which has 1,875
  const DigitFiles files;
  const data::Dataset dataset = batches(files).take(kSteps);
  std::vector<std::pair<Tensor, Tensor>> memory;
  for (const auto &[x, y] : dataset) memory.emplace_back(x, y);
  step(memory[0].first, memory[0].second);
  const auto steps_per_second = [&](const auto &elements) {
    const double start = now();
    for (const auto &[x, y] : elements) keep(step(x, y));
    return kSteps / (now() - start);
  };
  return compare(name, "step/s",
                 {{"weft", [&] { return steps_per_second(dataset); }},
                  {"the same batches in memory", [&] { return steps_per_second(memory); }}},
                 session.repeats);
}

} // namespace weft::bench
