/* Calls the function that export.cpp wrote, as it did. */
#include "predict.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float x[128], *y;
  int64_t size;
  for (int i = 0; i < 128; ++i) x[i] = (float)i * 0.001F;
  if (predict(x, 2, &y, &size, NULL, 0) != 0) return 1;
  printf("tensor([%.8g, %.8g], shape=(%d,), dtype=f32)\n", y[0], y[1], (int)size);
  free(y);
  return 0;
}
