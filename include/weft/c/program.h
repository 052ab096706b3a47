/* Programs that weft::export_program wrote, loaded and run from C (C99) or C++. Linked with
 * libweft, or with Weft::runtime alone, without libweft and LLVM. docs/export.md has an example.
 * All functions may be called from several threads at once, but for weft_program_close. */
#ifndef WEFT_C_PROGRAM_H
#define WEFT_C_PROGRAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element types, and how many bytes an element has. */
enum {
  WEFT_BOOL = 0,      /* 1: 0 or 1 */
  WEFT_I32 = 1,       /* 4 */
  WEFT_I64 = 2,       /* 8 */
  WEFT_F32 = 3,       /* 4 */
  WEFT_F64 = 4,       /* 8 */
  WEFT_I8 = 5,        /* 1 */
  WEFT_I16 = 6,       /* 2 */
  WEFT_U8 = 7,        /* 1 */
  WEFT_U16 = 8,       /* 2 */
  WEFT_U32 = 9,       /* 4 */
  WEFT_U64 = 10,      /* 8 */
  WEFT_F16 = 11,      /* 2: the bits of IEEE 754 binary16 */
  WEFT_BF16 = 12,     /* 2: the upper half of a float */
  WEFT_C64 = 13,      /* 8: two floats, the real part first */
  WEFT_C128 = 14,     /* 16: two doubles */
  WEFT_F8E4M3FN = 15, /* 1 */
  WEFT_F8E5M2 = 16    /* 1 */
};

/* NOLINTBEGIN(modernize-use-using): C has no other. */

/* A program that is open. */
typedef struct weft_program weft_program;

/* The type of an input or output of an entry; `sizes` lives as long as the program. */
typedef struct weft_type {
  int32_t dtype;
  int32_t rank;
  const int64_t *sizes; /* -1 where any size will do */
} weft_type;

/* What a program is called with: row-major, and only read during the call. */
typedef struct weft_input {
  int32_t dtype;
  int32_t rank;
  const int64_t *sizes;
  const void *data;
} weft_input;

/* What it gives: row-major memory, which weft_outputs_free frees. */
typedef struct weft_output {
  int32_t dtype;
  int32_t rank;
  const int64_t *sizes;
  const void *data;
  void *owner;
} weft_output;

/* NOLINTEND(modernize-use-using) */

/* Functions that can fail write the reason to `message`, cut off after `message_size` bytes with
 * the NUL; it may be NULL. */

/* Opens and checks a file. NULL if it is missing, damaged, or has no code for this processor; with
 * libweft such code is compiled where libweft-compiler is there. A program is code: open none that
 * you would not run. */
weft_program *weft_program_open(const char *path, char *message, int64_t message_size);
/* The same, whose calls run on a device, "gpu:0": inputs and outputs are the host's all the same.
 * NULL also where the device cannot be used. */
weft_program *weft_program_open_on(const char *path, const char *device, char *message,
                                   int64_t message_size);
/* Closes it; no call may still run. Outputs stay good. Nothing happens to NULL. */
void weft_program_close(weft_program *program);

/* Its name, which lives as long as the program. */
const char *weft_program_name(const weft_program *program);
/* In how many ways it can be called. */
int64_t weft_program_entry_count(const weft_program *program);
/* How many inputs and outputs an entry has; -1 if there is no such entry. */
int64_t weft_program_input_count(const weft_program *program, int64_t entry);
int64_t weft_program_output_count(const weft_program *program, int64_t entry);
/* Their types. 0, or 1 if there is no such entry, input or output. */
int32_t weft_program_input_type(const weft_program *program, int64_t entry, int64_t input,
                                weft_type *type);
int32_t weft_program_output_type(const weft_program *program, int64_t entry, int64_t output,
                                 weft_type *type);

/* Runs the entry that fits the inputs, of several the one with the fewest open sizes, and fills the
 * outputs, of which there must be as many as the entry has. 0, or 1 with the reason in `message`
 * and all outputs empty (`owner` and `data` NULL). Variables that the program assigns are the open
 * program's own: each call sees what the last one left. */
int32_t weft_program_run(const weft_program *program, const weft_input *inputs, int64_t input_count,
                         weft_output *outputs, int64_t output_count, char *message,
                         int64_t message_size);
/* Frees outputs, and empties them. */
void weft_outputs_free(weft_output *outputs, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
