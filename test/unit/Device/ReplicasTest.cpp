// Replicas of one process on several GPUs: their variables, and steps that the devices make at
// once.
#include "OnGpu.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "Runtime/ReplicaVariables.h"
#include <weft/train/fit.h>
#include <weft/weft.h>

namespace weft::device {
namespace {

TEST(Replicas, WriteApartAndReadCopiesOnTheirDevice) {
  on_gpu("devices=2,stress", [] {
    const DeviceScope home("gpu:0");
    const Variable weight(tensor({1.F, 2.F}), "weight"), count(tensor({10.F}), "count");
    ReplicaVariables replica(Device("gpu:1"));
    Tensor copy;
    {
      const ReplicaVariables::Scope scope(&replica);
      copy = weight.value();
      EXPECT_EQ(copy.device(), "gpu:1");
      EXPECT_EQ(weight.state()->device(), "gpu:1");
      EXPECT_EQ(weight.value().impl(), copy.impl()) << "a copy is kept";
      count.assign_add(5.F);
      EXPECT_EQ(count.value().device(), "gpu:1");
      EXPECT_EQ(count.value().to_vector<float>(), (std::vector{15.F}));
    }
    EXPECT_EQ(weight.state()->device(), "gpu:0");
    EXPECT_EQ(count.value().to_vector<float>(), (std::vector{10.F}));
    ASSERT_EQ(replica.entries().size(), 1U);
    EXPECT_EQ(replica.entries()[0].own->load().to_vector<float>(), (std::vector{15.F}));
    weight.assign(tensor({3.F, 4.F}));
    const ReplicaVariables::Scope scope(&replica);
    EXPECT_EQ(weight.value().to_vector<float>(), (std::vector{3.F, 4.F})) << "the copy was old";
    EXPECT_EQ(copy.to_vector<float>(), (std::vector{1.F, 2.F}));
    EXPECT_EQ(count.value().to_vector<float>(), (std::vector{15.F}));
  });
}

TEST(Replicas, OfThreadsKnowNothingOfEachOther) {
  const Variable count(0, "count");
  const auto add = [&](std::int64_t times, ReplicaVariables &replica) {
    const ReplicaVariables::Scope scope(&replica);
    const auto step = function([&](const Tensor &x) { count.assign_add(cast(x, DType::i32)); });
    for (std::int64_t i = 0; i < times; ++i)
      if (i % 2 == 0) step(tensor(1));
      else count.assign_add(1);
  };
  ReplicaVariables first, second;
  std::thread other([&] { add(30, second); });
  add(20, first);
  other.join();
  EXPECT_EQ(count.value().item<int>(), 0);
  EXPECT_EQ(first.find(*count.state())->load().item<int>(), 20);
  EXPECT_EQ(second.find(*count.state())->load().item<int>(), 30);
}

template <bool synchronized>
struct Net {
  nn::Dense hidden{16, {.activation = tanh}};
  nn::BatchNorm norm{{.synchronized = synchronized}};
  nn::Dropout dropout{0.5};
  nn::Dense out{3};
  WEFT_FIELDS(Net, hidden, norm, dropout, out)

  Tensor operator()(const Tensor &x, const nn::CallOptions &options = {}) const {
    return out(dropout(norm(hidden(x), options), options));
  }
};

/// The weights and the history of a run, and the device of the first weight behind it.
struct Result {
  std::vector<std::vector<float>> weights;
  train::History history;
  Device device;
};

template <bool synchronized = false>
Result trained(std::int64_t replicas, const std::vector<Device> &devices, bool compile,
               Device home) {
  random::set_seed(7);
  const auto x = random::normal({50, 4}, {.seed = 1});
  const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
  std::optional<DeviceScope> there;
  there.emplace(home);
  const Net<synchronized> net;
  nn::seed(net, 3);
  static_cast<void>(net(zeros({2, 4})));
  const optimizers::Adam adam(net, {.learning_rate = 0.01});
  there.reset();
  Result result;
  result.history = train::fit(net, data::from_tensors(x, y).batch(8), // the last has two rows
                              {.optimizer = adam,
                               .loss = losses::softmax_cross_entropy,
                               .metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}},
                               .epochs = 2,
                               .validation = data::from_tensors(x, y).batch(25),
                               .parallel = {.replicas = replicas, .devices = devices},
                               .compile = compile,
                               .progress = false});
  for (const Variable &variable : nn::variables(net))
    result.weights.push_back(variable.value().to_vector<float>());
  result.device = nn::variables(net).front().state()->device();
  return result;
}

void same(const Result &of, const Result &as) {
  EXPECT_EQ(of.weights, as.weights);
  EXPECT_EQ(of.history, as.history);
  EXPECT_EQ(of.device, as.device);
}

TEST(Replicas, MeetOnTwoDevices) {
  on_gpu("devices=2", [] {
    for (const bool compile : {true, false})
      same(trained<true>(4, {"gpu:0", "gpu:1"}, compile, "gpu:0"),
           trained<true>(4, {"gpu:0"}, compile, "gpu:0"));
  });
}

TEST(Replicas, OnTwoDevicesHaveTheBitsOfOne) {
  for (const bool compile : {true, false})
    on_gpu("devices=2,stress", [&] {
      const std::int64_t replicas = compile ? 5 : 2;
      const Result one = trained(replicas, {}, compile, "gpu:0");
      EXPECT_EQ(one.device, "gpu:0");
      same(trained(replicas, {"gpu:0", "gpu:1"}, compile, "gpu:0"), one);
      same(trained(replicas, {"gpu:1", "gpu:0"}, compile, "gpu:0"), one);
    });
}

/// Steps behind the first have both replicas inside of their loss at one time.
TEST(Replicas, ComputeAtOnce) {
  on_gpu("devices=2", [] {
    std::mutex mutex;
    std::condition_variable came;
    int calls = 0, inside = 0, met = 0;
    const auto meet = [&](const Tensor &) {
      std::unique_lock lock(mutex);
      if (++calls <= 2) return; // of the first step, which is traced
      ++inside;
      came.notify_all();
      if (came.wait_for(lock, std::chrono::seconds(5), [&] { return inside % 2 == 0; })) ++met;
    };
    const DeviceScope home("gpu:0");
    const nn::Dense net(3);
    static_cast<void>(net(zeros({2, 4})));
    const auto data = data::from_tensors(ones({32, 4}), zeros({32}, DType::i64)).batch(8);
    train::fit(net, data,
               {.optimizer = optimizers::SGD(net, {.learning_rate = 0.1}),
                .loss =
                    [&](const Tensor &y, const Tensor &predictions) {
                      host_call(meet, {}, stop_gradient(predictions));
                      return losses::softmax_cross_entropy(y, predictions);
                    },
                .parallel = {.devices = {"gpu:0", "gpu:1"}},
                .progress = false});
    EXPECT_EQ(calls, 8);
    EXPECT_EQ(met, 6);
  });
}

TEST(Replicas, OfGpusLeaveAModelWhereItIs) {
  on_gpu("devices=2", [] {
    const Result result = trained(2, {"gpu:0", "gpu:1"}, true, "cpu");
    EXPECT_EQ(result.device, "cpu");
    EXPECT_NEAR(result.history.last("loss"), trained(2, {}, true, "cpu").history.last("loss"),
                1e-3);
  });
}

} // namespace
} // namespace weft::device
