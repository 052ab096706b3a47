// The list of benchmarks, and how the peers of a session are started.
#include "Benchmarks.h"

#include "PeerProcess.h"
#include "ShapesOfWork.h"

#include <filesystem>
#include <memory>

namespace weft::bench {

Contender line_server(const std::string &name, std::vector<std::string> command, int threads) {
  auto process = std::make_shared<PeerProcess>(std::move(command), threads);
  return {name, [process] { return process->repeat(); }, [process] { return process->with(); }};
}

std::optional<Contender> Session::libtorch(const std::string &what, int threads_of_peer) const {
  const std::string path = peers + "/torch_eager";
  if (!std::filesystem::exists(path)) return std::nullopt;
  Contender contender = line_server("libtorch", {path, what}, threads_of_peer);
  contender.full_name = [name = contender.full_name, threads_of_peer] {
    return name() + (threads_of_peer == 1 ? ", 1 thread"
                                          : ", " + std::to_string(threads_of_peer) + " threads");
  };
  return contender;
}

std::optional<Contender> Session::python(const std::string &script, const std::string &what) const {
  auto command = python_command(script);
  if (!command) return std::nullopt;
  command->push_back(what);
  return line_server(script, *std::move(command), threads);
}

std::optional<std::vector<std::string>> Session::python_command(const std::string &script) const {
  if (!std::filesystem::exists(peers + "/python.stamp")) return std::nullopt;
  return std::vector{peers + "/bin/python", sources + "/peers/" + script};
}

std::optional<Contender> Session::first_call(const std::string &script) const {
  auto command = python_command(script);
  if (!command) return std::nullopt;
  command->emplace_back("first");
  auto with = std::make_shared<std::string>(script);
  return Contender{script,
                   [command, with, threads = threads] {
                     PeerProcess process(*command, threads);
                     const double value = process.repeat();
                     *with = process.with();
                     return value;
                   },
                   [with] { return *with; }};
}

Contender Session::blas(const std::string &library, int m, int k, int n) const {
  return line_server(library,
                     {program("weft-bench-sgemm"), library, std::to_string(m), std::to_string(k),
                      std::to_string(n)},
                     threads);
}

namespace {

std::vector<Benchmark> core() {
  return {
      {"eager_add8", "an eager add of two tensors of 8 floats", eager_add8},
      {"compiled_call", "a call of a compiled function of two arguments, x + y on 8 floats",
       compiled_call},
      {"chain10_4M", "ten elementwise ops on 4 Mi floats in one function, against a copy",
       chain10_4m},
      {"matmul_512", "a matrix product, 512 x 512 x 512", matmul},
      {"matmul_1024", "a matrix product, 1024 x 1024 x 1024", matmul},
      {"matmul_2048", "a matrix product, 2048 x 2048 x 2048", matmul},
      {"matmul_10x784x512", "a matrix product, 10 x 784 times 784 x 512", matmul},
      {"mlp_train_step_eager", "a training step of a 64-128-10 classifier, with the tape",
       mlp_train_step_eager},
      {"mlp_train_step_compiled", "the same step as a traced function", mlp_train_step_compiled},
      {"compile_mlp_step", "the first call of that function: trace, compile and run",
       compile_mlp_step},
      {"compile_mlp_step_warm", "the same first call with its code in the cache on disk",
       compile_mlp_step_warm},
      {"trace_20k_ops", "the first call of a function of 20,000 ops: trace, compile and run",
       trace_20k_ops},
      {"compiled_call_1", "a call of a compiled function of one argument", compiled_call_k},
      {"compiled_call_2", "a call of a compiled function of two arguments", compiled_call_k},
      {"compiled_call_8", "a call of a compiled function of 8 arguments", compiled_call_k},
      {"compiled_call_64", "a call of a compiled function of 64 arguments", compiled_call_k},
      {"while_scalar", "a turn of a compiled while loop over two scalars", while_scalar},
      {"trace_op", "tracing, per op of a straight line of 2,000", trace_op},
      {"nested_conds_200", "the first call of a function of 200 nested branches", nested_conds_200},
      {"dynamic_shapes_elementwise", "an elementwise function of unknown sizes, against known ones",
       dynamic_shapes_elementwise},
      {"dynamic_shapes_rows", "sums of rows of unknown sizes, against known ones",
       dynamic_shapes_rows},
      {"grad_mlp", "a classifier's loss and its gradient, against the loss alone", grad_mlp},
      {"tape_overhead", "what a tape adds to an eager add of 8 floats", tape_overhead},
      {"scan_reverse", "the gradient of a recurrent cell over 100 steps", scan_reverse},
      {"while_checkpoint_sqrt",
       "the gradient of a loop of 1,000 turns that keeps few states, against all",
       while_checkpoint_sqrt},
      {"differentiate_10k_ops", "the pass weft-differentiate on a line of 10,000 ops",
       differentiate_10k_ops},
      {"start_weft_opt", "weft-opt on a file of one op, the whole process", start_weft_opt},
      {"start_eager_program", "a program that adds two tensors, the whole process",
       start_eager_program},
  };
}

std::vector<Benchmark> shapes() {
  std::vector<Benchmark> list;
  for (const Work &work : works()) {
    list.push_back({work.name, work.what, shape_of_work, work.group, check_shape_of_work});
    list.push_back({work.name + "_eager", "the same, eager", shape_of_work, work.group});
  }
  list.push_back({"reductions_250_compile",
                  "the first call of a function of 250 equal reductions of as many arguments",
                  reductions_250_compile, kShapes});
  list.push_back({"transformer_12_first_call", "the first call of the function transformer_12_step",
                  transformer_12_first_call, kShapes});
  list.push_back({"adam_update_1000x10k",
                  "an eager update of 1,000 parameters of 10,000 elements by Adam, against a copy",
                  adam_update_1000x10k, kShapes});
  list.push_back({"eager_mlp_peak",
                  "the most memory an eager training step of a 1024-1024-10 "
                  "classifier holds, its parameters included",
                  eager_mlp_peak, kShapes});
  list.push_back({"writes_128_compile",
                  "the first call of a function of 128 writes to an array, against a concatenation",
                  writes_128_compile, kShapes});
  list.push_back({"conv_column",
                  "convolution of 1 x 512 x 1 x 256 to 512 channels, 5 x 1, against one axis",
                  conv_column, kShapes});
  list.push_back({"matmul_bf16_1024", "a product of bf16, 1024 x 1024 x 1024, against one of f32",
                  matmul_bf16_1024, kShapes});
  list.push_back({"bf16_add_4M", "a sum of 4 Mi bf16, against a copy", bf16_add_4m, kShapes});
  list.push_back(
      {"bf16_cast_4M", "4 Mi floats cast to bf16, against a copy", bf16_cast_4m, kShapes});
  list.push_back({"u8_scale_4M", "4 Mi bytes to floats in [0, 1], compiled, against a copy",
                  u8_scale_4m, kShapes});
  list.push_back(
      {"busy_matmul_256",
       "products of 256 x 256 beside a busy thread on each processor, against one thread",
       busy_matmul_256, kShapes});
  return list;
}

std::vector<Benchmark> around_training() {
  return {
      {"data_digits", "an epoch over an IDX file: scaled, shuffled, in batches of 32", data_digits,
       kData},
      {"train_from_dataset", "training on that data set, against batches in memory",
       train_from_dataset, kData},
      {"checkpoint_save", "a checkpoint of 1 GiB, against a plain write and fsync", checkpoint_save,
       kData},
      {"checkpoint_restore", "its restore, against a plain read from the page cache",
       checkpoint_restore, kData},
      {"step_while_saving", "a training step while 1 GiB is saved, against one alone",
       step_while_saving, kData},
      {"serve_p99", "99 of 100 requests to weft-serve, against the model and the round trip",
       serve_p99, kData},
  };
}

std::vector<Benchmark> of_python() {
  return {
      {"py_add8", "an eager add of two tensors of 8 floats, in Python", python_row, kPython},
      {"py_tape_add8", "the same while a tape records", python_row, kPython},
      {"py_dlpack", "a tensor on an array of NumPy's memory", python_row, kPython},
      {"py_call_2", "a call of a compiled function of two arguments", python_row, kPython},
      {"py_call_dict64", "a call of a compiled function of a dict of 64 tensors", python_row,
       kPython},
      {"py_trace_20k", "tracing 20,000 ops", python_row, kPython},
      {"py_sum_even", "a compiled loop over 10,000 numbers, with a branch", python_row, kPython},
      {"py_lstm_eager", "an LSTM cell of 10 units on a batch of 10, eager", python_row, kPython},
      {"py_lstm_compiled", "the same of operators, compiled", python_row, kPython},
      {"py_step_eager", "a training step of the network of row S000-4, eager", python_step,
       kPython},
      {"py_step_compiled", "the same step as a traced function", python_step, kPython},
      {"py_import", "python -c 'import weft', the whole process", python_import, kPython},
  };
}

} // namespace

namespace {

std::vector<Benchmark> of_machines() {
  return {
      {"ranks_all_reduce_1K", "an eager all_reduce of 1 KiB of floats by two processes", ranks,
       kMachines},
      {"ranks_all_reduce_4M", "the same of 4 MiB", ranks, kMachines},
      {"ranks_step_32", "a step of train::fit by two processes, a classifier 784-32-32-10", ranks,
       kMachines},
      {"ranks_step_512", "the same of 784-512-512-10", ranks, kMachines},
      {"ranks_wire_2", "an all_reduce of 4 MiB over wires of 500 Mbit/s, against the cost model",
       ranks_wire, kMachines},
      {"ranks_wire_3", "the same by three processes", ranks_wire, kMachines},
      {"ranks_wire_4", "the same by four", ranks_wire, kMachines},
      {"ranks_shard", "gradients of a perceptron 512-2048-512 that is cut over two processes",
       ranks_shard, kMachines},
      {"ranks_four", "a step of four replicas by four processes", ranks_four, kMachines},
      {"ranks_shard_state", "a step of two processes that keep weights and state in parts",
       ranks_shard_state, kMachines},
      {"ranks_overlap", "a step of a deep classifier over a wire of 1 Gbit/s", ranks_overlap,
       kMachines},
  };
}

} // namespace

const std::vector<Benchmark> &benchmarks() {
  static const std::vector<Benchmark> list = [] {
    std::vector<Benchmark> all = core();
    for (const std::vector<Benchmark> &more :
         {shapes(), around_training(), of_python(), gpu_rows(), of_machines()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return list;
}

} // namespace weft::bench
