// Models and what they are trained with: layers, losses, optimizers, metrics.
#pragma once

#include <weft/activations.h>
#include <weft/losses.h>
#include <weft/metrics.h>
#include <weft/nn/attention.h>
#include <weft/nn/convolution.h>
#include <weft/nn/dense.h>
#include <weft/nn/dropout.h>
#include <weft/nn/embedding.h>
#include <weft/nn/functions.h>
#include <weft/nn/initializers.h>
#include <weft/nn/layer.h>
#include <weft/nn/model.h>
#include <weft/nn/normalization.h>
#include <weft/nn/pooling.h>
#include <weft/nn/recurrent.h>
#include <weft/nn/sequential.h>
#include <weft/nn/shaping.h>
#include <weft/nn/summary.h>
#include <weft/optimizers.h>
