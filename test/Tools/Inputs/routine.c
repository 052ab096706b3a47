/* Calls a step that factors a matrix, with one that has no factors. */
#include <stdio.h>

#include "routine.h"

int main(void) {
  const float well[4] = {4, 2, 2, 5}, bad[4] = {4, 0, 0, -1};
  const int32_t one = 1;
  float w[4] = {0};
  int32_t n = 0;
  char message[200] = "";
  if (step(well, &one, w, &n, message, sizeof message) != 0) return 1;
  printf("well: n is %d, w is %g %g %g %g\n", (int)n, w[0], w[1], w[2], w[3]);
  if (step(bad, &one, w, &n, message, sizeof message) == 0) return 1;
  printf("%s\nn is %d, w is %g %g %g %g\n", message, (int)n, w[0], w[1], w[2], w[3]);
  return 0;
}
