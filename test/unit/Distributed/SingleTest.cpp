// Tests of a world of one, which a program without a launcher has.
#include <gtest/gtest.h>

#include <cstdlib>

#include "../Testing.h"
#include "OpDefs/CollectiveSymbol.h"
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

TEST(Single, IsAGridOfOne) {
  const Mesh mesh({{"data", -1}, {"model", 1}});
  EXPECT_EQ(mesh.shape(), Shape({1, 1}));
  EXPECT_EQ(mesh.axes(), (std::vector<std::string>{"data", "model"}));
  EXPECT_EQ(mesh.coordinate("model"), 0);
  EXPECT_EQ(mesh.size({"data", "model"}), 1);
  EXPECT_EQ(mesh.group("data").size(), 1);
  const Tensor x = tensor({1.F, 2.F});
  EXPECT_EQ(all_gather(x, 0, mesh.group("model")).to_vector<float>(), (std::vector<float>{1, 2}));
}

TEST(Single, RefusesWhatIsNoGrid) {
  EXPECT_THROWS(Mesh({}), ValueError, "Mesh: there is no axis: name one or more, as {\"data\", 1}");
  EXPECT_THROWS(Mesh(std::vector<MeshAxis>(9, {"a", 1})), ValueError,
                "Mesh: there are 9 axes, and at most 8 are wanted");
  EXPECT_THROWS(Mesh({{"", 1}}), ValueError, "Mesh: axis 0 has no name");
  EXPECT_THROWS(Mesh({{"data", 1}, {"data", 1}}), ValueError, "Mesh: axis 'data' is there twice");
  EXPECT_THROWS(Mesh({{"data", 0}}), ValueError,
                "Mesh: axis 'data' has size 0: 1 or more is wanted, or -1 for what is left");
  EXPECT_THROWS(Mesh({{"data", -1}, {"model", -1}}), ValueError,
                "Mesh: the sizes of 'data' and 'model' are -1: one axis may have what is left");
  EXPECT_THROWS(Mesh({{"data", 1}, {"model", 2}}), ValueError,
                "Mesh: data = 1, model = 2 are 2 ranks, and there are 1 ranks: model = 1 would "
                "fit");
  EXPECT_THROWS(Mesh({{"data", 3}, {"model", 2}}), ValueError,
                "Mesh: data = 3, model = 2 are 6 ranks, and there are 1 ranks: sizes of which 1 is "
                "the product would fit, each one of 1");
  EXPECT_THROWS(Mesh({{"data", std::int64_t{1} << 40}, {"model", std::int64_t{1} << 40}}),
                ValueError,
                "Mesh: data = 1099511627776, model = 1099511627776 are too many ranks, and "
                "there are 1 ranks: sizes of which 1 is the product would fit, each one of 1");
  const Mesh mesh({{"data", 1}, {"model", 1}});
  EXPECT_THROWS(mesh.group("modle"), ValueError,
                "group: the mesh has no axis 'modle': it has 'data' and 'model'");
  EXPECT_THROWS(mesh.group({"data", "data"}), ValueError, "group: axis 'data' is there twice");
  EXPECT_THROWS(mesh.group(std::vector<std::string>()), ValueError,
                "group: there is no axis: the mesh has 'data' and 'model'");
  EXPECT_THROWS(mesh.coordinate("x"), ValueError,
                "coordinate: the mesh has no axis 'x': it has 'data' and 'model'");
  EXPECT_THROWS(mesh.size({"data", "x"}), ValueError,
                "size: the mesh has no axis 'x': it has 'data' and 'model'");
  const auto makes = function([](const Tensor &t) {
    const Mesh inner({{"data", 1}});
    return t;
  });
  EXPECT_THROWS(makes(ones({2})), StateError,
                "Mesh: collectives run at once and are no part of traced functions: call it "
                "outside of the function, with what it returns");
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
  expect_x(vary(x));
  expect_x(split(x, Group(), -1));
  expect_x(shard(x, Mesh({{"data", 1}, {"model", 1}}), {{}, {"data", "model"}}));
  expect_x(all_reduce(x, Reduction::sum, {}, /*same=*/true));
  expect_x(all_gather(x, 1, {}, /*same=*/true));
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
  EXPECT_THROWS(split(x, Group(), 2), IndexError,
                "split: axis 2 is out of range for x of shape (2, 3)");
  const Mesh mesh({{"data", 1}, {"model", 1}});
  EXPECT_THROWS(split(x, mesh, 0, "modle"), ValueError,
                "split: group: the mesh has no axis 'modle': it has 'data' and 'model'");
  EXPECT_THROWS(shard(x, mesh, {"data", "modle"}), ValueError,
                "shard: the mesh has no axis 'modle': it has 'data' and 'model'");
  EXPECT_THROWS(shard(x, mesh, {{}, {"model", "data"}}), ValueError,
                "shard: axis 1 is cut over 'data' behind one that comes later in the mesh, or is "
                "the same: the mesh has 'data' and 'model'");
  EXPECT_THROWS(shard(x, mesh, {"data", "data"}), ValueError,
                "shard: 'data' cuts axis 1 of x and one before it");
  EXPECT_THROWS(shard(x, mesh, {{}, {}, "data"}), ValueError,
                "shard: the spec has 3 entries, and x has 2 axes");
  for (const Reduction reduction : {Reduction::mean, Reduction::max, Reduction::min})
    EXPECT_THROWS(all_reduce(x, reduction, {}, /*same=*/true), ValueError,
                  "all_reduce: same is of a sum, and another reduction is asked for: divide a sum "
                  "by the size of the group for a mean, and leave same out of a maximum or a "
                  "minimum");
  EXPECT_THROWS(set_timeout(0), ValueError,
                "set_timeout: seconds is 0: a positive number is wanted");
}

