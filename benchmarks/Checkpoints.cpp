// checkpoint_save, checkpoint_restore and step_while_saving: a gibibyte of variables against the
// disk, and what saving costs a training.
#include "Benchmarks.h"

#include <weft/weft.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <stdexcept>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace weft::bench {

namespace {

constexpr std::int64_t kVariables = 16, kElements = std::int64_t{16} << 20; // of 4 bytes
constexpr double kGigabytes = static_cast<double>(kVariables * kElements * 4) / 1e9;
constexpr std::size_t kPiece = std::size_t{1} << 20; ///< as dd bs=1M

/// A folder beside the benchmarks' results, on a disk: temporary files may be in memory.
class Folder {
public:
  explicit Folder(const Session &session) {
    name_ = session.programs + "/../checkpoints-XXXXXX";
    if (mkdtemp(name_.data()) == nullptr)
      throw std::runtime_error("cannot make the folder " + name_ + ": " + std::strerror(errno));
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string &name() const { return name_; }

private:
  std::string name_;
};

std::vector<Variable> gibibyte() {
  std::vector<Variable> variables;
  for (std::int64_t i = 0; i < kVariables; ++i)
    variables.emplace_back(random::uniform({kElements}, {.seed = static_cast<std::uint64_t>(i)}),
                           "v" + std::to_string(i));
  return variables;
}

class File {
public:
  File(const std::string &path, int flags) : file_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw std::runtime_error("cannot open " + path + ": " + std::strerror(errno));
  }
  ~File() { ::close(file_); }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  operator int() const { return file_; }

private:
  int file_;
};

/// Gigabytes per second of a plain write of the same bytes, and an fsync.
double write_plainly(const std::string &path, const std::vector<Variable> &variables) {
  std::filesystem::remove(path);
  const double start = now();
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  for (const Variable &variable : variables) {
    const Tensor value = variable.value();
    const auto *bytes = reinterpret_cast<const char *>(value.span<float>().data());
    for (std::size_t at = 0; at < static_cast<std::size_t>(kElements) * 4; at += kPiece)
      if (::write(file, bytes + at, kPiece) != static_cast<ssize_t>(kPiece))
        throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  }
  if (::fsync(file) != 0) throw std::runtime_error("cannot write " + path);
  return kGigabytes / (now() - start);
}

/// Gigabytes per second of reading a file from the page cache into one buffer of a piece.
double read_plainly(const std::string &path) {
  std::vector<char> buffer(kPiece);
  const double start = now();
  const File file(path, O_RDONLY);
  ssize_t count = 0;
  while ((count = ::read(file, buffer.data(), buffer.size())) > 0) keep(buffer[0]);
  if (count < 0) throw std::runtime_error("cannot read " + path);
  return kGigabytes / (now() - start);
}

} // namespace

Row checkpoint_save(const std::string &name, const Session &session) {
  const Folder folder(session);
  const std::vector<Variable> variables = gibibyte();
  const Checkpoint checkpoint{{"model", variables}};
  const std::string path = folder.name() + "/checkpoint", plain = folder.name() + "/plain";
  return compare(name, "GB/s",
                 {{"weft",
                   [&] {
                     std::filesystem::remove(path); // its pages are not written any more
                     const double start = now();
                     checkpoint.write(path);
                     return kGigabytes / (now() - start);
                   }},
                  {"write and fsync", [&] { return write_plainly(plain, variables); }}},
                 session.repeats);
}

Row checkpoint_restore(const std::string &name, const Session &session) {
  const Folder folder(session);
  const std::string path = folder.name() + "/checkpoint";
  std::vector<Variable> variables = gibibyte();
  const Checkpoint checkpoint{{"model", variables}};
  checkpoint.write(path);
  return compare(name, "GB/s",
                 {{"weft",
                   [&] {
                     const double start = now();
                     checkpoint.restore(path).assert_consumed();
                     return kGigabytes / (now() - start);
                   }},
                  {"read from the page cache", [&] { return read_plainly(path); }}},
                 session.repeats);
}

Row step_while_saving(const std::string &name, const Session &session) {
  const Folder folder(session);
  // A network whose step takes about 10 ms, and a gibibyte that does not change beside it.
  const nn::Sequential model{nn::Conv2D(32, 3, {.activation = relu}),
                             nn::MaxPooling2D(2),
                             nn::Conv2D(64, 3, {.activation = relu}),
                             nn::MaxPooling2D(2),
                             nn::Flatten(),
                             nn::Dense(10)};
  const optimizers::Adam adam(model);
  const auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, model(x));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  });
  const Tensor x = random::uniform({64, 28, 28, 1}, {.seed = 1}), y = zeros({64}, i32);
  const std::vector<Variable> frozen = gibibyte();
  const Checkpoint checkpoint{{"model", model}, {"adam", adam}, {"frozen", frozen}};
  CheckpointManager manager(folder.name(), {.keep = 1});
  step(x, y);
  const auto milliseconds_of = [&](int steps) {
    const double start = now();
    for (int i = 0; i < steps; ++i) keep(step(x, y));
    return 1e3 * (now() - start) / steps;
  };
  int steps = 0;
  const auto saving = [&] {
    // As many steps as a save takes, and the call that begins it.
    const double start = now();
    manager.save(checkpoint);
    const auto saved = std::async(std::launch::async, [&] { manager.wait(); });
    for (steps = 0;
         steps == 0 || saved.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
         ++steps)
      keep(step(x, y));
    return 1e3 * (now() - start) / steps;
  };
  return compare(
      name, "ms",
      {{"weft", saving}, {"without saving", [&] { return milliseconds_of(std::max(steps, 1)); }}},
      session.repeats);
}

} // namespace weft::bench
