// The table of the shapes of work: what moves, orders, reduces and draws elements.
#include "ShapesOfWork.h"

namespace weft::bench {

namespace {

WorkInput distinct(std::vector<std::int64_t> shape) {
  return {Elements::distinct, std::move(shape)};
}
WorkInput index(std::int64_t count, std::int64_t bound) {
  return {Elements::index, {count}, 0, static_cast<double>(bound)};
}

std::vector<Work> orders() {
  return {
      {"sort_1M",
       "1 Mi numbers in order",
       {uniform({kMi})},
       [](const Tensors &x) -> Tensors { return {sort(x[0])}; }},
      {"sort_1000x1000_axis0",
       "the columns of 1000 x 1000 in order",
       {uniform({1000, 1000})},
       [](const Tensors &x) -> Tensors { return {sort(x[0], {.axis = 0})}; }},
      {"argsort_1M",
       "the order of 1 Mi numbers",
       {distinct({kMi})},
       [](const Tensors &x) -> Tensors { return {argsort(x[0])}; }},
      {"top_k_1M_10",
       "the 10 largest of 1 Mi numbers, and where they are",
       {distinct({kMi})},
       [](const Tensors &x) -> Tensors {
         const auto [values, indices] = top_k(x[0], 10);
         return {values, indices};
       }},
      {"argmax_4M",
       "where the largest of 4 Mi numbers is",
       {distinct({4 * kMi})},
       [](const Tensors &x) -> Tensors { return {argmax(x[0])}; }},
      {"argmax_axis1",
       "where the largest of each row of 2048 x 2048 is",
       {distinct({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {argmax(x[0], {.axis = 1})}; }},
  };
}

std::vector<Work> reductions() {
  return {
      {"sum_axis0",
       "the sums of the columns of 2048 x 2048",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {sum(x[0], {.axes = Ints{0}})}; }},
      {"sum_axis1",
       "the sums of the rows of 2048 x 2048",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {sum(x[0], {.axes = Ints{1}})}; }},
      {"sum_transposed",
       "the sums of the columns of 2048 x 2048, transposed",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {sum(x[0].mT(), {.axes = Ints{0}})}; }},
      {"max_axis0",
       "the largest of each column of 2048 x 2048",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {max(x[0], {.axes = Ints{0}})}; }},
      {"sum_mid",
       "sums over the middle axis of 64 x 256 x 256",
       {uniform({64, 256, 256})},
       [](const Tensors &x) -> Tensors { return {sum(x[0], {.axes = Ints{1}})}; }},
      {"cumsum_4M",
       "running sums of 4 Mi numbers",
       {uniform({4 * kMi})},
       [](const Tensors &x) -> Tensors { return {cumsum(x[0])}; },
       kAllPeers,
       1e-3},
      {"cumsum_rows",
       "running sums of the rows of 2048 x 2048",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {cumsum(x[0], {.axis = 1})}; }},
      {"scatter_add_1M",
       "1 Mi numbers added into 64 Ki places",
       {uniform({kMi}), index(kMi, 64 << 10)},
       [](const Tensors &x) -> Tensors { return {scatter_add(zeros({64 << 10}), x[1], x[0])}; }},
  };
}