TEST(Single, TracedIsWhatIsDoneAtOnce) {
  const Tensor x = arange(6).reshape({2, 3}).astype(DType::f32);
  const auto traced = function([](const Tensor &t) {
    barrier();
    const Tensor sum = all_reduce(t) + all_gather(t, -1) + reduce_scatter(t, Reduction::mean, 1);
    return permute(broadcast(sum), {{0, 0}}) + all_to_all(t, 0, 1) +
           all_reduce_replicas(t, 2, Reduction::max);
  });
  EXPECT_EQ(traced(x).to_vector<float>(), (std::vector<float>{3, 8, 13, 15, 20, 25}));
  EXPECT_EQ(vmap([](const Tensor &row) { return all_gather(row) * 2.0F; })(x).to_vector<float>(),
            (x * 2.0F).to_vector<float>());
  const auto sends = function([](const Tensor &t) {
    send(t, 1);
    return t;
  });
  EXPECT_THROWS(sends(x), StateError,
                "send: collectives run at once and are no part of traced functions: call it "
                "outside of the function, with what it returns");
  // What is wrong is said when it is traced.
  const auto refuses = [&](const std::function<Tensor(const Tensor &)> &call) {
    return function([call](const Tensor &t) { return call(t); });
  };
  EXPECT_THROWS(refuses([](const Tensor &t) { return broadcast(t, 1); })(x), IndexError,
                "broadcast: root 1 is no rank of a group of 1");
  EXPECT_THROWS(refuses([](const Tensor &t) { return all_gather(t, 2); })(x), IndexError,
                "all_gather: axis 2 is out of range for x of shape (2, 3) (rank 2)");
  EXPECT_THROWS(refuses([](const Tensor &t) { return all_reduce(t > 0.0F); })(x), DTypeError,
                "all_reduce: x must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, "
                "f32, f64, c64, c128), but it is bool(2, 3)");
  EXPECT_THROWS(refuses([](const Tensor &t) { return all_reduce_replicas(t, 0); })(x), ValueError,
                "all_reduce_replicas: replicas is 0 and there are 1 ranks: there must be as many "
                "replicas, or more");
  // What depends on the rank is said when it runs, at the line of the collective.
  const auto three = refuses([](const Tensor &t) { return all_reduce_replicas(t, 3); });
  const int line = __LINE__ - 1;
  try {
    three(x);
    FAIL();
  } catch (const ShapeError &error) {
    EXPECT_EQ(error.message(),
              "all_reduce_replicas: x has the shape (2, 3), and rank 0 has 3 of the 3 replicas, "
              "which stand along the first axis");
    EXPECT_EQ(error.location().line, static_cast<std::uint32_t>(line));
  }
}

TEST(Single, HasDerivatives) {
  const Variable w(ones({2}));
  const auto loss = [&] { return all_reduce(w * w * 2.0F, Reduction::mean).sum(); };
  GradientTape tape;
  const Tensor value = loss();
  EXPECT_EQ(value.item<float>(), 4.0F);
  EXPECT_EQ(tape.gradient(value, w).to_vector<float>(), (std::vector<float>{4, 4}));
  const auto traced = function([](const Tensor &x) {
    return grad([](const Tensor &t) { return (all_reduce(t, Reduction::max) * t).sum(); })(x);
  });
  EXPECT_EQ(traced(tensor({1.0F, 3.0F})).to_vector<float>(), (std::vector<float>{2, 6}));
}

TEST(Single, CountsWhatIsTheSameOnce) {
  const auto traced = function([](const Tensor &x) {
    return grad([](const Tensor &t) {
      return all_reduce((vary(t) * split(t, Group())).sum(), Reduction::sum, {}, true);
    })(x);
  });
  const Tensor x = tensor({1.0F, 3.0F});
  EXPECT_EQ(traced(x).to_vector<float>(), (std::vector<float>{2, 6}));
  // What says that a value varies is gone before code is made.
  EXPECT_NE(traced.ir(x, Phase::trace).find("weft.vary"), std::string::npos);
  EXPECT_EQ(traced.ir(x, Phase::linalg).find("weft.vary"), std::string::npos);
  // What nobody sends, others wait for in reverse.
  const auto branch = function([](const Tensor &t) {
    return cond(t.sum() > 2.0F, [&] { return vary(t); }, [&] { return t; });
  });
  EXPECT_THROW(branch(x), ValueError);
}

