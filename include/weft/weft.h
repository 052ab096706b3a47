// All of Weft.
#pragma once

#if __cplusplus < 202002L
#error "Weft needs C++20: compile with -std=c++20"
#else
#include <version>
#ifndef __cpp_lib_source_location
#error "Weft needs std::source_location: g++ 12, clang 16, or a newer one"
#else

#include <weft/activations.h>     // IWYU pragma: export
#include <weft/autodiff.h>        // IWYU pragma: export
#include <weft/checkpoint.h>      // IWYU pragma: export
#include <weft/composites.h>      // IWYU pragma: export
#include <weft/control_flow.h>    // IWYU pragma: export
#include <weft/custom_gradient.h> // IWYU pragma: export
#include <weft/data.h>            // IWYU pragma: export
#include <weft/device.h>          // IWYU pragma: export
#include <weft/distributed.h>     // IWYU pragma: export
#include <weft/dlpack.h>          // IWYU pragma: export
#include <weft/dtype.h>           // IWYU pragma: export
#include <weft/dtype_info.h>      // IWYU pragma: export
#include <weft/error.h>           // IWYU pragma: export
#include <weft/events.h>          // IWYU pragma: export
#include <weft/foreign_memory.h>  // IWYU pragma: export
#include <weft/function.h>        // IWYU pragma: export
#include <weft/gradient_tape.h>   // IWYU pragma: export
#include <weft/gradients.h>       // IWYU pragma: export
#include <weft/host_call.h>       // IWYU pragma: export
#include <weft/indexed_slices.h>  // IWYU pragma: export
#include <weft/io.h>              // IWYU pragma: export
#include <weft/log.h>             // IWYU pragma: export
#include <weft/losses.h>          // IWYU pragma: export
#include <weft/memory.h>          // IWYU pragma: export
#include <weft/mesh.h>            // IWYU pragma: export
#include <weft/metrics.h>         // IWYU pragma: export
#include <weft/nn.h>              // IWYU pragma: export
#include <weft/ops.h>             // IWYU pragma: export
#include <weft/optimizers.h>      // IWYU pragma: export
#include <weft/options.h>         // IWYU pragma: export
#include <weft/phase.h>           // IWYU pragma: export
#include <weft/print.h>           // IWYU pragma: export
#include <weft/profile.h>         // IWYU pragma: export
#include <weft/program.h>         // IWYU pragma: export
#include <weft/random.h>          // IWYU pragma: export
#include <weft/safetensors.h>     // IWYU pragma: export
#include <weft/save.h>            // IWYU pragma: export
#include <weft/schedules.h>       // IWYU pragma: export
#include <weft/shape.h>           // IWYU pragma: export
#include <weft/tensor.h>          // IWYU pragma: export
#include <weft/tensor_array.h>    // IWYU pragma: export
#include <weft/threads.h>         // IWYU pragma: export
#include <weft/train.h>           // IWYU pragma: export
#include <weft/variable.h>        // IWYU pragma: export
#include <weft/vmap.h>            // IWYU pragma: export
#include <weft/windows.h>         // IWYU pragma: export

#endif
#endif
