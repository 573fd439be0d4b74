"""Tests of the module with a stand-in for a tensor of PyTorch's: memory that this file allocates by the driver, handed out by DLPack's C structs."""

import ctypes
import gc
import unittest
from ctypes import POINTER, Structure, byref, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, pythonapi

import warpsmith_example

cuda = ctypes.CDLL("libcuda.so.1")


def ok(call, *arguments):
    code = getattr(cuda, call)(*arguments)
    assert code == 0, f"{call} answers {code}"


class Tensor(Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class Managed(Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", Deleter)]


class Versioned(Structure):
    pass


VersionedDeleter = ctypes.CFUNCTYPE(None, POINTER(Versioned))
Versioned._fields_ = [
    ("major", c_uint32),
    ("minor", c_uint32),
    ("context", c_void_p),
    ("deleter", VersionedDeleter),
    ("flags", c_uint64),
    ("tensor", Tensor),
]

pythonapi.PyCapsule_New.restype = ctypes.py_object
pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
pythonapi.PyCapsule_IsValid.argtypes = [ctypes.py_object, c_char_p]


class StandIn:
    """Has memory, and lends it to as many as ask, as PyTorch does."""

    old = False

    def __init__(self, numbers, stream=None):
        self.context = c_void_p()
        ok("cuInit", 0)
        ok("cuDevicePrimaryCtxRetain", byref(self.context), 0)
        ok("cuCtxSetCurrent", self.context)
        self.len, self.stream = len(numbers), stream
        self.address = c_uint64()
        ok("cuMemAlloc_v2", byref(self.address), ctypes.c_size_t(4 * max(self.len, 1)))
        host = (ctypes.c_float * self.len)(*numbers)
        ok("cuMemcpyHtoD_v2", self.address, host, ctypes.c_size_t(4 * self.len))
        self.lent = {}
        self.asked = []
        self.code = 2

    def to_list(self):
        host = (ctypes.c_float * self.len)()
        if self.stream is None:
            ok("cuMemcpyDtoH_v2", host, self.address, ctypes.c_size_t(4 * self.len))
        else:
            ok("cuMemcpyDtoHAsync_v2", host, self.address, ctypes.c_size_t(4 * self.len), self.stream)
            ok("cuStreamSynchronize", self.stream)
        return list(host)

    def __dlpack_device__(self):
        return (2, 0)

    def describe(self, tensor):
        tensor.data, tensor.device_type, tensor.device_id = self.address.value, 2, 0
        tensor.ndim, tensor.code, tensor.bits, tensor.lanes = 1, self.code, 32, 1
        shape = (c_int64 * 1)(self.len)
        tensor.shape = ctypes.cast(shape, POINTER(c_int64))
        return shape

    def __dlpack__(self, *, stream=None, **more):
        if self.old and more:
            raise TypeError("__dlpack__() got an unexpected keyword argument")
        self.asked.append((stream, more.get("max_version")))
        managed = Managed() if self.old else Versioned()
        number = id(managed)
        shape = self.describe(managed.tensor)
        delete = (Deleter if self.old else VersionedDeleter)(lambda _: self.lent.pop(number) and None)
        managed.deleter = delete
        if not self.old:
            managed.major, managed.minor = 1, 0
        name = b"dltensor" if self.old else b"dltensor_versioned"
        capsule = pythonapi.PyCapsule_New(ctypes.addressof(managed), name, None)
        # Until the deleter is called.
        self.lent[number] = (managed, shape, delete, capsule, name)
        return capsule


class OldStandIn(StandIn):
    """From before DLPack 1.0."""

    old = True


class TheirStream:
    """A stream, as an object of CuPy's and of PyTorch's has it."""

    def __init__(self):
        self.handle = c_void_p()
        ok("cuStreamCreate", byref(self.handle), 1)
        self.ptr = self.handle.value


class Tests(unittest.TestCase):
    def setUp(self):
        self.device = warpsmith_example.Device(0)

    def test_a_kernel_works_on_a_tensors_memory(self):
        for kind in (StandIn, OldStandIn):
            x = kind([float(i) for i in range(1000)])
            self.device.affine(x, 2.0, 1.0)
            self.device.affine(x, 1.0, 0.5)
            self.assertEqual(x.to_list(), [2.0 * i + 1.5 for i in range(1000)])
            # The legacy default stream is 1 in DLPack.
            version = None if x.old else (1, 0)
            self.assertEqual(x.asked, [(1, version)] * 2)
            # A wait finds the memory unused, and tells its owner.
            self.assertEqual(self.device.to_list(StandIn([3.0])), [3.0])
            self.device.to_list(StandIn([3.0]))
            self.assertEqual(x.lent, {})

    def test_the_kernel_is_in_the_callers_stream(self):
        stream = TheirStream()
        x = StandIn([1.0, 2.0], stream.handle)
        self.device.affine(x, 3.0, 0.0, stream=stream)
        self.device.affine(x, 1.0, 1.0, stream=stream.ptr)
        self.assertEqual(x.to_list(), [4.0, 7.0])
        self.assertEqual([asked[0] for asked in x.asked], [stream.ptr] * 2)

    def test_a_capsule_is_taken_once(self):
        x = StandIn([1.0, 2.0])
        capsule = x.__dlpack__(stream=1)

        class Again:
            def __dlpack__(self, **_):
                return capsule

        self.device.affine(Again(), 2.0, 0.0)
        self.assertTrue(pythonapi.PyCapsule_IsValid(capsule, b"used_dltensor_versioned"))
        with self.assertRaises(BufferError):
            self.device.affine(Again(), 2.0, 0.0)
        self.assertEqual(x.to_list(), [2.0, 4.0])

    def test_what_does_not_fit_is_refused(self):
        x = StandIn([1.0, 2.0])
        x.code = 0
        with self.assertRaisesRegex(RuntimeError, "int32"):
            self.device.affine(x, 2.0, 1.0)
        self.assertEqual(x.lent, {})
        with self.assertRaises(AttributeError):
            self.device.affine([1.0], 2.0, 1.0)
        with self.assertRaisesRegex(RuntimeError, "per-thread"):
            self.device.affine(StandIn([1.0]), 2.0, 1.0, stream=2)
        self.device.affine(StandIn([]), 2.0, 1.0)

    def test_arrays_of_the_module_go_out_once(self):
        x = self.device.array([1.0, 2.0, 3.0])
        self.assertEqual(x.__dlpack_device__(), (2, 0))
        for wrong in ({"copy": True}, {"dl_device": (1, 0)}):
            with self.assertRaises(BufferError):
                x.__dlpack__(**wrong)
        self.assertEqual(self.device.to_list(x), [1.0, 2.0, 3.0])
        with self.assertRaisesRegex(BufferError, "before"):
            x.__dlpack__()
        # Nobody takes it: the capsule frees it.
        for version in (None, (1, 0)):
            capsule = self.device.array([1.0]).__dlpack__(max_version=version)
            name = b"dltensor_versioned" if version else b"dltensor"
            self.assertTrue(pythonapi.PyCapsule_IsValid(capsule, name))
            del capsule
            gc.collect()


if __name__ == "__main__":
    unittest.main()
