// What programs say most, for a using-directive that collides with little: tensors, ops, gradients,
// control flow, traced functions, and the namespaces nn, losses and optimizers.
#pragma once

// The overloads of `abs` for floating-point numbers, or `abs(-2.5)` would be that of C for int.
#include <math.h>   // NOLINT(modernize-deprecated-headers): in the global namespace
#include <stdlib.h> // NOLINT(modernize-deprecated-headers)

#include <weft/weft.h>

/// `using namespace weft::names;` brings what a model is written with, and leaves out the names
/// that users have for other things: the dtypes (`DType::u8` or `weft::u8`), the namespaces
/// `train`, `data` and `random`, and `Node`. They are there with `weft::` in front. Functions of
/// C++ numbers alone stay those of the C library where it has them: `round(2.5)` is its 3, and
/// `weft::round(2.5)` the tensor 2.
namespace weft::names {

// Tensors and their parts.
using weft::all;
using weft::arange;
using weft::DType;
using weft::ellipsis;
using weft::eye;
using weft::full;
using weft::newaxis;
using weft::ones;
using weft::ones_like;
using weft::Shape;
using weft::Size;
using weft::Sizes;
using weft::spec;
using weft::Tensor;
using weft::tensor;
using weft::TensorArray;
using weft::unknown;
using weft::Variable;
using weft::zeros;
using weft::zeros_like;

// Functions of tensors.
#include <weft/detail/names.inc>
using weft::average_pool;
using weft::check;
using weft::convolution;
using weft::convolution_transpose;
using weft::elu;
using weft::gelu;
using weft::gelu_tanh;
using weft::hard_sigmoid;
using weft::leaky_relu;
using weft::logsumexp;
using weft::max_pool;
using weft::min_pool;
using weft::mish;
using weft::print;
using weft::relu;
using weft::resize_image;
using weft::selu;
using weft::sigmoid;
using weft::silu;
using weft::softplus;
using weft::softsign;
using weft::square;

// Gradients.
using weft::custom_gradient;
using weft::grad;
using weft::GradientTape;
using weft::hessian;
using weft::jacobian;
using weft::jvp;
using weft::Pullback;
using weft::recompute;
using weft::value_and_grad;
using weft::vjp;
using weft::vmap;

// Control flow and traced functions.
using weft::break_if;
using weft::cond;
using weft::for_loop;
using weft::function;
using weft::host_call;
using weft::if_;
using weft::Phase;
using weft::scan;
using weft::switch_case;
using weft::while_loop;

// Errors.
using weft::AssertionError;
using weft::DeviceError;
using weft::DTypeError;
using weft::Error;
using weft::IndexError;
using weft::LinAlgError;
using weft::PeerError;
using weft::ShapeError;
using weft::StateError;
using weft::ValueError;

namespace distributed = weft::distributed;
namespace fft = weft::fft;
namespace linalg = weft::linalg;
namespace losses = weft::losses;
namespace nn = weft::nn;
namespace optimizers = weft::optimizers;

} // namespace weft::names
