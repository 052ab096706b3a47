// What every rank does in tests of programs of several processes: weft-test-ranks PART [ARGUMENT].
// Each prints a line that begins with its rank; RanksTest.cpp reads them.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "Ranks.h"

using namespace weft;
namespace wd = weft::distributed;
using wd::Group, wd::Reduction;
using namespace wd::tests;

namespace {

Group world;
int rank_of_this = 0, ranks = 1;

} // namespace

namespace weft::distributed::tests {

void say(const std::string &text) {
  const std::string line = "rank " + std::to_string(rank_of_this) + ": " + text + "\n";
  if (::write(1, line.data(), line.size()) < 0) std::abort();
}

void want(bool holds, const std::string &what) {
  if (!holds) say("WRONG: " + what);
}

void said(const std::function<void()> &call) {
  try {
    call();
    say("WRONG: no error");
  } catch (const Error &error) {
    say(std::to_string(static_cast<int>(error.kind())) + " " + std::string(error.message()));
  }
}

Tensor values(std::int64_t number, const Shape &shape, DType dtype) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  const Tensor at = arange(count).astype(DType::f64) * 0.37 + static_cast<double>(number) * 1.9;
  Tensor x = sin(at) * 100.0;
  if (dtype == DType::boolean) return (x > 0.0).reshape(Ints(shape.begin(), shape.end()));
  if (!is_inexact(dtype) && !is_storage(dtype)) x = abs(x);
  return cast(x, dtype).reshape(Ints(shape.begin(), shape.end()));
}

} // namespace weft::distributed::tests

namespace {

std::uint64_t digest_of(const Tensor &x) {
  const Tensor dense = x.contiguous();
  const auto *bytes = reinterpret_cast<const unsigned char *>(dense.impl()->data);
  std::uint64_t digest = 1469598103934665603U;
  for (std::size_t i = 0; i < static_cast<std::size_t>(dense.size()) * item_size(dense.dtype());
       ++i)
    digest = (digest ^ bytes[i]) * 1099511628211U;
  return digest;
}

} // namespace

bool wd::tests::equal(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && digest_of(a) == digest_of(b);
}

