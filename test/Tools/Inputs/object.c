/* A C program that calls the functions which weft-compile made of object.mlir, and checks what they
 * give. */
#include "object.h"

#include <stdio.h>
#include <string.h>

/* Compiled for a GPU they take its number. */
#ifdef OF_GPU
#define ON 0,
#else
#define ON
#endif

static int failures = 0;

static void expect(int holds, const char *what) {
  if (holds) return;
  printf("wrong: %s\n", what);
  failures++;
}

int main(void) {
  char message[200] = "untouched";
  const float x[3] = {1, 2, 3}, scale = 2;
  float total[3] = {1, 1, 1}, reversed[3];
  uint8_t positive = 7;
  expect(add_up(ON x, &scale, total, reversed, &positive, message, sizeof message) == 0, "add_up");
  expect(total[0] == 3 && total[1] == 5 && total[2] == 7, "the variable");
  expect(reversed[0] == 7 && reversed[1] == 5 && reversed[2] == 3, "its reverse");
  expect(positive == 1, "the bool");
  expect(add_up(ON x, &scale, total, reversed, &positive, NULL, 0) == 0,
         "again, without a message");
  expect(total[0] == 5 && total[2] == 13, "the variable after two calls");
  expect(strcmp(message, "untouched") == 0, "no message of a call that went well");

  const double a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1};
  double product[4];
  expect(product_of(ON a, b, product, message, sizeof message) == 0, "product_of");
  expect(product[0] == 4 && product[1] == 5 && product[2] == 10 && product[3] == 11, "the product");

  const int64_t values[4] = {10, 20, 30, 40};
  const int32_t indices[2] = {3, 0}, wrong[2] = {3, 4};
  int64_t picked[2];
  expect(for_(ON values, indices, picked, message, sizeof message) == 0, "for_");
  expect(picked[0] == 40 && picked[1] == 10, "the elements picked");
  expect(for_(ON values, wrong, picked, message, sizeof message) == 1, "an index out of range");
  printf("%s\n", message);
  char small[8];
  expect(for_(ON values, wrong, picked, small, sizeof small) == 1, "a small message");
  expect(strlen(small) < sizeof small, "which ends within its memory");
  expect(for_(ON values, indices, picked, message, sizeof message) == 0, "for_ goes on");

  const float one = 1;
  float twice;
  expect(twice_over(ON & one, &twice, NULL, 0) == 0 && twice == 2, "a name that C cannot spell");
  printf("%d failures\n", failures);
  return failures;
}
