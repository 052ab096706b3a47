/* Memory of GPUs, for programs that `weft-compile --target=nvptx` compiled, from C (C99) or C++:
 * linked with libweft, or with Weft::runtime alone. docs/gpu.md has an example. All functions may
 * be called from several threads at once. A thread's work on a GPU is in order. */
#ifndef WEFT_C_GPU_H
#define WEFT_C_GPU_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that can fail write the reason to `message`, cut off after `message_size` bytes with
 * the NUL; it may be NULL. `gpu` is a number, 0 for gpu:0. */

/* How many GPUs can be used; if there is none, `message` says why. */
int32_t weft_gpu_count(char *message, int64_t message_size);

/* Memory of a GPU, aligned to 256 bytes. NULL if there is none left, or no such GPU. */
void *weft_gpu_alloc(int32_t gpu, int64_t bytes, char *message, int64_t message_size);
/* Gives it back, once the work that uses it is done. Nothing happens to NULL. */
void weft_gpu_free(int32_t gpu, void *memory);

/* Copies bytes behind the work of this thread so far, from and to memory of that GPU or of the
 * host. What is copied to the host is there when this returns. 0, or 1 if it failed, or work before
 * it. */
int32_t weft_gpu_copy(int32_t gpu, void *to, const void *from, int64_t bytes, char *message,
                      int64_t message_size);

/* Waits for the work of this thread. 0, or 1 if something in it failed. */
int32_t weft_gpu_wait(int32_t gpu, char *message, int64_t message_size);

#ifdef __cplusplus
}
#endif

#endif
