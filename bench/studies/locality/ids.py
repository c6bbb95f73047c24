"""Makes a million ids of each kind with libtxid, a hundred a millisecond."""

import ctypes

COUNT = 1_000_000
FIRST_MS = 1_700_000_000_000
IDS_A_MS = 100


def load(root):
    return ctypes.CDLL(f"{root}/target/release/libtxid.so")


def made(fill, length):
    buffer = ctypes.create_string_buffer(length)
    ids = []
    for number in range(COUNT):
        fill(buffer, ctypes.c_int64(FIRST_MS + number // IDS_A_MS))
        ids.append(buffer.raw.decode())
    return ids


def kinds(root):
    """Returns the ids of each kind, in the order in which they were made. The first kind is random, the others sort by time."""
    library = load(root)
    return {
        "UUID v4": made(lambda buffer, _: library.txid_uuid_v4(buffer), 36),
        "UUID v7": made(library.txid_uuid_v7, 36),
        "txid": made(library.txid_fill, 20),
    }