namespace {

const std::vector<DType> &dtypes() {
  static const auto &all = *new std::vector<DType>{
#define WEFT_DTYPE(enumerator, ...) DType::enumerator,
#include <weft/dtypes.def>
  };
  return all;
}

bool reduces(DType dtype, Reduction reduction) {
  if (is_storage(dtype)) return false;
  if (reduction == Reduction::mean) return is_inexact(dtype);
  if (reduction == Reduction::sum) return dtype != DType::boolean;
  return !is_complex(dtype);
}

/// Sums over a fixed number of replicas, whose bits all worlds have in common.
void bits() {
  for (const std::int64_t replicas : {8, 11})
    for (const DType dtype : dtypes())
      for (const Reduction reduction :
           {Reduction::sum, Reduction::mean, Reduction::max, Reduction::min})
        for (const std::int64_t size : {0, 1, 37, 5003, 300001}) {
          if (!reduces(dtype, reduction)) continue;
          if (size > 40 && (dtype != DType::f32 && dtype != DType::bf16 && dtype != DType::c128))
            continue;
          if (size > 6000 && (dtype != DType::f32 || reduction != Reduction::sum)) continue;
          const auto [begin, end] = world.share(replicas);
          std::vector<Tensor> own;
          for (std::int64_t i = begin; i < end; ++i) own.push_back(values(i, {size}, dtype));
          const Tensor sum = wd::all_reduce_replicas(stack(own), replicas, reduction);
          want(sum.shape() == Shape({size}) && sum.dtype() == dtype, "the type of a sum");
          const std::uint64_t digest = digest_of(sum);
          const Tensor all = wd::all_gather(tensor({static_cast<std::int64_t>(digest >> 1)}));
          for (const std::int64_t other : all.to_vector<std::int64_t>())
            want(other == static_cast<std::int64_t>(digest >> 1), "bits differ between ranks");
          if (rank_of_this == 0)
            say(std::to_string(replicas) + " " + std::string(name_of(dtype)) + " " +
                std::to_string(static_cast<int>(reduction)) + " " + std::to_string(size) + " " +
                std::to_string(digest));
        }
}

/// The tree of one leaf a rank, beside additions by hand.
void sums() {
  for (const std::int64_t size : {3, 5000, 300001}) {
    std::vector<Tensor> level;
    for (int i = 0; i < ranks; ++i) level.push_back(values(i, {size}, DType::f32));
    while (level.size() > 1) {
      std::vector<Tensor> next;
      for (std::size_t i = 0; i < level.size(); i += 2)
        next.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
      level = next;
    }
    const Tensor x = values(rank_of_this, {size}, DType::f32);
    want(equal(wd::all_reduce(x), level[0]), "all_reduce of " + std::to_string(size));
    want(equal(wd::all_reduce(x, Reduction::mean), level[0] / static_cast<float>(ranks)),
         "the mean of " + std::to_string(size));
    const Tensor many = values(rank_of_this, {size, 2 * ranks}, DType::f32);
    const Tensor whole = wd::all_reduce(many);
    const Tensor part = wd::reduce_scatter(many, Reduction::sum, 1);
    want(equal(part, whole[{all, slice(2 * rank_of_this, 2 * rank_of_this + 2)}].contiguous()),
         "reduce_scatter of " + std::to_string(size));
    const Tensor rows = wd::reduce_scatter(transpose(many, {1, 0}), Reduction::max);
    want(rows.shape() == Shape({2, size}), "reduce_scatter of rows");
  }
}

void moves() {
  for (const DType dtype : dtypes())
    for (const std::int64_t size : {1, 6, 9000}) {
      if (size == 9000 && dtype != DType::f32 && dtype != DType::u8 && dtype != DType::c128)
        continue;
      const std::string what = " of " + std::string(name_of(dtype)) + " " + std::to_string(size);
      const auto of = [&](int rank) { return values(rank, {2, size}, dtype); };
      const Tensor x = of(rank_of_this);
      std::vector<Tensor> all;
      for (int i = 0; i < ranks; ++i) all.push_back(of(i));
      want(equal(wd::all_gather(x), concatenate(all, 0)), "all_gather" + what);
      want(equal(wd::all_gather(x, -1), concatenate(all, 1)), "all_gather along 1" + what);
      for (int root = 0; root < ranks; ++root)
        want(equal(wd::broadcast(x, root), all[static_cast<std::size_t>(root)]),
             "broadcast" + what);
      // Part j of rank i is i * 10 + j.
      const auto part = [&](int from, int to) { return values(from * 10 + to, {2, size}, dtype); };
      std::vector<Tensor> out, in;
      for (int i = 0; i < ranks; ++i) {
        out.push_back(part(rank_of_this, i));
        in.push_back(part(i, rank_of_this));
      }
      want(equal(wd::all_to_all(concatenate(out, 1), 1, 0), concatenate(in, 0)),
           "all_to_all" + what);
      std::vector<std::pair<int, int>> ring;
      for (int i = 0; i < ranks; ++i) ring.emplace_back(i, (i + 1) % ranks);
      want(equal(wd::permute(x, ring), of((rank_of_this + ranks - 1) % ranks)), "permute" + what);
      const Tensor shifted = wd::permute(x, {{0, ranks - 1}});
      want(equal(shifted, rank_of_this == ranks - 1 ? of(0) : zeros_like(x)), "a shift" + what);
      wd::barrier();
      if (ranks == 1) continue;
      if (rank_of_this == 0) {
        for (int i = 1; i < ranks; ++i) wd::send(x, i);
        for (int i = 1; i < ranks; ++i) want(equal(wd::recv(i), of(i)), "recv" + what);
      } else {
        want(equal(wd::recv(0), of(0)), "recv" + what);
        wd::send(x, 0);
      }
    }
  // Evens and odds, backwards.
  const Group half = world.split(rank_of_this % 2, -rank_of_this);
  want(half.size() == (ranks + 1 - rank_of_this % 2) / 2, "the size of a part");
  float sum = 0;
  for (int i = rank_of_this % 2; i < ranks; i += 2) sum += static_cast<float>(i);
  want(wd::all_reduce(tensor({static_cast<float>(rank_of_this)}), Reduction::sum, half)
               .item<float>() == sum,
       "the sum of a part");
  want(half.rank() == (half.size() - 1) - rank_of_this / 2, "the rank in a part");
}

/// What ranks do not have in common is an error on all of them, and the next call goes well.
void mismatch() {
  const bool other = rank_of_this == ranks - 1;
  said([&] { wd::all_reduce(ones({other ? 3 : 2})); });
  said([&] { wd::all_reduce(ones({100000 + (other ? 1 : 0)})); });
  said([&] { wd::all_gather(ones({2}, other ? DType::f64 : DType::f32)); });
  said([&] { wd::all_reduce(ones({2}), other ? Reduction::max : Reduction::sum); });
  said([&] { wd::broadcast(ones({2}), other ? 1 : 0); });
  said([&] {
    if (other) wd::barrier();
    else wd::all_gather(ones({2}));
  });
  want(wd::all_reduce(ones({1})).item<float>() == static_cast<float>(ranks), "after errors");
  // What one rank refuses by itself pairs with no later call of it.
  said([&] { wd::broadcast(ones({2}), other ? 99 : 0); });
  want(wd::all_reduce(ones({1})).item<float>() == static_cast<float>(ranks), "after a refusal");
  said([&] { wd::broadcast(ones({2}), 99); });
  want(wd::all_reduce(ones({1})).item<float>() == static_cast<float>(ranks), "after refusals");
  say("goes on");
}

/// The call that a PeerError ends, and when.
void until_peer_error(const std::function<void()> &call) {
  const auto start = std::chrono::steady_clock::now();
  try {
    for (;;) call();
  } catch (const PeerError &error) {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    say("after " + std::to_string(seconds) + " s: " + std::string(error.what()));
    std::exit(3); // after a moment, in which the others write too
  }
}

/// Rank 1 of them dies, stops, throws or ends in the middle of collectives of many elements.
void faults(const std::string &how) {
  const Tensor x = ones({how == "small" ? 10 : 1 << 20});
  if (how == "stop") wd::set_timeout(1);
  wd::barrier();
  if (rank_of_this == 1 % ranks) {
    if (how == "kill" || how == "small" || how == "stop") {
      std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        kill(getpid(), how == "stop" ? SIGSTOP : SIGKILL);
      }).detach();
      for (;;) wd::all_reduce(x);
    }
    for (int i = 0; i < 3; ++i) wd::all_reduce(x);
    if (how == "throw") throw std::runtime_error("the data are damaged");
    return; // early
  }
  until_peer_error([&] { wd::all_reduce(x); });
}

