// Tests of a world of one, which a program without a launcher has.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../Testing.h"
#include <weft/weft.h>

namespace weft::distributed {
namespace {

TEST(Single, IsAWorldOfOne) {
  const Group world = init();
  EXPECT_EQ(world.rank(), 0);
  EXPECT_EQ(world.size(), 1);
  EXPECT_EQ(world.share(5), std::pair(std::int64_t{0}, std::int64_t{5}));
  EXPECT_EQ(init("single").size(), 1);
  EXPECT_EQ(world.split(3).size(), 1);
  EXPECT_THROWS(init("carrier pigeons"), ValueError,
                "init: there is no engine 'carrier pigeons': \"auto\", \"single\" and \"mpi\" are "
                "known");
  EXPECT_THROWS(init("mpi"), StateError,
                "init: the world is that of single already, and a program has one world: ask for "
                "an engine before the first collective");
  EXPECT_THROWS(world.split(-1), ValueError, "split: color is -1: numbers from 0 on are wanted");
}

TEST(Single, CollectivesHaveNoPlaceInCallbacks) {
  const Tensor x = tensor({1.F, 2.F});
  const auto words = [](const auto &call) {
    try {
      call();
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::state);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string why = ", which other ranks need not be in: call it outside";
  const auto reduce = [](const Tensor &y) { return all_reduce(y); };
  const std::string called =
      words([&] { host_call(reduce, {.results = {spec(DType::f32, {2})}}, x); });
  EXPECT_NE(called.find("all_reduce: it is called in a host call" + why), std::string::npos)
      << called;
  const std::string mapped = words([&] {
    for (const Tensor &element : data::from_tensors(x).map(reduce)) static_cast<void>(element);
  });
  EXPECT_NE(mapped.find("all_reduce: it is called in a function of a data set" + why),
            std::string::npos)
      << mapped;
}

TEST(Single, CollectivesGiveTheirOperand) {
  const Tensor x = arange(6).reshape({2, 3}).astype(DType::f32);
  const auto expect_x = [&](const Tensor &y) {
    EXPECT_EQ(y.shape(), x.shape());
    EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  };
  for (const Reduction reduction :
       {Reduction::sum, Reduction::mean, Reduction::max, Reduction::min}) {
    expect_x(all_reduce(x, reduction));
    expect_x(reduce_scatter(x, reduction, 1));
  }
  expect_x(all_gather(x, -1));
  expect_x(all_to_all(x, 0, 1));
  expect_x(broadcast(x));
  expect_x(permute(x, {{0, 0}}));
  EXPECT_EQ(permute(x, {}).to_vector<float>(), std::vector<float>(6, 0.0F));
  barrier();
  EXPECT_EQ(all_reduce_replicas(x, 2).to_vector<float>(), (std::vector<float>{3, 5, 7}));
  EXPECT_EQ(all_reduce_replicas(x, 2, Reduction::mean).to_vector<float>(),
            (std::vector<float>{1.5, 2.5, 3.5}));
  EXPECT_EQ(all_reduce_replicas(x, 2, Reduction::min).to_vector<float>(),
            (std::vector<float>{0, 1, 2}));
}

TEST(Single, RefusesWhatIsWrongAsAnyWorldDoes) {
  const Tensor x = ones({2, 3});
  EXPECT_THROWS(broadcast(x, 1), IndexError, "broadcast: root 1 is no rank of a group of 1");
  EXPECT_THROWS(broadcast(x, -1), IndexError, "broadcast: root -1 is no rank of a group of 1");
  EXPECT_THROWS(send(x, 0), IndexError, "send: rank 0 is this rank itself");
  EXPECT_THROWS(recv(0), IndexError, "recv: rank 0 is this rank itself");
  EXPECT_THROWS(recv(2), IndexError, "recv: from 2 is no rank of a group of 1");
  EXPECT_THROWS(permute(x, {{0, 0}, {0, 0}}), ValueError, "permute: rank 0 sends twice in pairs");
  EXPECT_THROWS(permute(x, {{0, 1}}), IndexError,
                "permute: pairs has 1 is no rank of a group of 1");
  EXPECT_THROWS(all_gather(x, 2), IndexError,
                "all_gather: axis 2 is out of range for x of shape (2, 3)");
  EXPECT_THROWS(all_gather(tensor(1.0F)), IndexError,
                "all_gather: axis 0 is out of range for x of shape (): a scalar has no axis, "
                "reshape it to (1,)");
  EXPECT_THROWS(all_reduce(tensor({true})), DTypeError,
                "all_reduce: bools have no sum: cast them to integers, or ask for the maximum "
                "(any) or the minimum (all)");
  EXPECT_THROWS(all_reduce_replicas(x, 0), ValueError,
                "all_reduce_replicas: replicas is 0 and there are 1 ranks: there must be as many "
                "replicas, or more");
  EXPECT_THROWS(all_reduce_replicas(x, 3), ShapeError,
                "all_reduce_replicas: x has the shape (2, 3), and rank 0 has 3 of the 3 replicas, "
                "which stand along the first axis");
  EXPECT_THROWS(set_timeout(0), ValueError,
                "set_timeout: seconds is 0: a positive number is wanted");
}

TEST(Single, RunsAtOnceAndHasNoDerivative) {
  const auto traced = function([](const Tensor &x) { return all_reduce(x); });
  EXPECT_THROWS(traced(ones({2})), StateError,
                "all_reduce: collectives run at once and are no part of traced functions: call it "
                "outside of the function, with what it returns");
  const auto waits = function([](const Tensor &x) {
    barrier();
    return x;
  });
  EXPECT_THROWS(waits(ones({2})), StateError,
                "barrier: collectives run at once and are no part of traced functions: call it "
                "outside of the function, with what it returns");
  // Of a batch every member has a collective of its own.
  const auto each = vmap([](const Tensor &row) { return all_reduce(row) * 2.0F; });
  EXPECT_EQ(each(ones({2, 3})).to_vector<float>(), std::vector<float>(6, 2.0F));
  const Variable w(ones({2}));
  const auto loss = [&] { return all_reduce(w * 2.0F).sum(); };
  GradientTape tape;
  const Tensor value = loss();
  EXPECT_EQ(value.item<float>(), 4.0F);
  EXPECT_THROWS(tape.gradient(value, w), StateError,
                "all_reduce has no derivative yet: take gradients on each rank, and reduce those");
}

} // namespace
} // namespace weft::distributed
