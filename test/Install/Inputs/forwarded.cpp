// What one function of the library gives, another one takes as it is: of enumerators too, whose
// upper bits neither compiler may rely on.
#include <weft/weft.h>

#include <iostream>

using namespace weft;

static DType common(DType one, DType other) { return result_type({one, other}); }

int main() {
  std::cout << result_type({i8, u8}) << ' ' << common(u16, i32) << ' '
            << iinfo(result_type({i8, u8})).max << ' '
            << zeros({2}, result_type({f16, bf16})).dtype() << '\n';
}
