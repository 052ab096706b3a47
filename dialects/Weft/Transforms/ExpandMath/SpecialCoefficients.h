// Polynomial coefficients and split constants of the special functions, written by fit_special.py,
// which says how they were found. Polynomials list the constant term first.
#pragma once

namespace mlir::weft::coefficients {

/// P in (1 + 2x) erfcx(x) = 1 + P(t), t = (x - 4) / (x + 4), x >= 0; relative error.
/// Largest weighted error 2^-53.2.
inline constexpr double erfcxExcess[] = {
    0x1.dd2c8b74febf6p-3,   -0x1.1df1ad154a281p-3,  0x1.f7f5df66fddc8p-7,   0x1.16ecefcfa4953p-4,
    -0x1.9ddb23c3eb4e2p-4,  0x1.7fee004e252bep-4,   -0x1.0fb06dfe1f699p-4,  0x1.3079edf47f052p-5,
    -0x1.0962388b59927p-6,  0x1.49c6730221dcfp-8,   -0x1.8d4a956c2b1aep-11, -0x1.a1df6f5b168c9p-13,
    0x1.3bdff9d1a548ep-13,  -0x1.99520f7f77536p-16, -0x1.78797ebe9fb10p-17, 0x1.7eec943a9101ep-18,
    0x1.36df80feafcd7p-22,  -0x1.b876d8804c312p-21, 0x1.587706168c474p-24,  0x1.c6b38c7bcc0dcp-24,
    -0x1.82b0ac2c50ce3p-26, -0x1.a1bcac306932cp-27, 0x1.10d807b501a6ep-28,  0x1.edc073a391933p-31,
    -0x1.c2ee7792fe5eap-32,
};

/// P in erfinv(x) = x P(w - 2.5), w = -log(1 - x^2) <= 5; relative error.
/// Largest weighted error 2^-53.0.
inline constexpr double erfinvCentral[] = {
    0x1.805c5cfcedef5p+0,   0x1.f91e8993f0d16p-3,   -0x1.11c3c302e097fp-8,  -0x1.4863cdfb6236ap-10,
    0x1.c9b437edb935fp-13,  -0x1.4f47fe702caacp-18, -0x1.ca922822e5b9ep-19, 0x1.01037e12d765fp-21,
    0x1.ccffe397a0729p-27,  -0x1.752fd1cf2526fp-27, 0x1.f2c67d1cdfb19p-31,  0x1.070398f8a4a65p-33,
    -0x1.116f3f48c45cep-35, 0x1.00c7f9ba22bc3p-40,  0x1.2ab77a9b08a92p-41,  -0x1.57889e459df51p-44,
    -0x1.157ad3311bcaep-49, 0x1.144a89108569ap-49,  -0x1.2051dcb4211dep-52, -0x1.05846af1124cbp-55,
    0x1.ce5e7317ee2bcp-57,  0x1.02676980c05b1p-62,  -0x1.56cfa26040f30p-62,
};

/// P in erfinv(x) = x (sqrt(pi) / 2 + w P(w)), w = -log(1 - x^2) <= 5; relative error.
/// Largest weighted error 2^-27.3.
inline constexpr double erfinvCentralF32[] = {
    0x1.db2a080000000p-3,   0x1.7a6eac0000000p-7,  -0x1.31ff2e0000000p-9,
    -0x1.0ae2300000000p-13, 0x1.74f5100000000p-15, 0x1.0d55720000000p-18,
    -0x1.09f67e0000000p-19, 0x1.dbacae0000000p-23, -0x1.2eaf560000000p-27,
};

/// P in erfinv(x) = s + P(s - 3), s = sqrt(-log(1 - x^2)) from sqrt(5) to 4.1; relative error.
/// Largest weighted error 2^-25.2.
inline constexpr double erfinvTailF32[] = {
    -0x1.566be40000000p-3, 0x1.5d08dc0000000p-9,   0x1.c068460000000p-8,   -0x1.c472060000000p-9,
    0x1.2e2f3c0000000p-10, -0x1.a3da940000000p-13, -0x1.0695b20000000p-14, 0x1.4193400000000p-15,
};

/// P in erfinv(x) = P(s - 4), s = sqrt(-log(1 - x^2)) from sqrt(5) to 6.02; relative error.
/// Largest weighted error 2^-53.1.
inline constexpr double erfinvTail[] = {
    0x1.eb7e0744d23eap+1,   0x1.026e4267ddd26p+0,   0x1.489feee3d3d2ep-10,  -0x1.bfc3d011bc0b7p-11,
    0x1.359eeb7b6f50dp-12,  -0x1.61bcb1e6178edp-14, 0x1.660923c73cd44p-16,  -0x1.334fb0344fc74p-18,
    0x1.3a7e7a3aba643p-21,  0x1.5111c85614a08p-23,  -0x1.6e44773159a8dp-23, 0x1.69142d0ae413cp-24,
    -0x1.d1af4c0f281dep-26, 0x1.21cb02861fd2bp-28,  0x1.605222e2bf405p-30,  -0x1.51976a3ac829ep-30,
    0x1.fa266a248c50cp-32,  -0x1.4afcc2658a7e9p-34, -0x1.ff2a9c3c5f9bdp-37, 0x1.c874dcf896f73p-37,
    -0x1.5aa51894bb00cp-38, 0x1.945dac8de888ap-40,  -0x1.fd7f1533129a7p-46, -0x1.036d871dcec67p-42,
    0x1.6c7c784413376p-44,  0x1.7de637d93f2bbp-51,  -0x1.69930df4a474fp-48, 0x1.aa8667679c689p-51,
    -0x1.9b09e255c0362p-58,
};

/// P in erfinv(x) = s P(1 / s - 0.1), the same s from 6 to 27.5; relative error.
/// Largest weighted error 2^-53.6.
inline constexpr double erfinvFar[] = {
    0x1.fa6631285b421p-1,   -0x1.5a4a4c26c3559p-3, -0x1.663433a0dcdf4p-2,  0x1.a35505ae3b5adp+0,
    -0x1.0d02f4bc695bdp+2,  0x1.04b67ad26b71bp+4,  -0x1.4cc83ee5985d2p+6,  0x1.ddd6f8823f6bcp+8,
    -0x1.751d319bd6018p+11, 0x1.36d5f4dc4f8fap+14, -0x1.0f3b29293bac7p+17, 0x1.ea0af86f8b296p+19,
    -0x1.df3a305197e22p+22, 0x1.ee5d6193f8845p+25, -0x1.1aaf5ce5f72ccp+28, 0x1.8c2ad84715bbep+27,
    -0x1.663f5e0e531a6p+36, 0x1.602b4d8ff7e2ap+40, 0x1.d4faef8de9ae0p+43,  -0x1.0db92b14405f5p+48,
    -0x1.7ccdebbdb7ff1p+51, 0x1.6fb7994e998a0p+55, 0x1.1faf781dda26ap+58,  -0x1.069cc03cacbbbp+62,
    -0x1.dfa86666eab70p+63, 0x1.817fc2cad1992p+67,
};

/// P in lgamma(2 + f) = f + f P(f), -0.6 <= f <= 0.72; relative error.
/// Largest weighted error 2^-55.5.
inline constexpr double lgammaAtTwo[] = {
    -0x1.2788cfc6fb619p-1,  0x1.4a34cc4a60fa6p-2,  -0x1.13e001a557556p-4,  0x1.51322ac7d8849p-6,
    -0x1.e404fc21c802ep-8,  0x1.7add6ead528e1p-9,  -0x1.38ac5c0f8dcf7p-10, 0x1.0b36afa6fb357p-11,
    -0x1.d3fd5b1791ea3p-13, 0x1.a127a750b992ap-14, -0x1.78dc2b944807ep-15, 0x1.580e4f5051cc1p-16,
    -0x1.3cf056e92e874p-17, 0x1.259f7b3167524p-18, -0x1.0eb071f0c4a96p-19, 0x1.fdd8f6b62b25dp-21,
    -0x1.0ce6864caeeb6p-21, 0x1.f2a91e06ca58bp-23, -0x1.12959470564e9p-25, 0x1.b8016e7747318p-27,
    -0x1.1a6bd536b8b09p-24, 0x1.36e4157093a4fp-25,
};

/// P in lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + P(1/x^2) / x, x >= 8.
/// Largest weighted error 2^-57.4.
inline constexpr double stirlingSeries[] = {
    0x1.5555555555555p-4,  -0x1.6c16c16c09cf3p-9,  0x1.a01a00fc4cfa5p-11, -0x1.3812c05ba9c50p-11,
    0x1.b8e7280149a2fp-11, -0x1.e7c81ef8b96bep-10, 0x1.221e83e83d725p-8,
};

/// P in lgamma(2 + f) = f P(f), -1 <= f <= 1/2; error relative to lgamma(2 + f) or lgamma(1 + f).
/// Largest weighted error 2^-33.8.
inline constexpr double lgammaAtTwoF32[] = {
    0x1.b0ee607215aecp-2,   0x1.4a34cc4138950p-2,  -0x1.13e001ea78d17p-4,  0x1.51324f222bfafp-6,
    -0x1.e404163f11171p-8,  0x1.7ac8e0e886b90p-9,  -0x1.38f25858c1d24p-10, 0x1.0d8a1ac070f24p-11,
    -0x1.c12c8964baa81p-13, 0x1.6d8113c3a983ap-14, -0x1.4d7191ec945afp-14, 0x1.6d951e7296d22p-16,
    0x1.45a7c89b4231bp-15,  0x1.36ed1fa564af6p-15,
};

/// P in lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + P(1/x^2) / x, x >= 2.5; relative error.
/// Largest weighted error 2^-36.2.
inline constexpr double stirlingSeriesF32[] = {
    0x1.555554787d935p-4,   -0x1.6c0f12ff65fabp-9, 0x1.9d0520cd14edep-11,
    -0x1.11e4e76175ea5p-11, 0x1.76e57578e90b8p-12,
};

/// P in gamma(2 + f) = 1 + f P(f), |f| <= 1/2; relative error.
/// Largest weighted error 2^-59.0.
inline constexpr double gammaAtTwo[] = {
    0x1.b0ee6072093cep-2,   0x1.a5b978b96bebfp-2,  0x1.4e2399846509fp-4,   0x1.301fbb0f25a82p-4,
    -0x1.17f3740e7a380p-12, 0x1.6d7eeac9ee33bp-7,  -0x1.75e6e90e8c131p-9,  0x1.13c449c6675d0p-9,
    -0x1.e21f188aadc86p-11, 0x1.011ad32b1d8c6p-11, -0x1.f94b538783845p-13, 0x1.fe564e5fe2ac9p-14,
    -0x1.fdd9dda80220fp-15, 0x1.fee56bc7089a4p-16, -0x1.00d1bc1efea07p-16, 0x1.0048d6e09244dp-17,
    -0x1.e12f84b47371bp-19, 0x1.ecb9664eb878cp-20, -0x1.6649f89067238p-20, 0x1.525a724668d58p-21,
};

/// P in digamma(x) = (x - x0) P(x - 1.5), 1 <= x <= 2, x0 its root; relative error.
/// Largest weighted error 2^-54.2.
inline constexpr double digammaCentral[] = {
    0x1.e6f0cbb873616p-1,  -0x1.b1cb63005ee9fp-2,  0x1.eca189b8e767cp-3,  -0x1.2feeeb98a666dp-3,
    0x1.8512e58f9014bp-4,  -0x1.fb44202c0782fp-5,  0x1.4de9aa7a62551p-5,  -0x1.b9f8b06506355p-6,
    0x1.256453927b772p-6,  -0x1.86358a50048ffp-7,  0x1.03c6021e3e1d0p-7,  -0x1.5a01bcf9959b4p-8,
    0x1.cbebd2d0998c3p-9,  -0x1.33d4fdc374e55p-9,  0x1.b0bd79231d4e0p-10, -0x1.0a251e032dbdap-10,
    0x1.1deb1414f8e1bp-13, -0x1.30a94ddc34061p-11, 0x1.5b0b9d75dbc7cp-9,  0x1.02726c783c146p-13,
    -0x1.8e46a2f146a56p-8, -0x1.3f0333d6a07dep-11, 0x1.389b69e594b8cp-7,  0x1.3abbbfc62a17ap-12,
    -0x1.9c2cf6a4d1217p-8,
};

/// P in digamma(x) = log(x) - 1/(2x) - P(1/x^2) / x^2, x >= 8.
/// Largest weighted error 2^-56.7.
inline constexpr double digammaSeries[] = {
    0x1.5555555555555p-4, -0x1.111111110a960p-7, 0x1.041040cb8d251p-8, -0x1.1110b834f2d40p-8,
    0x1.f03a0c66b8ef9p-8, -0x1.533aa675ac012p-6, 0x1.052b67299c42ap-4,
};

/// P in i0(x) = 1 + z P(z), z = x^2 / 4, |x| <= 7.75; relative error.
/// Largest weighted error 2^-60.5.
inline constexpr double i0Central[] = {
    0x1.0000000000000p+0,  0x1.ffffffffffffep-3,  0x1.c71c71c71c770p-6,  0x1.c71c71c71bcb5p-10,
    0x1.23456789b6b97p-14, 0x1.02e85c07ba944p-19, 0x1.522a440d6dcfep-25, 0x1.522a4250c605dp-31,
    0x1.0b3147ba5a5f6p-37, 0x1.5600023d63ab4p-44, 0x1.69debc68547a8p-51, 0x1.40db0ed567ea3p-58,
    0x1.f0ad5f65fb9e9p-66, 0x1.15fc3df10854ep-73, 0x1.15f1d940c4c72p-80,
};

/// P in i0(x) = exp(x) / sqrt(x) P(1/x - 1/16), x >= 7.75; relative error.
/// Largest weighted error 2^-53.8.
inline constexpr double i0Far[] = {
    0x1.9bd428ad249a5p-2,   0x1.b87969bb93b7fp-5,  0x1.1daa72b5dabb5p-5,   0x1.75e5ee71b1f50p-5,
    0x1.8e513b370e557p-4,   0x1.3f49a7968e775p-2,  0x1.7d0e277eadd33p+0,   0x1.51ce7b73d813dp+3,
    0x1.7257acb0ae4c1p+6,   0x1.039450470f0edp+9,  -0x1.d30a933ddbe19p+12, -0x1.ccc2e80eeeb0cp+17,
    -0x1.6728952dd0146p+20, 0x1.03aa0ca044e30p+25, 0x1.e12bff8e4d200p+28,  -0x1.e36e951bbb2dap+31,
    -0x1.6a0f0c0899a07p+36, 0x1.a67097b83432dp+38, 0x1.90d6c055133d1p+43,  -0x1.4233a58c6e205p+45,
    -0x1.38cbc89115759p+50, 0x1.5f21bf99ac2e4p+51, 0x1.2cfd2526e8c95p+56,  -0x1.7cc0c44f3e879p+56,
    -0x1.0752b0f5dd87dp+61,
};

/// P in i1(x) = x / 2 (1 + z P(z)), z = x^2 / 4, |x| <= 7.75; relative error.
/// Largest weighted error 2^-63.5.
inline constexpr double i1Central[] = {
    0x1.0000000000000p-1,  0x1.5555555555555p-4,  0x1.c71c71c71c737p-8,  0x1.6c16c16c168f0p-12,
    0x1.845c8a0ceb671p-17, 0x1.27e4fb770e1e9p-22, 0x1.522a4402c724cp-28, 0x1.2c9757fe580fep-34,
    0x1.ab820016e5113p-41, 0x1.f175120e7877ap-48, 0x1.e277398b06b52p-55, 0x1.8b1824278e31bp-62,
    0x1.1aea59249bb75p-69, 0x1.2d6bb8d62a7d1p-77, 0x1.0ff99ecf99741p-84,
};

/// P in i1(x) = exp(x) / sqrt(x) P(1/x - 1/16), x >= 7.75; relative error.
/// Largest weighted error 2^-54.6.
inline constexpr double i1Far[] = {
    0x1.8ebe783a84030p-2,  -0x1.3f796198ee62cp-3,  -0x1.cbc54df1e0e7dp-5,  -0x1.f89c23060f4abp-5,
    -0x1.ec8e113ace447p-4, -0x1.76137fb712c94p-2,  -0x1.ad8c5d6886e2dp+0,  -0x1.7279e9c30af44p+3,
    -0x1.91b5acb977e8bp+6, -0x1.21992b3bc9b7ep+9,  0x1.d23cb78bc9a49p+12,  0x1.e25525ed84158p+17,
    0x1.8def0b2f74a39p+20, -0x1.06faa2014473cp+25, -0x1.ffbfdfb323019p+28, 0x1.da13a4e8fa36ap+31,
    0x1.7c8419ae351cdp+36, -0x1.93b9d092d2900p+38, -0x1.a366e35f07caep+43, 0x1.304d7a75a7d96p+45,
    0x1.46f1e977c88b9p+50, -0x1.4bb2195a3ea54p+51, -0x1.3ae24db0bf70fp+56, 0x1.69ecf99741012p+56,
    0x1.141f668701f96p+61,
};

/// P in sin(pi r) = r (pi + z P(z)), z = r^2, |r| <= 1/2; relative error.
/// Largest weighted error 2^-60.6.
inline constexpr double sinPi[] = {
    -0x1.4abbce625be52p+2, 0x1.466bc6775aa36p+1,  -0x1.32d2cce62530ap-1,  0x1.50783483ec786p-4,
    -0x1.e3074d307a548p-8, 0x1.e8f328be955e5p-12, -0x1.6f70d06796749p-16, 0x1.9bfccdf02617bp-21,
};

/// P in atan(x) = x + x z P(z), z = x^2, |x| <= 1; relative error.
/// Largest weighted error 2^-57.4.
inline constexpr double atanTail[] = {
    -0x1.5555555555526p-2, 0x1.99999999955b1p-3,  -0x1.249249237f4aep-3,  0x1.c71c717fcc800p-4,
    -0x1.745d11ae42e94p-4, 0x1.3b13669807510p-4,  -0x1.110e51166333cp-4,  0x1.e1bba5a707d2dp-5,
    -0x1.ae5e6f07a2813p-5, 0x1.82dac86171514p-5,  -0x1.59a3cac0d680ep-5,  0x1.2c2dc9fade60ep-5,
    -0x1.e9f78659d274cp-6, 0x1.6838838be54a7p-6,  -0x1.c784f495c655cp-7,  0x1.d7a4f30406224p-8,
    -0x1.7a1ee21497b38p-9, 0x1.b3cb60240e31fp-11, -0x1.3f03b7f51ed44p-13, 0x1.bb8b9db473748p-17,
};

/// P in atan(x) = x + x z P(z), z = x^2, |x| <= 1; relative error.
/// Largest weighted error 2^-28.5.
inline constexpr double atanTailF32[] = {
    -0x1.55553e0000000p-2, 0x1.9991ec0000000p-3,  -0x1.2421180000000p-3,
    0x1.c094400000000p-4,  -0x1.5825340000000p-4, 0x1.da98ee0000000p-5,
    -0x1.fe757a0000000p-6, 0x1.65489a0000000p-7,  -0x1.d58f8a0000000p-10,
};

/// P in tan(x) = x + x z P(z), z = x^2, |x| a little over pi/4; relative error.
/// Largest weighted error 2^-29.0.
inline constexpr double tanTailF32[] = {
    0x1.5555620000000p-2, 0x1.110d2e0000000p-3,   0x1.baeb600000000p-5, 0x1.5c179c0000000p-6,
    0x1.6611480000000p-7, -0x1.a0a3880000000p-16, 0x1.227b300000000p-8,
};

/// P in asin(x) = x + x z P(z), z = x^2, |x| <= 1/2; relative error.
/// Largest weighted error 2^-55.9.
inline constexpr double asinTail[] = {
    0x1.5555555555390p-3, 0x1.333333336e80bp-4, 0x1.6db6db427a87dp-5,  0x1.f1c72c38e745fp-6,
    0x1.6e89f44203043p-6, 0x1.1c6be189e6755p-6, 0x1.c6fdc3d284123p-7,  0x1.8ec2eefda898ep-7,
    0x1.abcfcddfbb37ap-8, 0x1.3ff4601da49b3p-6, -0x1.09d2bb82163f5p-6, 0x1.056d49a3ace31p-5,
};

/// p in log(1+f) = f - f^2/2 + f^3 p(f), 1+f in [sqrt(1/2), sqrt(2)]; absolute error.
/// Largest weighted error 2^-27.1.
inline constexpr double logShortF32[] = {
    0x1.5557840000000p-2, -0x1.0004740000000p-2, 0x1.98ad0a0000000p-3, -0x1.533d3a0000000p-3,
    0x1.32bf840000000p-3, -0x1.267c0e0000000p-3, 0x1.6339ee0000000p-4,
};

/// P in sinh(x) = x + x z P(z), z = x^2, |x| <= 1; relative error.
/// Largest weighted error 2^-61.8.
inline constexpr double sinhTail[] = {
    0x1.5555555555556p-3,  0x1.111111111101ep-7,  0x1.a01a01a0372cfp-13, 0x1.71de3a3afa628p-19,
    0x1.ae647005a0d06p-26, 0x1.6116eb5760d7cp-33, 0x1.b5cc4b2aa135ep-41,
};

/// P in asinh(x) = x + x z P(z), z = x^2, |x| <= 1/2; relative error.
/// Largest weighted error 2^-60.0.
inline constexpr double asinhTail[] = {
    -0x1.5555555555541p-3, 0x1.3333333330756p-4, -0x1.6db6db6ba627ap-5, 0x1.f1c71ba9a34c8p-6,
    -0x1.6e8b8ca561df8p-6, 0x1.1c4d2f989c556p-6, -0x1.c972ea077ce79p-7, 0x1.7941e604334a6p-7,
    -0x1.386a219f37b74p-7, 0x1.e943aac7c8fecp-8, -0x1.37217ff3f369ep-8, 0x1.c261031e884bep-10,
};

/// P in atanh(x) = x + x z P(z), z = x^2, |x| <= 1/2; relative error.
/// Largest weighted error 2^-60.4.
inline constexpr double atanhTail[] = {
    0x1.555555555554cp-2,  0x1.999999999b385p-3, 0x1.24924923c7e31p-3,  0x1.c71c722b00650p-4,
    0x1.745d08ac6c922p-4,  0x1.3b151201ce929p-4, 0x1.10fa6d2a8eea2p-4,  0x1.e3eb2aea646fcp-5,
    0x1.9e7cd634551c8p-5,  0x1.e73f517de0983p-5, -0x1.495462296eb52p-8, 0x1.64ccd1dcfb8f7p-3,
    -0x1.8fa37a1f26ccap-3, 0x1.ec9cb9d4528f9p-3,
};

/// The coefficients of the polynomials in eta that are the coefficients of 1/a in Temme's expansion
/// of gammainc.
inline constexpr double temme0[] = {
    -0x1.5555555555555p-2,  0x1.5555555555555p-4,   -0x1.e573ac901e574p-7,  0x1.2f684bda12f68p-10,
    0x1.71de3a556c734p-12,  -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15,  -0x1.255370652afc1p-19,
    -0x1.f1b22f594c6b5p-20, 0x1.bd6d21e4b4109p-21,  -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28,
    0x1.6097d55c37c1cp-27,  -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31,  -0x1.c0d9b6edf2b0bp-36,
    -0x1.0070a87340428p-34};
inline constexpr double temme1[] = {
    -0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9,  0x1.5ac056b015ac0p-9,   -0x1.0394f6f09e723p-10,
    0x1.af83440e53dbcp-13,  -0x1.af83440e53dbcp-22, -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17,
    -0x1.b0bdfcc629cbap-20, 0x1.3f59230a8357cp-28,  0x1.280f2cde3f847p-23,  -0x1.ee23d0cba8aeep-25,
    0x1.9aa7a30de114cp-27,  -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30, 0x1.c9b434bf3c34ep-32};
inline constexpr double temme2[] = {
    0x1.0ee643b990ee6p-8,   -0x1.5f7268edab4c8p-9,  0x1.948b0fcd6e9e0p-11,  0x1.0db20a88f4696p-19,
    -0x1.c253efaa1a932p-14, 0x1.bbf43daf4fe53p-15,  -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25,
    0x1.7058929663937p-20,  -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23,  -0x1.c24bd0e740a6cp-33,
    -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28,  -0x1.77c5829460139p-30};
inline constexpr double temme3[] = {
    0x1.547d93b34e2b6p-11,  0x1.e13ce465fa859p-13,  -0x1.ebfb188b7ca00p-12, 0x1.18b9b5bf2d984p-12,
    -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22, 0x1.73df462204ef4p-17,  -0x1.7cd6f27b3f020p-18,
    0x1.7e0201539310ep-20,  -0x1.ea23269c140a7p-36, -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24,
    -0x1.4853ced169327p-26, 0x1.50c3f0dd501ebp-39};
inline constexpr double temme4[] = {
    -0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11,  -0x1.3999a85a4237ap-12, -0x1.88f2ae1def9d0p-20,
    0x1.16908b48ce058p-14,  -0x1.4ce3fd902bcadp-15, 0x1.7db4c02846e81p-17,  0x1.13b3c5b7cb45ep-32,
    -0x1.c71c074985d3fp-20, 0x1.de37d9f09164cp-21,  -0x1.ec676cf33153cp-23, 0x1.041515bab6adap-35,
    0x1.efe94304ac16bp-26};
inline constexpr double temme5[] = {
    -0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12,  -0x1.a2042c5148e27p-13,
    0x1.1d1e9cb24760bp-14,  0x1.30bdcf208080ep-23,  -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17,
    -0x1.338eb19652fd9p-19, -0x1.659cfde0bb2ebp-32, 0x1.741504e5c87c2p-22,  -0x1.8c267becd0c0fp-23};
inline constexpr double temme6[] = {
    0x1.168ef1b0931c8p-11,  -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12,  0x1.a8411da6cab49p-21,
    -0x1.5600945495b37p-14, 0x1.d6bdf83130dc1p-15,  -0x1.3382f4cf48618p-16, -0x1.a74243fa27729p-29,
    0x1.d115d4f5dcc68p-19,  -0x1.10587854fcb37p-19, 0x1.36c8903447d35p-21};
inline constexpr double temme7[] = {
    0x1.691879c01efb4p-12,  0x1.b1d75d3346711p-15,  -0x1.5f3385098cebfp-12, 0x1.26eeb5ece1d9fp-12,
    -0x1.cc642787368cep-14, -0x1.119c70312e0a2p-23, 0x1.d179830b113abp-16,  -0x1.3269164e3e304p-16,
    0x1.8467d794bd7f2p-18,  0x1.0f82da50cdaeep-31};
inline constexpr double temme8[] = {
    -0x1.5629b3187b744p-11, 0x1.b8239c670e690p-11, -0x1.cb967b4446107p-12,
    -0x1.762676b30cfd6p-21, 0x1.5d1157082916dp-13, -0x1.0c16fcea7ddb2p-13,
    0x1.84637d3f583cdp-15,  0x1.3937992ec9b02p-28, -0x1.6384af9ac219dp-17};
inline constexpr double temme9[] = {
    -0x1.38dff1cc96982p-11, -0x1.2e31f9b7913eap-14, 0x1.63969bb825829p-11,  -0x1.4f9f2582dd0a5p-11,
    0x1.22fb20c28e8a0p-12,  0x1.86c71c8cebf16p-23,  -0x1.63a803aebc9b7p-14, 0x1.00120036172b0p-14};

/// The positive root of digamma in three parts.
inline constexpr double digammaRoot[] = {0x1.762d86356be3fp+0, 0x1.b86a722197829p-54,
                                         0x1.e0d62a6be90c7p-109};

/// pi in three 53-bit parts.
inline constexpr double piParts[] = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53,
                                     -0x1.f1976b7ed8fbcp-109};

/// pi/2 in three 24-bit parts.
inline constexpr double halfPiF32[] = {0x1.921fb60000000p+0, -0x1.777a5c0000000p-25,
                                       -0x1.ee59da0000000p-50};

/// log(2 pi) / 2 in two parts.
inline constexpr double halfLogTwoPi[] = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};

/// 2 / sqrt(pi) in two parts.
inline constexpr double twoOverSqrtPi[] = {0x1.20dd750429b6dp+0, 0x1.1ae3a914fed80p-56};

/// sqrt(1/2) in two parts.
inline constexpr double rootHalf[] = {0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55};

/// sqrt(2) in two parts.
inline constexpr double rootTwo[] = {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54};

/// 1 / pi, rounded.
inline constexpr double inversePi[] = {0x1.45f306dc9c883p-2};

/// log(pi) in two parts.
inline constexpr double logPi[] = {0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57};

/// sqrt(2 pi), rounded.
inline constexpr double sqrtTwoPi[] = {0x1.40d931ff62706p+1};

/// exp(64) in two parts.
inline constexpr double expOf64[] = {0x1.425982cf597cdp+92, 0x1.02e71eada76d8p+37};

} // namespace mlir::weft::coefficients
