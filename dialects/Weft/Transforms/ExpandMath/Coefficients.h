// Polynomial coefficients and split constants of weft-expand-math, written by fit_coefficients.py,
// which says how they were found. Polynomials list the constant term first.
#pragma once

#include <cstdint>

namespace mlir::weft::coefficients {

/// q in exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2; error relative to exp(r).
/// Largest weighted error 2^-28.2.
inline constexpr double expF32[] = {
    0x1.fffffc0000000p-2, 0x1.55548c0000000p-3,  0x1.55585a0000000p-5,
    0x1.123d5c0000000p-7, 0x1.6ab6c60000000p-10,
};

/// q in exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2; error relative to exp(r).
/// Largest weighted error 2^-57.7.
inline constexpr double expF64[] = {
    0x1.000000000000ap-1,  0x1.5555555555500p-3,  0x1.55555555505efp-5,  0x1.1111111125a65p-7,
    0x1.6c16c184be92cp-10, 0x1.a01a01389f8c9p-13, 0x1.a019986872df1p-16, 0x1.71defea616705p-19,
    0x1.28af08586b511p-22, 0x1.adc7de6c762bbp-26,
};

/// q in exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2; error relative to exp(r).
/// Largest weighted error 2^-39.7.
inline constexpr double expMid[] = {
    0x1.000000005e9bbp-1,  0x1.5555557e0ae6ep-3,  0x1.5555541ca2febp-5,  0x1.1110a1f9caa9dp-7,
    0x1.6c18d518930d2p-10, 0x1.a18606d83e34cp-13, 0x1.9e887d77203fcp-16,
};

/// q in expm1(r) = r + r^2/2 + r^3 q(r), |r| <= ln(2)/2; relative error.
/// Largest weighted error 2^-31.0.
inline constexpr double expm1F32[] = {
    0x1.5555540000000p-3,  0x1.5554ea0000000p-5,  0x1.1113ac0000000p-7,
    0x1.6d4c900000000p-10, 0x1.9c5cc00000000p-13,
};

/// q in expm1(r) = r + r^2/2 + r^3 q(r), |r| <= ln(2)/2; relative error.
/// Largest weighted error 2^-59.3.
inline constexpr double expm1F64[] = {
    0x1.5555555555559p-3,  0x1.5555555555551p-5,  0x1.111111110f5d9p-7,  0x1.6c16c16c17394p-10,
    0x1.a01a01b056813p-13, 0x1.a01a01b4b2cf1p-16, 0x1.71ddf6de7d728p-19, 0x1.27e47a4311249p-22,
    0x1.af61f55c5d534p-26, 0x1.2087a5f48f4e0p-29,
};

/// p in log(1+f) = f - f^2/2 + f^3 p(f), 1+f in [sqrt(1/2), sqrt(2)]; relative error.
/// Largest weighted error 2^-29.3.
inline constexpr double logF32[] = {
    0x1.5555480000000p-2,  -0x1.0000700000000p-2, 0x1.99a5400000000p-3,
    -0x1.552ef20000000p-3, 0x1.2303260000000p-3,  -0x1.0107ee0000000p-3,
    0x1.f0012c0000000p-4,  -0x1.bef44e0000000p-4, 0x1.b4bdd80000000p-5,
};

/// R in log(1+f) = 2 s + s z R(z), s = f/(2+f), z = s^2; error relative to log(1+f).
/// Largest weighted error 2^-59.5.
inline constexpr double logF64[] = {
    0x1.5555555555592p-1, 0x1.999999997ff04p-2, 0x1.24924941e33bfp-2, 0x1.c71c5212538c7p-3,
    0x1.74663d690b150p-3, 0x1.39a1daab7acb6p-3, 0x1.2f0457434e306p-3,
};

/// R in log(1+f) = 2 s + s z R(z), s = f/(2+f), z = s^2; error relative to log(1+f).
/// Largest weighted error 2^-44.9.
inline constexpr double logMid[] = {
    0x1.555555561e474p-1, 0x1.999996a93ff1ap-2, 0x1.249411f249911p-2,
    0x1.c62b135fb1f71p-3, 0x1.9115a047e48f4p-3,
};

/// T in log2(1+f) = s (c1 + z (c3 + z (c5 + z T(z)))); error relative to log2(1+f).
/// Largest weighted error 2^-80.1.
inline constexpr double log2Tail[] = {
    0x1.a61762a7adeccp-2, 0x1.484b13d7c218ap-2, 0x1.0c9a84976f3f3p-2, 0x1.c68f58618510ap-3,
    0x1.89f325d286a77p-3, 0x1.5bb42ebffaf4ep-3, 0x1.3440159751601p-3, 0x1.436a677431000p-3,
};

/// 2/(1 ln 2) as an unevaluated sum of two doubles.
inline constexpr double log2C1[] = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};

