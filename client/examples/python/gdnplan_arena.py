# SPDX-FileCopyrightText: The gdnplan authors
# SPDX-License-Identifier: Apache-2.0
"""A session's memory, mapped into this process: shared memory of the host device, or a GPU's by CUDA IPC.

Tensors are views without a copy. They have NumPy's and CUDA's array interfaces, so that numpy.asarray(tensor), or
torch.as_tensor(tensor, device="cuda") and cupy.asarray(tensor), take them as they are. Needs libcuda.so.1 for a GPU, and
nothing else beside the classes that protoc makes of proto/gdnplan/v1.
"""
import ctypes
import dataclasses
import mmap
import os
import time

from gdnplan.v1 import session_pb2

_TYPES = {session_pb2.DTYPE_INT32: ("<i4", ctypes.c_int32), session_pb2.DTYPE_UINT8: ("|u1", ctypes.c_uint8)}
_POLL_S = 20e-6


@dataclasses.dataclass(frozen=True)
class Tensor:
    """Lives as long as its arena. What it holds is good until the plan's slot is handed back."""

    shape: tuple
    dtype: int  # session_pb2.DType
    address: int
    on_gpu: bool

    def __getattr__(self, name):
        # Each side has one of the two, since their presence is what libraries look at.
        if name == ("__cuda_array_interface__" if self.on_gpu else "__array_interface__"):
            return {"shape": self.shape, "typestr": _TYPES[self.dtype][0], "data": (self.address, False), "version": 3}
        raise AttributeError(name)

    def tolist(self):
        """All elements in one list; of the host device only."""
        if self.on_gpu:
            raise TypeError("in GPU memory: torch.as_tensor(tensor, device='cuda') is a view of it")
        count = 1
        for extent in self.shape:
            count *= extent
        return list((_TYPES[self.dtype][1] * count).from_address(self.address))


class HostMemory:
    """An object in the /dev/shm that this process has in common with the server."""

    def __init__(self, handle):
        size = handle.offset + handle.size
        with open("/dev/shm" + handle.posix_shared_memory.name, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)  # ValueError where the object is smaller
        self._base = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._base) + handle.offset
        self.on_gpu = False

    def wait(self, offset, value, _stream, timeout_s):
        end = time.monotonic() + timeout_s
        # x86-64 and aarch64 read and write an aligned value at once; what was written before it is there by then.
        while ctypes.c_uint64.from_address(self.address + offset).value < value:
            if time.monotonic() > end:
                raise TimeoutError(f"the plan was not ready within {timeout_s} s")
            time.sleep(_POLL_S)

    def write(self, offset, value, _stream):
        ctypes.c_uint64.from_address(self.address + offset).value = value

    def close(self):
        del self._base
        self._map.close()


class CudaMemory:
    """Memory of a GPU that the server owns. Uses the GPU's primary context, as PyTorch does."""

    class _IpcHandle(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_ubyte * 64)]

    def __init__(self, handle):
        if handle.cuda_ipc.exporter_pid == os.getpid():
            raise RuntimeError(f"this process and the server are both PID {os.getpid()}, which CUDA takes for one; start one of "
                               "them with another PID (the server does with --min-pid, which is on by default)")
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self._check("cuInit", ctypes.c_uint(0))
        self.ordinal = self._find(handle.cuda_ipc.device_uuid)
        self._context = ctypes.c_void_p()
        self._check("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), ctypes.c_int(self.ordinal))
        self._check("cuCtxSetCurrent", self._context)
        self._memory = ctypes.c_uint64()
        ipc = self._IpcHandle((ctypes.c_ubyte * 64).from_buffer_copy(handle.cuda_ipc.handle))
        self._check("cuIpcOpenMemHandle_v2", ctypes.byref(self._memory), ipc, ctypes.c_uint(1))
        self.address = self._memory.value + handle.offset
        self.on_gpu = True

    def _check(self, function, *arguments):
        result = getattr(self._cuda, function)(*arguments)
        if result != 0:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorString(ctypes.c_int(result), ctypes.byref(text))
            raise RuntimeError(f"{function}: {(text.value or b'unknown error').decode()}")

    def _find(self, uuid):
        """Ordinals differ between containers; UUIDs do not."""
        count = ctypes.c_int()
        self._check("cuDeviceGetCount", ctypes.byref(count))
        for ordinal in range(count.value):
            raw = (ctypes.c_ubyte * 16)()
            self._check("cuDeviceGetUuid_v2", raw, ctypes.c_int(ordinal))
            digits = bytes(raw).hex()
            parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
            if uuid.endswith("-".join(parts)):
                return ordinal
        raise RuntimeError(f"no visible GPU is {uuid}; CUDA_VISIBLE_DEVICES has to name it")

    def wait(self, offset, value, stream, _timeout_s):
        """The stream waits, not the CPU. 0: until at least the value."""
        self._check("cuStreamWaitValue64_v2", ctypes.c_void_p(stream), ctypes.c_uint64(self.address + offset),
                    ctypes.c_uint64(value), ctypes.c_uint(0))

    def write(self, offset, value, stream):
        self._check("cuStreamWriteValue64_v2", ctypes.c_void_p(stream), ctypes.c_uint64(self.address + offset),
                    ctypes.c_uint64(value), ctypes.c_uint(0))

    def close(self):
        self._check("cuCtxSetCurrent", self._context)
        self._check("cuIpcCloseMemHandle", self._memory)
        self._check("cuDevicePrimaryCtxRelease_v2", ctypes.c_int(self.ordinal))


class Arena:
    """A session's plans on one of its devices. `session`: a session_pb2.SessionDescription whose timeline is in the arena,
    which is how sessions are opened unless something else was asked for. Not thread safe."""

    def __init__(self, session, device=0):
        arena = session.arenas[device]
        kind = arena.memory.WhichOneof("kind")
        self.memory = {"posix_shared_memory": HostMemory, "cuda_ipc": CudaMemory}[kind](arena.memory)
        self._timeline = session.timeline
        self._tensors = {tensor.name: tensor for tensor in session.tensors}
        self._num_groups = session.num_groups

    def wait_ready(self, plan, stream=0, timeout_s=5.0):
        """On a GPU what is enqueued on the stream from here on sees the plan; else this returns once it is there."""
        offset = self._timeline.ready_offset + plan.slot * self._timeline.stride
        self.memory.wait(offset, plan.timeline_value, stream, timeout_s)

    def tensor(self, plan, name, group=0):
        """None: the plan has no such tensor, as engines' builders say it. KeyError: no tensor has this name."""
        described = self._tensors[name]
        if not 0 <= group < self._num_groups:
            raise IndexError(f"group: must be in 0..{self._num_groups - 1} (got {group})")
        for placed in plan.tensors:
            if placed.tensor == described.id:
                address = self.memory.address + placed.offset + group * placed.group_stride
                return Tensor(tuple(placed.shape), described.dtype, address, self.memory.on_gpu)
        return None

    def mark_consumed(self, plan, stream=0):
        """After the last use: the slot's next plan may overwrite it, on a GPU once the stream has come this far."""
        offset = self._timeline.consumed_offset + plan.slot * self._timeline.stride
        self.memory.write(offset, plan.timeline_value, stream)

    def close(self):
        """No tensor is used after this."""
        self.memory.close()
