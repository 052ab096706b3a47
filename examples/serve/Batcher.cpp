// The queue of requests, the choice of a batch, and its run.
#include "Batcher.h"

#include <algorithm>
#include <limits>

namespace serve {

using weft::Tensor;
using weft::TensorType;

/// A request on the stack of the thread that waits for it. While it is in the queue that thread may
/// take it out; once it runs, the thread waits for its end.
struct Batcher::Request {
  enum class State : std::uint8_t { waiting, running, done };

  const std::vector<Tensor> &inputs;
  std::vector<TensorType> types = {};
  std::int64_t rows = 0;
  Clock::time_point arrival = Clock::now();
  State state = State::waiting;
  std::vector<Tensor> outputs = {};
  std::exception_ptr error = nullptr;
  std::condition_variable changed = {};

  explicit Request(const std::vector<Tensor> &inputs) : inputs(inputs) {
    for (const Tensor &input : inputs) types.push_back(input.type());
    rows = types.front().shape[0];
    for (TensorType &type : types) type.shape[0] = weft::unknown; // requests of equal types mix
  }
};

namespace {

bool fits(const TensorType &type, const TensorType &taken) {
  if (type.dtype != taken.dtype || type.shape.size() != taken.shape.size()) return false;
  for (std::size_t i = 1; i < type.shape.size(); ++i)
    if (taken.shape[i] != weft::unknown && taken.shape[i] != type.shape[i]) return false;
  return true;
}

bool fits(const std::vector<TensorType> &types, const Entry &entry) {
  return std::ranges::equal(types, entry.inputs,
                            [](const auto &type, const auto &taken) { return fits(type, taken); });
}

/// "f32(?, 28, 28, 1)", or "f32(?, 16) or f32(?, 32)": what the entries take for an input.
std::string taken_for(const Model &model, std::size_t input) {
  std::vector<std::string> texts;
  for (const Entry &entry : model.entries) {
    if (input >= entry.inputs.size()) continue;
    const std::string text = type_of_rows(entry.inputs[input]);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  std::string all;
  for (const std::string &text : texts) all += (all.empty() ? "" : " or ") + text;
  return all;
}

void check_options(const BatcherOptions &options) {
  if (options.max_batch < 1 || options.parallel_batches < 1 || options.max_queue < 1 ||
      options.queue_timeout.count() < 1 || options.max_queue_delay.count() < 0)
    throw weft::ValueError(
        "the largest batch, the parallel batches, the length of the queue and its timeout "
        "must be 1 or more, and the delay 0 or more");
}

} // namespace

Batcher::Batcher(Model model, const BatcherOptions &options, Observer observe)
    : model_(std::move(model)), options_(options), observe_(std::move(observe)) {
  check_model(model_);
  check_options(options_);
  for (int i = 0; i < options_.parallel_batches; ++i) workers_.emplace_back([this] { work(); });
}

void Batcher::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread &worker : workers_) worker.join();
  workers_.clear();
}

std::size_t Batcher::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

std::int64_t Batcher::most_rows(const std::vector<TensorType> &types) const {
  std::int64_t largest = 0;
  for (const Entry &entry : model_.entries) {
    if (!fits(types, entry)) continue;
    if (entry.batch() == weft::unknown) return options_.max_batch;
    largest = std::max(largest, entry.batch());
  }
  return std::min(largest, options_.max_batch);
}

/// The rows that a batch of that many is filled up to: none more where an entry takes just them or
/// any number, else those of the next larger entry.
std::int64_t Batcher::size_for(const std::vector<TensorType> &types, std::int64_t rows) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const Entry &entry : model_.entries) {
    if (!fits(types, entry)) continue;
    if (entry.batch() == weft::unknown) return rows;
    if (entry.batch() >= rows) next = std::min(next, entry.batch());
  }
  return next;
}

void Batcher::check(const std::vector<Tensor> &inputs) const {
  const std::size_t wanted = model_.entries.front().inputs.size();
  if (inputs.empty() || std::ranges::none_of(model_.entries, [&](const Entry &entry) {
        return entry.inputs.size() == inputs.size();
      }))
    throw RequestError(400, "the request has " + std::to_string(inputs.size()) +
                                " inputs and the program takes " + std::to_string(wanted));
  if (inputs.front().rank() > 0 && inputs.front().size(0) == 0)
    throw RequestError(400, "the request has no rows");
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    types.push_back(inputs[i].type());
    const bool taken = std::ranges::any_of(model_.entries, [&](const Entry &entry) {
      return i < entry.inputs.size() && fits(types[i], entry.inputs[i]);
    });
    if (!taken || types[i].shape.empty())
      throw RequestError(400, "input " + std::to_string(i) + " is " + to_string(types[i]) +
                                  "; the program takes " + taken_for(model_, i));
  }
  const std::int64_t rows = types.front().shape[0], most = most_rows(types);
  for (std::size_t i = 1; i < types.size(); ++i)
    if (types[i].shape[0] != rows)
      throw RequestError(400, "input 0 has " + std::to_string(rows) + " rows and input " +
                                  std::to_string(i) + " has " + std::to_string(types[i].shape[0]));
  if (most == 0)
    throw RequestError(400, "no entry of the program takes inputs of these shapes together");
  if (rows > most)
    throw RequestError(400, "the request has " + std::to_string(rows) + " rows; it may have 1 to " +
                                std::to_string(most));
}

