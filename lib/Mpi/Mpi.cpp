// The engine of MPI: bytes between the processes that an MPI launcher started.
//
// Messages are non-blocking, of MPI_BYTE, on a duplicate of the world that nobody else knows, so
// that other users of MPI in the process are not disturbed.
#include <algorithm>
#include <string_view>
#include <vector>

#include "Distributed/Engine.h"
#include "Mpi/Library.h"

namespace weft::mpi {

namespace {

using distributed::Engine;
using distributed::Message;
using distributed::Opened;

class MpiEngine final : public Engine {
public:
  explicit MpiEngine(Library &library) : mpi_(library) {}

  /// Starts MPI unless somebody has. Says what is wrong otherwise.
  std::string start_up() {
    int initialized = 0, finalized = 0;
    mpi_.Finalized(&finalized);
    if (finalized != 0) return "it has been finalized in this process already";
    mpi_.Initialized(&initialized);
    int provided = 0;
    if (initialized == 0) {
      if (!succeeds(mpi_.Init_thread(nullptr, nullptr, mpi_.constants.serialized, &provided)))
        return failed_;
      owns_ = true;
    } else {
      mpi_.Query_thread(&provided);
    }
    if (provided < mpi_.constants.serialized)
      return "it was initialized for one thread alone: MPI_THREAD_SERIALIZED is needed";
    if (!succeeds(mpi_.Comm_dup(mpi_.constants.world, &world_))) return failed_;
    mpi_.Comm_set_errhandler(world_, mpi_.constants.errors_return);
    if (!succeeds(mpi_.Comm_rank(world_, &rank_)) || !succeeds(mpi_.Comm_size(world_, &size_)))
      return failed_;
    void *bound = nullptr;
    int found = 0;
    if (succeeds(mpi_.Comm_get_attr(world_, mpi_.constants.tag_bound, static_cast<void *>(&bound),
                                    &found)) &&
        found != 0 && bound != nullptr)
      most_tag_ = *static_cast<int *>(bound);
    name_ = version() + " (" + mpi_.file + ")";
    return {};
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const std::string &name() const override { return name_; }
  int most_tag() const override { return most_tag_; }
  const std::string &failed() const override { return failed_; }

  bool start(Message &message) override {
    const int count = static_cast<int>(message.bytes);
    message.request = 0;
    message.done = false;
    return succeeds(message.sends
                        ? mpi_.Isend(message.data, count, mpi_.constants.byte, message.peer,
                                     message.tag, world_, &message.request)
                        : mpi_.Irecv(message.data, count, mpi_.constants.byte, message.peer,
                                     message.tag, world_, &message.request));
  }
  bool test(Message &message) override {
    int done = 0;
    if (!succeeds(mpi_.Test(&message.request, &done, mpi_.constants.ignored_status))) return false;
    message.done = done != 0;
    return true;
  }
  void progress() override {
    // Whoever started MPI may have ended it.
    int found = 0, finalized = 0;
    mpi_.Finalized(&finalized);
    if (finalized != 0) return;
    mpi_.Iprobe(mpi_.constants.any_source, mpi_.constants.any_tag, world_, &found,
                mpi_.constants.ignored_status);
  }
  bool gather(const void *own, void *all, std::size_t bytes) override {
    const int count = static_cast<int>(bytes);
    return succeeds(
        mpi_.Allgather(own, count, mpi_.constants.byte, all, count, mpi_.constants.byte, world_));
  }
  void close() override {
    int finalized = 0;
    mpi_.Finalized(&finalized);
    if (owns_ && finalized == 0) mpi_.Finalize();
  }

private:
  bool succeeds(int code) {
    if (code == 0) return true;
    char text[8192] = {};
    int length = 0;
    mpi_.Error_string(code, text, &length);
    failed_ = text;
    return false;
  }
  /// "Open MPI v4.1.4" of "Open MPI v4.1.4, package: Debian OpenMPI, ..", "MPICH 5.0.2" of "MPICH
  /// Version:      5.0.2" and other lines.
  std::string version() const {
    std::vector<char> text(8192);
    int length = 0;
    mpi_.Get_library_version(text.data(), &length);
    std::string_view rest = text.data();
    rest = rest.substr(0, rest.find_first_of(",\n"));
    std::string line;
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      if (!word.empty() && word != "Version:")
        line += (line.empty() ? "" : " ") + std::string(word);
    }
    return line;
  }

  Library &mpi_;
  Handle world_ = 0;
  bool owns_ = false;
  int rank_ = 0, size_ = 1, most_tag_ = 32767;
  std::string name_, failed_;
};

} // namespace

} // namespace weft::mpi

extern "C" __attribute__((visibility("default"))) weft::distributed::Opened *
weft_distributed_engine(int version, const char *const *libraries) {
  using namespace weft::mpi;
  if (version != weft::distributed::kEngineVersion) return nullptr;
  auto *opened = new weft::distributed::Opened;
  for (; *libraries != nullptr; ++libraries) {
    std::string why;
    std::unique_ptr<Library> library = open_library(*libraries, why);
    if (library != nullptr) {
      auto *engine = new MpiEngine(*library.release());
      why = engine->start_up();
      if (why.empty()) {
        opened->engine = engine;
        return opened;
      }
      why = std::string(*libraries) + ": " + why;
      opened->tried += "\n  " + why;
      return opened; // a second MPI in one process would disturb the first
    }
    opened->tried += "\n  " + why;
  }
  return opened;
}
