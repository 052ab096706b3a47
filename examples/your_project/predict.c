/* A C program that calls the function which weft-compile made of model.mlir. */
#include <stdio.h>
#include <stdlib.h>

#include "model.h"

int main(void) {
  const float x[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  for (int64_t rows = 1; rows <= 4; rows += 3) {
    float *y;
    int64_t sizes[2];
    char message[200];
    if (predict(x[0], rows, &y, sizes, message, sizeof message) != 0) {
      fprintf(stderr, "%s\n", message);
      return 1;
    }
    printf("%d rows:", (int)sizes[0]);
    for (int64_t i = 0; i < sizes[0] * sizes[1]; ++i) printf(" %g", y[i]);
    printf("\n");
    free(y);
  }
  return 0;
}