std::vector<Tensor> Batcher::run(const std::vector<Tensor> &inputs) {
  check(inputs); // here, so that it never costs others their batch
  Request request(inputs);
  std::unique_lock lock(mutex_);
  if (stopping_) throw RequestError(503, "the server is stopping");
  if (queue_.size() >= options_.max_queue)
    throw RequestError(503, "the queue is full: " + std::to_string(queue_.size()) +
                                " requests are waiting");
  queue_.push_back(&request);
  work_.notify_one();
  const auto deadline = request.arrival + options_.queue_timeout;
  while (request.state == Request::State::waiting) {
    if (request.changed.wait_until(lock, deadline) == std::cv_status::no_timeout) continue;
    if (request.state != Request::State::waiting) break;
    std::erase(queue_, &request);
    throw RequestError(504, "no batch began within " +
                                std::to_string(options_.queue_timeout.count()) + " ms");
  }
  request.changed.wait(lock, [&] { return request.state == Request::State::done; });
  if (request.error) std::rethrow_exception(request.error);
  return std::move(request.outputs);
}

void Batcher::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    wait_for_more(lock);
    if (queue_.empty()) {
      if (stopping_) return;
      continue; // those that waited have given up, or another worker has them
    }
    const std::vector<Request *> batch = take_batch();
    if (!queue_.empty()) work_.notify_one(); // of other shapes, or too many
    lock.unlock();
    answer(batch);
    lock.lock();
    for (Request *request : batch) {
      request->state = Request::State::done;
      request->changed.notify_one();
    }
  }
}

void Batcher::wait_for_more(std::unique_lock<std::mutex> &lock) {
  if (options_.max_queue_delay.count() == 0) return;
  while (!queue_.empty() && !stopping_ && rows_like_first() < most_rows(queue_.front()->types)) {
    const auto end = queue_.front()->arrival + options_.max_queue_delay;
    if (Clock::now() >= end) return;
    work_.wait_until(lock, end);
  }
}

std::int64_t Batcher::rows_like_first() const {
  std::int64_t rows = 0;
  for (const Request *request : queue_)
    if (request->types == queue_.front()->types) rows += request->rows;
  return rows;
}

/// The oldest request and those like it that arrived next, as many as go into a batch.
std::vector<Batcher::Request *> Batcher::take_batch() {
  const std::vector<TensorType> &types = queue_.front()->types;
  const std::int64_t most = most_rows(types);
  std::vector<Request *> batch;
  std::deque<Request *> left;
  std::int64_t rows = 0;
  bool full = false;
  for (Request *request : queue_) {
    const bool alike = request->types == types;
    full |= alike && rows + request->rows > most; // nobody behind it goes first
    if (alike && !full) {
      rows += request->rows;
      request->state = Request::State::running;
      batch.push_back(request);
    } else {
      left.push_back(request);
    }
  }
  queue_.swap(left);
  return batch;
}

/// A batch that fails is run again request by request, so that each has its own error.
void Batcher::answer(const std::vector<Request *> &batch) {
  try {
    run_batch(batch);
  } catch (...) {
    if (batch.size() == 1) batch.front()->error = std::current_exception();
    else
      for (Request *request : batch) answer({request});
  }
}

void Batcher::run_batch(const std::vector<Request *> &batch) {
  const Request &first = *batch.front();
  std::int64_t rows = 0;
  for (const Request *request : batch) rows += request->rows;
  const std::int64_t size = size_for(first.types, rows);
  std::vector<Tensor> inputs = first.inputs;
  if (batch.size() > 1 || size > rows)
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<Tensor> parts;
      for (const Request *request : batch) parts.push_back(request->inputs[i]);
      // A row that was asked for is valid whatever the program does to it; zeros might not be.
      for (std::int64_t row = rows; row < size; ++row)
        parts.push_back(first.inputs[i][weft::slice(0, 1)]);
      inputs[i] = weft::concatenate(parts);
    }
  const Clock::time_point start = Clock::now();
  const std::vector<Tensor> outputs = model_.run(inputs);
  if (observe_)
    observe_({rows, size - rows, std::chrono::duration<double>(Clock::now() - start).count()});
  for (const Tensor &output : outputs)
    if (output.rank() == 0 || output.size(0) != size)
      throw weft::ShapeError("the program gave " + to_string(output.type()) + " for a batch of " +
                             std::to_string(size));
  std::int64_t at = 0;
  for (Request *request : batch) {
    request->outputs.clear();
    for (const Tensor &output : outputs)
      request->outputs.push_back(
          request->rows == size ? output : output[weft::slice(at, at + request->rows)]);
    at += request->rows;
  }
}

} // namespace serve
