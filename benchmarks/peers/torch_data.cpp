// libtorch's side of data_digits: epochs of its DataLoader over a data set of bytes in memory.
//
// A line server (docs/benchmarks.md): each line on stdin asks for one epoch, answered by one JSON
// line.
//
//   torch_data batched|examples WORKERS IMAGES LABELS

#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

using torch::Tensor;
using Example = torch::data::Example<>;

constexpr std::int64_t kBatch = 32;

/// The elements of an IDX file of bytes, behind its header.
Tensor read_idx(const std::string &path, std::size_t header, at::IntArrayRef shape) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return torch::from_blob(const_cast<char *>(bytes.data()) + header, shape, torch::kUInt8).clone();
}

struct Digits {
  Tensor images, labels;
};

Tensor scaled(const Tensor &bytes) { return bytes.to(torch::kFloat32).mul_(1 / 255.0); }

/// Whole batches by their indices: libtorch's fastest way.
struct Batched : torch::data::datasets::BatchDataset<Batched, Example> {
  explicit Batched(const Digits &digits) : digits(digits) {}
  Example get_batch(c10::ArrayRef<std::size_t> indices) override {
    std::vector<std::int64_t> list(indices.begin(), indices.end());
    const Tensor at =
        torch::from_blob(list.data(), {static_cast<std::int64_t>(list.size())}, torch::kInt64);
    return {scaled(digits.images.index_select(0, at)),
            digits.labels.index_select(0, at).to(torch::kInt32)};
  }
  torch::optional<std::size_t> size() const override { return digits.images.size(0); }
  Digits digits;
};

/// Element by element, stacked: what the tutorials show.
struct Single : torch::data::datasets::Dataset<Single> {
  explicit Single(const Digits &digits) : digits(digits) {}
  Example get(std::size_t index) override {
    const auto i = static_cast<std::int64_t>(index);
    return {scaled(digits.images[i]), digits.labels[i].to(torch::kInt32)};
  }
  torch::optional<std::size_t> size() const override { return digits.images.size(0); }
  Digits digits;
};

template <class Loader>
void serve(Loader &loader, std::int64_t images) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = std::chrono::steady_clock::now();
    std::int64_t seen = 0;
    for (const Example &batch : *loader) seen += batch.data.size(0);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (seen != images / kBatch * kBatch) std::exit(1);
    std::printf("{\"value\": %.9g, \"unit\": \"img/s\", \"with\": \"libtorch %s DataLoader\"}\n",
                static_cast<double>(seen) / spent.count(), TORCH_VERSION);
    std::fflush(stdout);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 1;
  const std::int64_t images = 60'000;
  const Digits digits{read_idx(argv[3], 16, {images, 28, 28}), read_idx(argv[4], 8, {images})};
  const auto options = torch::data::DataLoaderOptions()
                           .batch_size(kBatch)
                           .workers(std::stoul(argv[2]))
                           .drop_last(true);
  if (std::string(argv[1]) == "batched") {
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Batched(digits), options);
    serve(loader, images);
  } else {
    auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
        Single(digits).map(torch::data::transforms::Stack<>()), options);
    serve(loader, images);
  }
}
