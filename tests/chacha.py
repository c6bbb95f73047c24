#!/usr/bin/env python3
"""chacha.py: the known answers of src/source/batch.rs, by an implementation of ChaCha that was written from RFC 8439 and knows nothing of
ours. Its 20 rounds are compared with openssl's first."""

import secrets
import struct
import subprocess

MASK = 0xFFFFFFFF


def quarter(state, a, b, c, d):
    for first, second, third, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[first] = (state[first] + state[second]) & MASK
        mixed = state[third] ^ state[first]
        state[third] = (mixed << by | mixed >> (32 - by)) & MASK


def block(rounds, key, counter, nonce):
    begin = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    state = begin[:]
    for _ in range(rounds // 2):
        for column in range(4):
            quarter(state, column, 4 + column, 8 + column, 12 + column)
        for diagonal in range(4):
            quarter(state, diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4, 12 + (diagonal + 3) % 4)
    return struct.pack("<16I", *((a + b) & MASK for a, b in zip(state, begin)))


def keystream(rounds, key, nonce, blocks):
    return b"".join(block(rounds, key, counter, nonce) for counter in range(blocks))


for _ in range(100):
    key, nonce = secrets.token_bytes(32), secrets.token_bytes(12)
    command = ["openssl", "enc", "-chacha20", "-K", key.hex(), "-iv", (bytes(4) + nonce).hex()]
    theirs = subprocess.run(command, input=bytes(512), capture_output=True, check=True).stdout
    assert theirs == keystream(20, key, nonce, 8), "openssl disagrees"

words = struct.unpack("<64Q", keystream(8, bytes(range(32)), struct.pack("<Q4x", 0x0123456789ABCDEF), 8))
for at in (0, 3, 4, 7, 8, 31, 32, 63):
    print(f"({at}, {words[at]:#018x}),")
