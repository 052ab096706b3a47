// A part of the program of compilers.test that is compiled by one compiler and called from the
// other's.
#pragma once
#include <weft/weft.h>

weft::Tensor from_first(const weft::Tensor &x);
weft::Function<weft::Tensor (*)(weft::Tensor)> traced_in_first();
void fill(weft::Variable &variable, std::vector<weft::Tensor> values);
