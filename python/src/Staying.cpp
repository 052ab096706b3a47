// How a thread comes to wait where Python would end it: by a cleanup handler that glibc runs before
// it unwinds the first frame.
#include "Staying.h"

#include <memory>

#include <pthread.h>
#include <unistd.h>

namespace weft::python {

#if defined(__GLIBC__) && PY_VERSION_HEX < 0x030e0000

// Part of glibc's ABI, as the first form of pthread_cleanup_push.
extern "C" {
void _pthread_cleanup_push(_pthread_cleanup_buffer *buffer, void (*routine)(void *),
                           void *argument);
void _pthread_cleanup_pop(_pthread_cleanup_buffer *buffer, int execute);
}

static bool python_ends() {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

static void stay(void *) {
  while (python_ends()) pause();
}

namespace {

/// What glibc knows of the thread. It runs handlers whose buffers are in the frames that it leaves,
/// by addresses: one that is in no frame comes first.
class Handler {
public:
  Handler() { _pthread_cleanup_push(buffer_.get(), stay, nullptr); }
  ~Handler() { _pthread_cleanup_pop(buffer_.get(), 0); }
  Handler(const Handler &) = delete;
  Handler &operator=(const Handler &) = delete;

private:
  std::unique_ptr<_pthread_cleanup_buffer> buffer_ = std::make_unique<_pthread_cleanup_buffer>();
};

} // namespace

void let_thread_stay() {
  static const thread_local Handler handler;
  thread_stays = true;
}

#else

void let_thread_stay() { thread_stays = true; }

#endif

} // namespace weft::python
