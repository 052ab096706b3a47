// Calls the function of scaled.mlir and prints what it gives.
#include <stdio.h>

#include "scaled.h"

int main(void) {
  const float x[2] = {1, 2};
  float y[2];
  if (scaled(x, y, NULL, 0) != 0) return 1;
  printf("%g %g\n", y[0], y[1]);
  return 0;
}
