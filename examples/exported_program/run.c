/* Loads the program that export.cpp wrote, and runs it: without libweft, and without LLVM. */
#include <stdio.h>

#include <weft/c/program.h>

int main(void) {
  const float x[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  char message[500];
  weft_program *program = weft_program_open("predict.weft", message, sizeof message);
  for (int64_t rows = 1; program != NULL && rows <= 4; rows += 3) {
    const int64_t sizes[] = {rows, 3};
    const weft_input input = {WEFT_F32, 2, sizes, x};
    weft_output y;
    if (weft_program_run(program, &input, 1, &y, 1, message, sizeof message) != 0) break;
    const float *values = (const float *)y.data;
    printf("%d rows:", (int)y.sizes[0]);
    for (int64_t i = 0; i < y.sizes[0] * y.sizes[1]; ++i) printf(" %g", values[i]);
    printf("\n");
    weft_outputs_free(&y, 1);
    message[0] = '\0';
  }
  weft_program_close(program);
  if (message[0] != '\0') fprintf(stderr, "%s\n", message);
  return message[0] != '\0';
}
