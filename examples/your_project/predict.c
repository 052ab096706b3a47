/* A C program that calls the function which weft-compile made of model.mlir. */
#include <stdio.h>

#include "model.h"

int main(void) {
  const float x[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  float w[6] = {1, -1, 2, 0.5F, 0, 3}, b[2] = {0.25F, -0.25F};
  float y[8];
  char message[200];
  if (predict(x, w, b, y, message, sizeof message) != 0) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  for (int i = 0; i < 4; ++i) printf("%g %g\n", y[2 * i], y[2 * i + 1]);
  return 0;
}
