# How lit runs Weft's text tests: where the tools are, what a RUN line may say, what a REQUIRES line may ask for.
import ctypes
import glob
import importlib.util
import os
import pty
import shutil

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "Weft"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".py"]
config.excludes = ["Inputs", "array-api", "clients", "fuzz", "python", "unit", "lit.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.weft_binary_dir, "test")

# lit can end a test that hangs only where psutil is.
if importlib.util.find_spec("psutil"):
    lit_config.maxIndividualTestTime = 1500

# FileCheck, not and count come from LLVM. A tool that this build lacks stays a bare word, so the test that needs it fails.
llvm_config.with_environment("PATH", config.weft_tools_dir, append_path=True)
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.use_default_substitutions()
llvm_config.with_system_environment(
    ["CCACHE_DIR", "WEFT_JOBS", "GLIBC_TUNABLES", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "ASAN_SYMBOLIZER_PATH"]
)
# What a test leaves in a cache must not outlive the build folder.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
# Tests of the code cache turn it on, with a folder of their own.
config.environment["WEFT_CACHE"] = "off"

tools = ["weft-opt", "weft-run", "weft-compile", "weft-lsp-server", "weft-reduce", "weft-cache", "weft-tblgen"]
llvm_config.add_tool_substitutions(
    [ToolSubst(tool, unresolved="ignore") for tool in tools], [config.weft_tools_dir]
)

config.substitutions.append(("%weft_src", config.weft_source_dir))
config.substitutions.append(("%weft_bin", config.weft_tools_dir))
config.substitutions.append(("%weft_lib", config.weft_library_dir))
config.substitutions.append(("%mlir_include", config.mlir_include_dir))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%cc", config.cc))
config.substitutions.append(("%weft_includes", f"-I{config.weft_source_dir}/include -I{config.weft_generated}/include"))
config.substitutions.append(("%weft_link", f"-L{config.weft_library_dir} -lweft -Wl,-rpath,{config.weft_library_dir}"))

config.substitutions.append(("%weft_build", config.weft_binary_dir))

# `long-tests`: what takes many minutes; parts of ./x check ask for it. Where others take one of three cases, they take all.
if os.environ.get("WEFT_LONG_TESTS"):
    config.available_features.add("long-tests")
config.substitutions.append(("%third", "1" if "long-tests" in config.available_features else "3"))

# `gcc`: a user's program can be compiled by GCC as well, %gcc and %gxx, and has CMake and pkg-config.
gcc = {word: shutil.which(program) for word, program in (("%gcc", "gcc"), ("%gxx", "g++"), ("pkg-config", "pkg-config"))}
if all(gcc.values()):
    config.available_features.add("gcc")
    config.substitutions.extend((word, path) for word, path in gcc.items() if word.startswith("%"))

# `httplib`: weft-serve was built.
if os.path.exists(os.path.join(config.weft_tools_dir, "weft-serve")):
    config.available_features.add("httplib")

# `ptxas`: PTX can be assembled, with %ptxas. `gpu`: it can be run as well.
places = ["/usr/local/cuda*/bin/ptxas", f"{config.weft_source_dir}/build/cuda/ptxas"]
ptxas = shutil.which("ptxas") or next((found for place in places for found in sorted(glob.glob(place))), None)
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
try:
    if ctypes.CDLL("libcuda.so.1").cuInit(0) == 0:
        config.available_features.add("gpu")
except OSError:
    pass

# %emulated runs a command with a GPU in software, of which %seeded is another order of all that has none.
driver = f"WEFT_CUDA_DRIVER={config.weft_library_dir}/libweft-gpu-emulator.so"
config.substitutions.append(("%emulated", f"env {driver} WEFT_GPU_EMULATOR=seed=1"))
config.substitutions.append(("%seeded", f"env {driver} WEFT_GPU_EMULATOR=seed=2,stress"))

# `cuda-headers`: NVIDIA's declarations of the driver's interface, in %cuda_include: those that `./x test` fetches, or a toolkit's.
headers = glob.glob(f"{config.weft_source_dir}/build/cuda/cuda.h") + sorted(glob.glob("/usr/local/cuda*/include/cuda.h"))
if headers:
    config.available_features.add("cuda-headers")
    config.substitutions.append(("%cuda_include", os.path.dirname(headers[0])))

# `static-llvm`, `shared-llvm`: whether the tools have LLVM inside, where no plugin finds it.
config.available_features.add("static-llvm" if config.weft_static_llvm else "shared-llvm")

# `release`: the build is of that preset; a test that builds something need not run in every preset.
if config.weft_build_type == "Release" and not config.weft_sanitize:
    config.available_features.add("release")

# `asan`, `undefined`, `thread`: what the build is instrumented with.
for sanitizer in filter(None, config.weft_sanitize.replace(";", ",").split(",")):
    config.available_features.add("asan" if sanitizer == "address" else sanitizer)

# `pty`: there are pseudo terminals, which a bare root without /dev/pts lacks.
try:
    for descriptor in pty.openpty():
        os.close(descriptor)
    config.available_features.add("pty")
except OSError:
    pass

# `mpirun`: %mpirun starts programs of several processes, each with one thread, all on this machine.
if shutil.which("mpirun"):
    config.available_features.add("mpirun")
    root = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 WEFT_NUM_THREADS=1"
    config.substitutions.append(("%mpirun", f"env {root} timeout 100 mpirun --oversubscribe --bind-to none"))

# `numpy`: %python is an interpreter that can import it. ./x test makes this environment.
python = os.path.join(config.weft_source_dir, "build", "venv", "bin", "python")
if glob.glob(os.path.join(config.weft_source_dir, "build/venv/lib/python3*/site-packages/numpy/__init__.py")):
    config.available_features.add("numpy")
    config.substitutions.append(("%python", python))

# `avx2`, `avx512f`: what this processor can run, for tests that name a target.
with open("/proc/cpuinfo") as cpuinfo:
    flags = next((line for line in cpuinfo if line.startswith("flags")), "").split()
for name in ("avx2", "avx512f"):
    if name in flags:
        config.available_features.add(name)