/// A rank that waits for another alone, in the wrong order.
void cycle() {
  wd::set_timeout(2);
  until_peer_error([&] { wd::recv((rank_of_this + 1) % ranks); });
}

void state() {
  const auto said = [&](const std::function<void()> &call) {
    try {
      call();
      say("no error");
    } catch (const StateError &error) {
      say(std::string(error.message()));
    }
  };
  // A second thread.
  if (rank_of_this == 0) {
    std::thread waiting([] { wd::barrier(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    said([] { wd::barrier(); });
    waiting.join();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    wd::barrier();
  }
}

/// A forked child is no rank.
void forked() {
  wd::barrier();
  const pid_t child = fork();
  if (child == 0) {
    try {
      wd::barrier();
      say("no error");
    } catch (const StateError &error) {
      say(std::string(error.message()));
    }
    _Exit(0);
  }
  waitpid(child, nullptr, 0);
  wd::barrier();
}

} // namespace

/// What an MPI library has kept at the end counts as leaks of it, and hides what rank failed.
extern "C" const char *__asan_default_options() { return "detect_leaks=0"; } // NOLINT

int main(int count, char **arguments) {
  const std::string part = count > 1 ? arguments[1] : "", argument = count > 2 ? arguments[2] : "";
  try {
    world = wd::init(part == "init" ? argument : "auto");
  } catch (const Error &error) {
    say(std::to_string(static_cast<int>(error.kind())) + " " + std::string(error.message()));
    return 1;
  }
  rank_of_this = world.rank();
  ranks = world.size();
  if (part == "bits") bits();
  else if (part == "sums") sums();
  else if (part == "moves") moves();
  else if (part == "mismatch") mismatch();
  else if (part == "faults") faults(argument);
  else if (part == "cycle") cycle();
  else if (part == "state") state();
  else if (part == "forked") forked();
  else if (part == "traced") traced();
  else if (part == "derivatives") derivatives();
  else if (part == "mesh") mesh(argument);
  else if (part == "shards") shards();
  else if (part == "programs") programs();
  else if (part == "constants") constants();
  else if (part == "threads") threads();
  else if (part == "training") training(argument);
  else if (part == "overlap") overlap(argument);
  else if (part == "synchronized") synchronized(argument);
  else if (part == "sharding") sharding(argument);
  say("done, of " + std::to_string(ranks));
  return 0;
}