TEST(Single, RefusesWhatSomeRanksMightNotComeTo) {
  const Tensor x = ones({3});
  const auto branch = [](const std::function<Tensor(const Tensor &)> &condition) {
    return function([condition](const Tensor &t) {
      return cond(condition(t), [&] { return all_reduce(t); }, [&] { return t; });
    });
  };
  // The error of a call, that of a collective under `construct`.
  const auto refused = [](const std::function<void()> &call, const std::string &construct) {
    const std::string rest =
        "decides whether this rank comes to it, by a value that may differ between ranks, and the "
        "others would wait for ever: let them decide alike, by what all_reduce, all_gather or "
        "broadcast gives, or take the collective out";
    try {
      call();
    } catch (const ValueError &error) {
      const std::string words(error.message());
      const std::string begins = "all_reduce: " + construct + " (SingleTest.cpp:";
      EXPECT_EQ(words.substr(0, begins.size()), begins);
      EXPECT_NE(words.find(rest), std::string::npos) << words;
      EXPECT_TRUE(error.location().known());
      return;
    }
    ADD_FAILURE() << "no ValueError under " << construct;
  };
  const auto varying = branch([](const Tensor &t) { return t.sum() > 2.0F; });
  refused([&] { varying(x); }, "cond");
  EXPECT_EQ(branch([](const Tensor &t) { return all_reduce(t.sum()) > 2.0F; })(x).shape(),
            x.shape());
  EXPECT_EQ(branch([](const Tensor &t) { return broadcast(t.sum() > 2.0F); })(x).shape(),
            x.shape());
  refused([&] { branch([](const Tensor &t) { return permute(t.sum(), {}) > 2.0F; })(x); }, "cond");
  // A variable may hold something else on each rank.
  const Variable flag(full({}, true, DType::boolean));
  refused([&] { branch([&](const Tensor &) { return flag.value(); })(x); }, "cond");
  // Loops, and what they carry.
  const auto counts = function([](const Tensor &n, const Tensor &t) {
    return for_loop(n, [](const Tensor &, const Tensor &y) { return all_reduce(y); }, t);
  });
  refused([&] { counts(tensor(std::int64_t{2}), x); }, "for_loop");
  const auto until = function([](const Tensor &t) {
    return while_loop([](const Tensor &y) { return y.sum() < 100.0F; },
                      [](const Tensor &y) { return y + all_reduce(y); }, t);
  });
  refused([&] { until(x); }, "while_loop");
  const auto agree = function([](const Tensor &t) {
    return while_loop([](const Tensor &y) { return y.sum() < 100.0F; },
                      [](const Tensor &y) { return y + all_reduce(y); }, all_reduce(t));
  });
  EXPECT_GT(agree(x).sum().item<float>(), 100.0F);
  // Through functions, by what they are called with.
  const auto inner = function([](const Tensor &decides, const Tensor &t) {
    return cond(decides > 0.0F, [&] { return all_reduce(t); }, [&] { return t; });
  });
  refused([&] { function([&](const Tensor &t) { return inner(t.sum(), t); })(x); }, "cond");
  EXPECT_EQ(function([&](const Tensor &t) { return inner(all_reduce(t.sum()), t); })(x).shape(),
            x.shape());
  // What no collective is in may be decided by each rank.
  EXPECT_EQ(function([](const Tensor &t) {
              return all_reduce(cond(t.sum() > 2.0F, [&] { return t; }, [&] { return -t; }));
            })(x)
                .shape(),
            x.shape());
}

TEST(Single, NamesOfCallsSayAllOfThem) {
  int found = 0;
  for (const OpInfo &info : all_ops()) {
    if (info.kind != OpKind::collective) continue;
    ++found;
    Attrs attrs;
    for (const AttrInfo &attr : info.attrs)
      if (attr.kind == AttrKind::axes || attr.kind == AttrKind::spatial)
        attrs.push_back(found % 2 == 0 ? Ints() : Ints{3, -1, 7});
      else if (attr.kind == AttrKind::flag) attrs.push_back(true);
      else attrs.push_back(std::int64_t{1} << 40);
    const std::string name = collective_symbol(info.op, attrs);
    const std::optional<CollectiveCall> call = collective_of(name);
    ASSERT_TRUE(call.has_value()) << name;
    EXPECT_EQ(call->op, info.op);
    EXPECT_EQ(collective_symbol(call->op, call->attrs), name);
    EXPECT_FALSE(collective_of(name + " 1")) << name;
    EXPECT_FALSE(collective_of(name.substr(0, name.size() - 1) + "x")) << name;
  }
  EXPECT_EQ(found, 14);
  for (const char *name :
       {"all_gather 0 4 0 0", "weft.all_gather 0 4 0", "weft.add", "weft.nothing 0",
        "weft.permute_ranks [0,1 0", "weft.permute_ranks [,] 0", ""})
    EXPECT_FALSE(collective_of(name)) << name;
}

} // namespace
} // namespace weft::distributed