/// 2/(3 ln 2) as an unevaluated sum of two doubles.
inline constexpr double log2C3[] = {0x1.ec709dc3a03fdp-1, 0x1.d27f05548af0cp-55};

/// 2/(5 ln 2) as an unevaluated sum of two doubles.
inline constexpr double log2C5[] = {0x1.2776c50ef9bfep-1, 0x1.e4b29ccc535d4p-55};

/// P in tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625; relative error.
/// Largest weighted error 2^-27.7.
inline constexpr double tanhF32[] = {
    -0x1.5555320000000p-2, 0x1.1107060000000p-3,  -0x1.b838f80000000p-5,
    0x1.52141e0000000p-6,  -0x1.7599b40000000p-8,
};

/// P in tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625; relative error.
/// Largest weighted error 2^-56.4.
inline constexpr double tanhF64[] = {
    -0x1.55555555554ffp-2,  0x1.111111110aca7p-3,  -0x1.ba1ba1b504fd3p-5,  0x1.664f477aab3c3p-6,
    -0x1.226e1627ee509p-7,  0x1.d6cf279f89a53p-9,  -0x1.7d689f4a07795p-10, 0x1.3365fc33dd046p-11,
    -0x1.df54d44badce5p-13, 0x1.438fca67c08b8p-14, -0x1.0da4be3a6a277p-16,
};

/// 2 / sqrt(pi) - 1, rounded.
inline constexpr double erfExcessF32[] = {0x1.06eba80000000p-3};

/// P in erf(x) = x + x (2 / sqrt(pi) - 1 + z P(z)), z = x^2, |x| <= 1.125; relative error.
/// Largest weighted error 2^-27.1.
inline constexpr double erfF32[] = {
    -0x1.8127300000000p-2, 0x1.ce29bc0000000p-4,   -0x1.b7be580000000p-6,
    0x1.523c360000000p-8,  -0x1.976bb60000000p-11, 0x1.28cafc0000000p-14,
};

/// 2 / sqrt(pi) - 1, rounded.
inline constexpr double erfExcessF64[] = {0x1.06eba8214db69p-3};

/// P in erf(x) = x + x (2 / sqrt(pi) - 1 + z P(z)), z = x^2, |x| <= 1; relative error.
/// Largest weighted error 2^-56.4.
inline constexpr double erfF64[] = {
    -0x1.812746b0379cbp-2,  0x1.ce2f21a0412fep-4,  -0x1.b82ce3120c6c9p-6,  0x1.565bccfb07794p-8,
    -0x1.c02db07a55a7ap-11, 0x1.f9a2bf9650fffp-14, -0x1.f4ca90b748b2ap-17, 0x1.b9822a8a93ba6p-20,
    -0x1.5c14369aee197p-23, 0x1.d76e3050fcec9p-27, -0x1.ac943e1e2c279p-31,
};

/// R in erf(t) = 1 - R(t)^4, 1.125 <= t <= 4; relative error.
/// Largest weighted error 2^-31.3.
inline constexpr double erfcF32[] = {
    0x1.0005340000000p+0,   -0x1.20d23a0000000p-2, -0x1.ef244e0000000p-4, 0x1.48ceee0000000p-6,
    0x1.7d77dc0000000p-7,   0x1.54e3be0000000p-8,  -0x1.7897b00000000p-8, 0x1.b48d8e0000000p-10,
    -0x1.c3c2a60000000p-13, 0x1.6d1cc40000000p-17,
};

