"""libtxid by its C interface."""

import ctypes
import pathlib
import time

LIBRARY = ctypes.CDLL(str(pathlib.Path(__file__).parents[2] / "target/release/libtxid.so"))


def now_ms():
    return int(time.time() * 1000)


def made(name, length, *arguments):
    """The text that the function writes into a buffer of this length."""
    buffer = ctypes.create_string_buffer(length)
    getattr(LIBRARY, name)(buffer, *arguments)
    return buffer.raw.decode()


class UuidParts(ctypes.Structure):
    _fields_ = [("ms", ctypes.c_int64), ("version", ctypes.c_uint8), ("variant", ctypes.c_uint8)]


class UniqueIdParts(ctypes.Structure):
    _fields_ = [("ms", ctypes.c_int64), ("counter", ctypes.c_uint32), ("thread", ctypes.c_uint32), ("ipv4", ctypes.c_uint32),
                ("pid", ctypes.c_uint32), ("random", ctypes.c_uint8 * 10)]


class TraceparentParts(ctypes.Structure):
    _fields_ = [("trace_id", ctypes.c_char * 32), ("span_id", ctypes.c_char * 16), ("sampled", ctypes.c_bool),
                ("random", ctypes.c_bool)]


class B3Parts(ctypes.Structure):
    _fields_ = [("trace_id", ctypes.c_char * 32), ("span_id", ctypes.c_char * 16), ("parent_span_id", ctypes.c_char * 16),
                ("sampled", ctypes.c_char)]


def read(name, text, kind):
    """What the function reads in the text, as a structure of this kind, or None where it is not of the format."""
    parts = kind()
    raw = text.encode()
    return parts if getattr(LIBRARY, name)(raw, ctypes.c_size_t(len(raw)), ctypes.byref(parts)) == 0 else None


def clock(ms):
    return ctypes.c_int64(ms)
