// Mistakes that users make often, one per value of MISTAKE: what compilers say of each is in
// mistakes.test.
#include <weft/weft.h>
using namespace weft;

struct Plain { // no WEFT_FIELDS
  Tensor a;
};

struct Twice { // two members of one path
  nn::Dense x, x_;
  WEFT_FIELDS(Twice, x, x_)
};

void mistake(Tensor x) {
#if MISTAKE == 1
  function([](Tensor a) { return a; })(1, 2);
#elif MISTAKE == 2
  function([](const Plain &plain) { return plain.a; })(Plain{x});
#elif MISTAKE == 3
  function([](Tensor a) { return Plain{a}; })(x);
#elif MISTAKE == 4
  while_loop([](Tensor i) { return i < 10; }, [](Tensor i) { return std::tuple(i, i); }, 0);
#elif MISTAKE == 5
  while_loop([](Tensor i) { return i < 10; }, [](Tensor i, Tensor y) { return std::tuple(i, y); },
             0, 1.f);
#elif MISTAKE == 6
  scan([](Tensor carry, Tensor slice) { return carry + slice; }, 0.f, x);
#elif MISTAKE == 7
  for_loop(10, [](Tensor i) { return i; }, 0.f);
#elif MISTAKE == 8
  cond(x > 0, [&] { return x; }, [&] { return std::pair(x, x); });
#elif MISTAKE == 9
  cond(x > 0, [](Tensor y) { return y; }, [&] { return x; });
#elif MISTAKE == 10
  grad([](Tensor a) { return a; })(1.f, 2.f);
#elif MISTAKE == 11
  grad([](Tensor a) { print(a); })(1.f);
#elif MISTAKE == 12
  x.item<std::string>();
#elif MISTAKE == 13
  tensor({1.0L, 2.0L});
#elif MISTAKE == 14
  GradientTape tape;
  tape.gradient(x, 3.f);
#elif MISTAKE == 15
  custom_gradient([](Tensor a) { return a; })(1.f);
#elif MISTAKE == 16
  host_call([](const Tensor &a, const Tensor &b) { return a + b; }, {.results = {spec(f32, {})}},
            x);
#elif MISTAKE == 17
  function([](const std::vector<bool> &mask, Tensor y) { return mask[0] ? y : -y; })(
      std::vector<bool>{true}, x);
#elif MISTAKE == 18
  function([](Tensor y, long double scale) { return y * double(scale); })(x, 0.5L);
#elif MISTAKE == 19
  grad<1>([](Tensor a) { return a; })(1.f);
#elif MISTAKE == 20
  nn::summary(Plain{x}, {2, 3});
#elif MISTAKE == 21
  nn::named_variables(Plain{x});
#elif MISTAKE == 22
  optimizers::Adam adam(Plain{x});
#elif MISTAKE == 23
  GradientTape tape;
  tape.gradient(x, Plain{x});
#elif MISTAKE == 24
  nn::clone(Plain{x});
#elif MISTAKE == 25
  optimizers::SGD(nn::Dense(1)).minimize([](Tensor a) { return a; });
#elif MISTAKE == 26
  nn::named_variables(Twice{nn::Dense(1), nn::Dense(1)});
#elif MISTAKE == 27
  x[0] = x;
#elif MISTAKE == 28
  einsum("ij,jk->ik", x, "ij");
#endif
}
