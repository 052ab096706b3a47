/* Calls what weft-compile made of weft-compile-ahead.mlir, from one thread and from many. */
#include "ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static int failures = 0;

static void expect(int holds, const char *what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  failures++;
}

static const float scale = 10;

/* The rows of predict count up, and so must what it gives. */
static int predicts(int64_t rows) {
  float *x = malloc((size_t)(rows * 3 + 1) * sizeof *x), *y, sums[2], expected[2] = {0, 0};
  int64_t sizes[2];
  int right = 1;
  for (int64_t i = 0; i < rows * 3; ++i) x[i] = (float)(i / 3 % 8);
  if (predict(x, rows, &scale, &y, sizes, sums, NULL, 0) != 0) return 0;
  right &= sizes[0] == rows && sizes[1] == 2;
  for (int64_t i = 0; i < rows; ++i)
    for (int j = 0; j < 2; ++j) {
      const float value = (float)(i % 8) * (j == 0 ? 9 : 12) * scale + (j == 0 ? 1 : -1);
      right &= y[2 * i + j] == value;
      expected[j] += value;
    }
  right &= sums[0] == expected[0] && sums[1] == expected[1];
  free(x);
  free(y);
  return right;
}

static int work(void *rows) {
  int right = 1;
  for (int i = 0; i < 200; ++i) right &= predicts(*(const int64_t *)rows + i % 5);
  return right;
}

int main(void) {
  char message[300];
  expect(predicts(1) && predicts(4) && predicts(1000), "predict");
  expect(predicts(0), "no rows");

  thrd_t threads[4];
  static const int64_t rows[4] = {1, 7, 30, 200};
  for (int i = 0; i < 4; ++i) thrd_create(&threads[i], work, (void *)&rows[i]);
  for (int i = 0; i < 4; ++i) {
    int right = 0;
    thrd_join(threads[i], &right);
    expect(right, "predict in a thread");
  }

  const float a[3] = {1, 2, 3}, b[3] = {10, 20, 30};
  float *sum = NULL;
  int64_t size = 0;
  expect(both(a, 3, b, 3, &sum, &size, message, sizeof message) == 0, "both");
  expect(size == 3 && sum[0] == 11 && sum[2] == 33, "their sum");
  free(sum);
  expect(both(a, 3, b, 2, &sum, &size, message, sizeof message) == 1, "sizes that differ");
  expect(sum == NULL, "no output after an error");
  printf("a size that does not fit: %s\n", message);
  expect(both(a, -1, b, 3, &sum, &size, message, sizeof message) == 1, "a negative size");
  printf("a negative size: %s\n", message);

  int64_t count = 40;
  double picked;
  for (int32_t i = 0; i < 4; ++i)
    expect(pick(&i, &count, &picked, NULL, 0) == 0 && picked == 0.5 + i, "pick");
  expect(count == 44, "the count");
  const int32_t far = 4;
  expect(pick(&far, &count, &picked, message, sizeof message) == 1 && strstr(message, "index 4"),
         "an index out of range");
  expect(count == 45, "the count, which goes on before the error");
  printf("%d failures\n", failures);
  return failures;
}
