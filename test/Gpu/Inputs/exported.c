/* Runs an exported program on the device that is named, without libweft. */
#include <stdio.h>

#include <weft/c/program.h>

int main(int argc, char **argv) {
  const float x[3] = {1, 2, 3};
  const int64_t sizes[] = {1, 3};
  char message[500] = "";
  weft_program *program =
      weft_program_open_on(argv[1], argc > 2 ? argv[2] : "gpu:0", message, sizeof message);
  for (int i = 0; program != NULL && i < 2; ++i) {
    const weft_input input = {WEFT_F32, 2, sizes, x};
    weft_output outputs[2];
    if (weft_program_run(program, &input, 1, outputs, 2, message, sizeof message) != 0) break;
    const float *y = (const float *)outputs[0].data;
    printf("%g %g, call %d\n", y[0], y[1], (int)*(const int64_t *)outputs[1].data);
    weft_outputs_free(outputs, 2);
  }
  weft_program_close(program);
  if (message[0] != '\0') printf("%s\n", message);
  return 0;
}
