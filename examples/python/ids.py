#!/usr/bin/env python3
"""Ids from libtxid by ctypes, for programs with txid-agent on their host: ids.py [DIRECTORY [COUNT]]"""

import sys
from ctypes import CDLL, byref, c_char_p, c_int64, c_size_t, c_uint64, c_void_p, create_string_buffer

LEN, MESSAGE_LEN, NODE_LEASED = 20, 1024, -1

lib = CDLL("libtxid.so.2")
lib.txid_clock_ms.restype = lib.txid_clock_coarse_ms.restype = c_int64
lib.txid_fill_now.argtypes, lib.txid_fill_now.restype = [c_char_p, c_int64], None
lib.txid_snowflake_open.argtypes = [c_char_p, c_size_t, c_int64, c_char_p, c_size_t, c_uint64, c_void_p, c_char_p]
lib.txid_snowflake_next.argtypes, lib.txid_snowflake_next.restype = [c_void_p, c_int64, c_char_p], c_int64
lib.txid_segment_open.argtypes = [c_char_p, c_size_t, c_void_p, c_char_p]
lib.txid_segment_next.argtypes, lib.txid_segment_next.restype = [c_void_p, c_char_p], c_int64


def checked(call, *args):
    """What the call returns. It takes a buffer for its message last; a negative result is an error."""
    message = create_string_buffer(MESSAGE_LEN)
    result = call(*args, message)
    if result < 0:
        raise RuntimeError(message.value.decode())
    return result


def txid():
    text = create_string_buffer(LEN)
    lib.txid_fill_now(text, lib.txid_clock_ms())
    return text.raw.decode()


def snowflakes(path, layout="snowflake"):
    """A function that returns the next id of the node that txid-agent leases."""
    handle, layout, path = c_void_p(), layout.encode(), path.encode()
    checked(lib.txid_snowflake_open, layout, len(layout), NODE_LEASED, path, len(path), 10_000, byref(handle))
    return lambda: checked(lib.txid_snowflake_next, handle, lib.txid_clock_coarse_ms())


def segment(path):
    """A function that returns the next number that txid-agent has taken."""
    handle, path = c_void_p(), path.encode()
    checked(lib.txid_segment_open, path, len(path), byref(handle))
    return lambda: checked(lib.txid_segment_next, handle)


def main(directory="/run/txid", count="1"):
    order, invoice = snowflakes(f"{directory}/orders"), segment(f"{directory}/invoices.segment")
    for _ in range(int(count)):
        print(txid(), order(), invoice())


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RuntimeError as error:
        sys.exit(f"ids.py: {error}")
