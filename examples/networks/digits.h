// The handwritten digits of examples/digits/data, parted into those to learn and those to test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include <weft/weft.h>

/// Images (n, 8, 8, 1) from 0 to 1, and what they show, (n,), in an order that is always the same.
struct Digits {
  weft::Tensor images, labels, test_images, test_labels;

  /// The program's only argument is the folder.
  Digits(int argc, char **argv) {
    using namespace weft;
    if (argc != 2) {
      std::fprintf(stderr, "usage: %s FOLDER (of the digits: examples/digits/data)\n", argv[0]);
      std::exit(2);
    }
    const std::string folder = argv[1];
    const Tensor all_images = data::read_idx(folder + "/digits-images.idx3-ubyte", {.dtype = f32});
    const Tensor all_labels = data::read_idx(folder + "/digits-labels.idx1-ubyte", {.dtype = i32});
    const Tensor order = random::permutation(all_images.size(0), {.seed = 0});
    const Tensor x = gather(reshape(all_images, {-1, 8, 8, 1}) / 16, order);
    const Tensor y = gather(all_labels, order);
    const std::int64_t train = 1408;
    images = x[slice(0, train)], test_images = x[slice(train, {})];
    labels = y[slice(0, train)], test_labels = y[slice(train, {})];
  }
};
