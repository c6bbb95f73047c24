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


def read(name, text, *types):
    """What the function reads in the text: a value for each type, or None where it is not of the format."""
    values = [kind() for kind in types]
    raw = text.encode()
    code = getattr(LIBRARY, name)(raw, ctypes.c_size_t(len(raw)), *(ctypes.byref(value) for value in values))
    return [value.value for value in values] if code == 0 else None


def clock(ms):
    return ctypes.c_int64(ms)
