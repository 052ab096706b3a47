"""A CUDA driver by its C functions, or the emulator in its place: memory, texts of PTX, launches. Nothing but Python is needed."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

COMPUTE_MAJOR, COMPUTE_MINOR = 75, 76
ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE = 5, 6


class DriverError(Exception):
    pass


class Refused(DriverError):
    """A text that the driver does not take, with its log."""


class Driver:
    """The first GPU of a driver. Only one process at a time, and one thread in it, may use it."""

    def __init__(self, path):
        try:
            self.library = ctypes.CDLL(path)
        except OSError as error:
            raise DriverError(f"no CUDA driver ({error})") from error
        version, count = c_int(), c_int()
        self.call("cuInit", 0)
        self.call("cuDriverGetVersion", byref(version))
        self.call("cuDeviceGetCount", byref(count))
        if count.value == 0:
            raise DriverError("the CUDA driver finds no GPU")
        self.version = version.value
        device, context = c_int(), c_void_p()
        self.call("cuDeviceGet", byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()
        numbers = []
        for attribute in (COMPUTE_MAJOR, COMPUTE_MINOR):
            value = c_int()
            self.call("cuDeviceGetAttribute", byref(value), attribute, device)
            numbers.append(value.value)
        self.chip = "sm_%d%d" % tuple(numbers) + ("a" if numbers == [9, 0] else "")

    def call(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        if result != 0:
            words = ctypes.c_char_p()
            self.library.cuGetErrorName(result, byref(words))
            raise DriverError(f"{name}: {words.value.decode() if words.value else result}")

    def put(self, data):
        """Memory with these bytes."""
        address = c_uint64()
        self.call("cuMemAlloc_v2", byref(address), c_size_t(max(len(data), 1)))
        self.call("cuMemcpyHtoDAsync_v2", address, data, c_size_t(len(data)), None)
        self.call("cuStreamSynchronize", None)
        return address

    def get(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoHAsync_v2", data, address, c_size_t(size), None)
        self.call("cuStreamSynchronize", None)
        return data.raw

    def free(self, address):
        self.call("cuMemFree_v2", address)

    def run(self, ptx, kernel, blocks, threads, arguments):
        """Loads a text, launches a kernel with arguments of 64 bits, and waits."""
        module, function = c_void_p(), c_void_p()
        log = ctypes.create_string_buffer(1024)
        names = (c_int * 2)(ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE)
        values = (c_void_p * 2)(ctypes.addressof(log), len(log))
        try:
            self.call("cuModuleLoadDataEx", byref(module), ptx.encode(), 2, names, values)
        except DriverError as error:
            raise Refused(f"{error}: {log.value.decode(errors='replace').strip()}") from error
        try:
            self.call("cuModuleGetFunction", byref(function), module, kernel.encode())
            numbers = [c_uint64(argument) for argument in arguments]
            pointers = (c_void_p * len(numbers))(*(ctypes.addressof(number) for number in numbers))
            self.call("cuLaunchKernelEx", byref(LaunchConfig(blocks, threads)), function, pointers, None)
            self.call("cuStreamSynchronize", None)
        finally:
            self.library.cuModuleUnload(module)


class LaunchConfig(ctypes.Structure):
    _fields_ = [(name, c_uint) for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared")]
    _fields_ += [("stream", c_void_p), ("attributes", c_void_p), ("attribute_count", c_uint)]

    def __init__(self, blocks, threads):
        super().__init__(blocks, 1, 1, threads, 1, 1, 0, None, None, 0)