/// The middle of piece k is k times this.
inline constexpr double erfPieceWidth = 0x1.1000000000000p-1;

/// By the power of r, in erf(k width + r), or in erf(r) - r of piece 0, |r| <= width / 2: the
/// coefficients of all pieces; relative error. Largest weighted error 2^-25.1.
inline constexpr double erfPieces[7][8] = {
    {0x0.0p+0, 0x1.1855a60000000p-1, 0x1.bbef100000000p-1, 0x1.f39bc20000000p-1,
     0x1.fea4220000000p-1, 0x1.ffe96a0000000p-1, 0x1.ffff240000000p-1, 0x1.fffffc0000000p-1},
    {0x1.06eba80000000p-3, 0x1.b3ab060000000p-1, 0x1.75a93a0000000p-2, 0x1.6c7e280000000p-4,
     0x1.9461b00000000p-7, 0x1.fe45400000000p-11, 0x1.6e35740000000p-15, 0x1.2b047c0000000p-20},
    {-0x1.8124ee0000000p-21, -0x1.cee5ba0000000p-2, -0x1.8d03fa0000000p-2, -0x1.2274c00000000p-3,
     -0x1.ada7d00000000p-6, -0x1.52d7ae0000000p-9, -0x1.23c9ea0000000p-13, -0x1.15e5ba0000000p-18},
    {-0x1.811c780000000p-2, -0x1.fa245c0000000p-4, 0x1.3938400000000p-3, 0x1.efd3580000000p-4,
     0x1.0eb5ea0000000p-5, 0x1.16909e0000000p-8, 0x1.25bff20000000p-12, 0x1.48f47a0000000p-17},
    {-0x1.82841a0000000p-11, 0x1.77c4680000000p-3, 0x1.895c1c0000000p-5, -0x1.92bd9e0000000p-5,
     -0x1.b00cf40000000p-6, -0x1.39c0420000000p-8, -0x1.a46e240000000p-12, -0x1.1be1100000000p-16},
    {0x1.e594700000000p-4, -0x1.05edea0000000p-10, -0x1.0933660000000p-4, -0x1.74d1200000000p-8,
     0x1.91c5ae0000000p-7, 0x1.fe5bd80000000p-9, 0x1.dc9e9e0000000p-12, 0x1.a014380000000p-16},
    {-0x1.4a1a0a0000000p-6, -0x1.86867a0000000p-5, 0x1.3d302a0000000p-7, 0x1.ffd31e0000000p-7,
     -0x1.a8b6ce0000000p-10, -0x1.12dda20000000p-9, -0x1.7b0a000000000p-12, -0x1.a4ff5c0000000p-16},
};

/// R in erf(t) = 1 - exp(t R(t) - t), 1 <= t <= 6; relative error.
/// Largest weighted error 2^-61.7.
inline constexpr double erfcF64[] = {
    -0x1.06ebacbccf61dp-3,  -0x1.45f2f9111bf28p-1,  -0x1.a4f74f67698b4p-4,  0x1.39889c25ee608p-6,
    0x1.8cba0b83c3ce3p-13,  -0x1.b30422d830038p-10, 0x1.1a0df8bcc08d7p-11,  0x1.11c3f1b1f0613p-15,
    -0x1.eb1fa8c5d1533p-14, 0x1.1c4dbbcff5db3p-14,  -0x1.aaf2d7f93c648p-16, 0x1.df9bdaaf317c3p-18,
    -0x1.a295de2403d3bp-20, 0x1.1d1d4045d0eaep-22,  -0x1.2ac8b7033191dp-25, 0x1.d25514fd8bc22p-29,
    -0x1.feee6dfcad01bp-33, 0x1.5eaad2a6b934ep-37,  -0x1.c59dfef5d6985p-43,
};

/// S in sin(r) = r + r z S(z), z = r^2, |r| <= pi/4; relative error.
/// Largest weighted error 2^-57.9.
inline constexpr double sinF64[] = {
    -0x1.5555555555548p-3, 0x1.111111110f73ap-7,   -0x1.a01a019beb14fp-13,
    0x1.71de355741949p-19, -0x1.ae5e4d5dc1589p-26, 0x1.5d8beab276fecp-33,
};

