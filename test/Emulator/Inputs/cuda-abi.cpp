// Compares Weft's declarations of the CUDA driver's interface with NVIDIA's: sizes, offsets,
// numbers and functions.
#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>
#include <utility>

// What is a macro there and a constant here.
constexpr unsigned theirs[] = {CU_MEMHOSTALLOC_PORTABLE, CU_GRAPH_COND_ASSIGN_DEFAULT,
                               CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT,
                               CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT, CU_LAUNCH_PARAM_END_AS_INT};
#undef CU_MEMHOSTALLOC_PORTABLE
#undef CU_GRAPH_COND_ASSIGN_DEFAULT
#undef CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT
#undef CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT
#undef CU_LAUNCH_PARAM_END
#include "Cuda/Driver.h"

namespace ours = weft::cuda;
static_assert(theirs[0] == ours::CU_MEMHOSTALLOC_PORTABLE &&
              theirs[1] == ours::CU_GRAPH_COND_ASSIGN_DEFAULT &&
              theirs[2] == ours::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT &&
              theirs[3] == ours::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT && theirs[4] == 0);

// Two types are passed the same way: pointers to things of one size, or numbers of one size.
template <class T>
constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;
template <class T, class = void>
constexpr std::size_t size_of = 0; // of what is declared only
template <class T>
constexpr std::size_t size_of<T, std::void_t<decltype(sizeof(T))>> = sizeof(T);
template <class A, class B>
constexpr bool same_value() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using To = std::remove_cv_t<std::remove_pointer_t<A>>;
    using Ours = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (std::is_void_v<To> || std::is_void_v<Ours>)
      return std::is_void_v<To> && std::is_void_v<Ours>;
    else return size_of<To> == size_of<Ours>;
  } else {
    return sizeof(A) == sizeof(B) && is_number<A> == is_number<B> &&
           std::is_pointer_v<A> == std::is_pointer_v<B>;
  }
}
template <class A, class B>
constexpr bool same_function = false;
template <class R, class... A, class S, class... B>
constexpr bool same_function<R (*)(A...), S (*)(B...)> = [] {
  if constexpr (sizeof...(A) != sizeof...(B)) return false;
  else return same_value<R, S>() && (... && same_value<A, B>());
}();

// cuda.h renames functions to their latest versions by macros, which the names here must not go
// through.
#undef cuDeviceGetUuid
#undef cuDeviceTotalMem
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuGetProcAddress
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemGetInfo
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuModuleGetGlobal
#undef cuGraphAddKernelNode
#undef cuGraphAddNode
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphExecUpdate
#undef cuCtxGetDevice
#undef cuCtxSynchronize
#undef cuCtxSetCurrent
#undef cuCtxGetCurrent
namespace weft::cuda {
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters)                                      \
  static_assert(same_function<PFN_##name##_v##version, CUresult(*) parameters>, #name);
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
} // namespace weft::cuda

#define SIZE(type)                                                                                 \
  static_assert(sizeof(::type) == sizeof(ours::type) && alignof(::type) == alignof(ours::type),    \
                #type)
#define FIELD(type, field)                                                                         \
  static_assert(offsetof(::type, field) == offsetof(ours::type, field) &&                          \
                    sizeof(std::declval<::type>().field) ==                                        \
                        sizeof(std::declval<ours::type>().field),                                  \
                #type "." #field)
#define NUMBER(name) static_assert(static_cast<int>(::name) == static_cast<int>(ours::name), #name)

SIZE(CUuuid);
SIZE(CUmemLocation);
SIZE(CUmemPoolProps);
FIELD(CUmemPoolProps, allocType);
FIELD(CUmemPoolProps, handleTypes);
FIELD(CUmemPoolProps, location);
FIELD(CUmemPoolProps, maxSize);
FIELD(CUmemPoolProps, usage);
SIZE(CUlaunchAttributeValue);
SIZE(CUlaunchAttribute);
FIELD(CUlaunchAttribute, value);
SIZE(CUlaunchConfig);
FIELD(CUlaunchConfig, gridDimX);
FIELD(CUlaunchConfig, blockDimZ);
FIELD(CUlaunchConfig, sharedMemBytes);
FIELD(CUlaunchConfig, hStream);
FIELD(CUlaunchConfig, attrs);
FIELD(CUlaunchConfig, numAttrs);
SIZE(CUtensorMap);
SIZE(CUDA_KERNEL_NODE_PARAMS);
FIELD(CUDA_KERNEL_NODE_PARAMS, func);
FIELD(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes);
FIELD(CUDA_KERNEL_NODE_PARAMS, kernelParams);
FIELD(CUDA_KERNEL_NODE_PARAMS, extra);
FIELD(CUDA_KERNEL_NODE_PARAMS, ctx);
SIZE(CUDA_MEMCPY3D);
FIELD(CUDA_MEMCPY3D, srcMemoryType);
FIELD(CUDA_MEMCPY3D, srcHost);
FIELD(CUDA_MEMCPY3D, srcDevice);
FIELD(CUDA_MEMCPY3D, srcPitch);
FIELD(CUDA_MEMCPY3D, dstMemoryType);
FIELD(CUDA_MEMCPY3D, dstDevice);
FIELD(CUDA_MEMCPY3D, dstHeight);
FIELD(CUDA_MEMCPY3D, WidthInBytes);
FIELD(CUDA_MEMCPY3D, Depth);
SIZE(CUDA_MEMSET_NODE_PARAMS);
FIELD(CUDA_MEMSET_NODE_PARAMS, pitch);
FIELD(CUDA_MEMSET_NODE_PARAMS, elementSize);
FIELD(CUDA_MEMSET_NODE_PARAMS, height);
SIZE(CUDA_MEMSET_NODE_PARAMS_v2);
FIELD(CUDA_MEMSET_NODE_PARAMS_v2, ctx);
SIZE(CUDA_MEMCPY_NODE_PARAMS);
FIELD(CUDA_MEMCPY_NODE_PARAMS, copyParams);
SIZE(CUDA_CONDITIONAL_NODE_PARAMS);
FIELD(CUDA_CONDITIONAL_NODE_PARAMS, type);
FIELD(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out);
SIZE(CUgraphNodeParams);
FIELD(CUgraphNodeParams, kernel);
FIELD(CUgraphNodeParams, conditional);
SIZE(CUgraphEdgeData);
SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, hUploadStream);
FIELD(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
SIZE(CUgraphExecUpdateResultInfo);
FIELD(CUgraphExecUpdateResultInfo, errorNode);

NUMBERS

int main() {}
