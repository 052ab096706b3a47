/* Around the lines of C of docs/gpu.md. */
#include "step.h"

#include <weft/c/gpu.h>

#include <stdio.h>

int main(void) {
  float x[20], result[10] = {0};
  const float w[2] = {1, 10};
  for (int i = 0; i < 20; ++i) x[i] = (float)i;
#include "docs.inc"
  for (int i = 0; i < 10; ++i) printf("%g ", result[i]);
  printf("\n");
  return 0;
}