std::vector<Work> movements() {
  return {
      {"transpose_2048",
       "2048 x 2048 transposed, as a copy",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {x[0].mT().contiguous()}; }},
      {"add_transposed_2048",
       "a + transposed b, 2048 x 2048 each",
       {uniform({2048, 2048}), uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {x[0] + x[1].mT()}; }},
      {"add_row_of_4",
       "a row of 4 added to each of 262,144",
       {uniform({kMi / 4, 4}), uniform({4})},
       [](const Tensors &x) -> Tensors { return {x[0] + x[1]}; }},
      {"add_column_to_4",
       "a number of its own added to each of 262,144 rows of 4",
       {uniform({kMi / 4, 4}), uniform({kMi / 4, 1})},
       [](const Tensors &x) -> Tensors { return {x[0] + x[1]}; }},
      {"matmul_thin_4",
       "a matrix product, 1024 x 4 x 1024",
       {uniform({1024, 4}), uniform({4, 1024})},
       [](const Tensors &x) -> Tensors { return {matmul(x[0], x[1])}; }},
      {"exp_every_other",
       "exp of every other one of 4 Mi numbers",
       {uniform({4 * kMi})},
       [](const Tensors &x) -> Tensors { return {exp(x[0][{slice({}, {}, 2)}])}; }},
      {"flip_axis1",
       "the rows of 2048 x 2048 reversed, as a copy",
       {uniform({2048, 2048})},
       [](const Tensors &x) -> Tensors { return {reverse(x[0], {.axes = Ints{1}}).contiguous()}; }},
      {"nhwc_nchw",
       "32 x 64 x 64 x 64, channels last to first, as a copy",
       {uniform({32, 64, 64, 64})},
       [](const Tensors &x) -> Tensors { return {transpose(x[0], {0, 3, 1, 2}).contiguous()}; }},
      {"gather_rows",
       "16,384 rows of a table of 100,000 x 64",
       {uniform({100'000, 64}), index(16'384, 100'000)},
       [](const Tensors &x) -> Tensors { return {gather(x[0], x[1])}; }},
      {"take_1M",
       "1 Mi of 1 Mi numbers, by index",
       {uniform({kMi}), index(kMi, kMi)},
       [](const Tensors &x) -> Tensors { return {gather(x[0], x[1])}; }},
      {"concat_narrow",
       "two of 262,144 x 3 side by side",
       {uniform({kMi / 4, 3}), uniform({kMi / 4, 3})},
       [](const Tensors &x) -> Tensors { return {concatenate({x[0], x[1]}, {.axis = 1})}; }},
  };
}

std::vector<Work> draws() {
  return {
      {"normal_1M",
       "1 Mi normally distributed numbers",
       {},
       [](const Tensors &) -> Tensors { return {random::normal({kMi})}; },
       kAllPeers,
       1e-2,
       true},
      {"normal_f64_1M",
       "1 Mi normally distributed numbers in f64",
       {},
       [](const Tensors &) -> Tensors { return {random::normal({kMi}, {.dtype = f64})}; },
       kAllPeers,
       1e-2,
       true},
      {"gamma_1M",
       "1 Mi numbers of the gamma distribution of 2.5",
       {},
       [](const Tensors &) -> Tensors { return {random::gamma(2.5F, {}, {.shape = Sizes{kMi}})}; },
       kAllPeers,
       1e-2,
       true},
      {"gamma_f64_1M",
       "1 Mi numbers of the gamma distribution of 2.5 in f64",
       {},
       [](const Tensors &) -> Tensors {
         return {random::gamma(tensor(2.5), {}, {.shape = Sizes{kMi}})};
       },
       kAllPeers,
       1e-2,
       true},
      {"categorical_1M",
       "128 Ki positions among 8, as likely as softmax says",
       {},
       [](const Tensors &) -> Tensors {
         return {random::categorical(broadcast(iota(f32, {8}) / 4, {kMi / 8, 8}))};
       },
       kAllPeers,
       1e-2,
       true},
      {"uniform_1M",
       "1 Mi random numbers of [0, 1)",
       {},
       [](const Tensors &) -> Tensors { return {random::uniform({kMi})}; },
       kAllPeers,
       1e-2,
       true},
      {"permutation_1M",
       "the numbers below 1 Mi in random order",
       {},
       [](const Tensors &) -> Tensors { return {random::permutation(kMi)}; },
       kAllPeers,
       1e-9,
       true},
  };
}

} // namespace

const std::vector<Work> &works() {
  static const std::vector<Work> all = [] {
    std::vector<Work> list;
    for (std::vector<Work> part : {orders(), reductions(), movements(), draws(), window_works(),
                                   small_programs(), network_works(), function_works()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

} // namespace weft::bench