/// C in cos(r) = 1 - z/2 + z^2 C(z), z = r^2, |r| <= pi/4; relative error.
/// Largest weighted error 2^-63.8.
inline constexpr double cosF64[] = {
    0x1.555555555554ap-5,   -0x1.6c16c16c14e37p-10, 0x1.a01a019c653e7p-16,
    -0x1.27e4f7d5a5e8fp-22, 0x1.1ee9c9fa2f988p-29,  -0x1.8f9db9c4b8a67p-37,
};

/// S in sin(r) = r + r z S(z), z = r^2, |r| <= pi/4; relative error.
/// Largest weighted error 2^-37.5.
inline constexpr double sinMid[] = {
    -0x1.5555554c4ce41p-3,
    0x1.1111084f8c14fp-7,
    -0x1.a00f698554844p-13,
    0x1.6cccc703d5dfap-19,
};

/// C in cos(r) = 1 - z/2 + z^2 C(z), z = r^2, |r| <= pi/4; relative error.
/// Largest weighted error 2^-42.9.
inline constexpr double cosMid[] = {
    0x1.5555554ebe4d6p-5,
    -0x1.6c16b80d15572p-10,
    0x1.a010cbd45975dp-16,
    -0x1.241ab5aabb40ap-22,
};

/// ln 2 in three 24-bit parts.
inline constexpr double ln2F32[] = {0x1.62e4300000000p-1, -0x1.05c6100000000p-29,
                                    -0x1.950d880000000p-54};

/// ln 2 in three 53-bit parts.
inline constexpr double ln2F64[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56,
                                    0x1.7b57a079a1934p-111};

/// ln 2 with a first part so short that its product with any f32 exponent is exact.
inline constexpr double ln2ShortF32[] = {0x1.62e4000000000p-1, 0x1.7f7d1c0000000p-20};

/// ln 2 with a first part so short that its product with any f64 exponent is exact.
inline constexpr double ln2ShortF64[] = {0x1.62e42fefa4000p-1, -0x1.8432a1b0e2634p-43};

/// 1 / ln 2 as a sum of two.
inline constexpr double log2OfEF32[] = {0x1.7154760000000p+0, 0x1.4ae0c00000000p-26};

/// 1 / ln 10 as a sum of two.
inline constexpr double log10OfEF32[] = {0x1.bcb7b20000000p-2, -0x1.5b235e0000000p-27};

/// log10(2); the product of the first part with any exponent is exact.
inline constexpr double log10Of2F32[] = {0x1.3440000000000p-2, 0x1.3509f80000000p-18};

/// 1 / ln 2 as a sum of two.
inline constexpr double log2OfEF64[] = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};

/// 1 / ln 10 as a sum of two.
inline constexpr double log10OfEF64[] = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};

/// log10(2); the product of the first part with any exponent is exact.
inline constexpr double log10Of2F64[] = {0x1.34413509f8000p-2, -0x1.80433b83b532ap-44};

/// pi/2 in three 53-bit parts.
inline constexpr double halfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                    -0x1.f1976b7ed8fbcp-110};

/// 2/pi, rounded.
inline constexpr double twoOverPiDouble[] = {0x1.45f306dc9c883p-1};

/// The binary digits of 2/pi in 64-bit words. The binary point stands in the middle of the first
/// word.
inline constexpr uint64_t twoOverPi[] = {
    0x00000000a2f9836e, 0x4e441529fc2757d1, 0xf534ddc0db629599, 0x3c439041fe5163ab,
    0xdebbc561b7246e3a, 0x424dd2e006492eea, 0x09d1921cfe1deb1c, 0xb129a73ee88235f5,
    0x2ebb4484e99c7026, 0xb45f7e413991d639, 0x835339f49c845f8b, 0xbdf9283b1ff897ff,
    0xde05980fef2f118b, 0x5a0a6d1f6d367ecf, 0x27cb09b74f463f66, 0x9e5fea2d7527bac7,
    0xebe5f17b3d0739f7, 0x8a5292ea6bfb5fb1, 0x1f8d5d0856033046,
};

} // namespace mlir::weft::coefficients
