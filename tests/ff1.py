#!/usr/bin/env python3
"""ff1.py TXID [NUMBERS]: compares so many images, 10,000 if it is not said, of `txid hide` with those of this implementation of FF1, which was written from NIST SP 800-38G
and knows nothing of ours. AES is openssl's: each step of all numbers of a key is one call of it."""

import os
import random
import secrets
import subprocess
import sys
import tempfile

DIGITS, LETTERS = "0123456789", "0123456789abcdefghjkmnpqrstvwxyz"


def aes(key, blocks):
    """Encrypts each block by itself."""
    command = ["openssl", "enc", f"-aes-{8 * len(key)}-ecb", "-nopad", "-K", key.hex()]
    out = subprocess.run(command, input=b"".join(blocks), capture_output=True, check=True).stdout
    return [out[at : at + 16] for at in range(0, len(out), 16)]


def prf(key, messages):
    """The last block of CBC-MAC of each message."""
    states = [bytes(16)] * len(messages)
    for step in range(max(map(len, messages)) // 16):
        going = [at for at, message in enumerate(messages) if 16 * step < len(message)]
        mixed = [bytes(a ^ b for a, b in zip(states[at], messages[at][16 * step : 16 * step + 16])) for at in going]
        for at, state in zip(going, aes(key, mixed)):
            states[at] = state
    return states


def num(numerals, radix):
    total = 0
    for numeral in numerals:
        total = total * radix + numeral
    return total


def numerals_of(number, radix, length):
    out = []
    for _ in range(length):
        number, numeral = divmod(number, radix)
        out.append(numeral)
    return out[::-1]


def encrypt(key, items):
    """FF1.Encrypt (algorithm 7) for items of (radix, tweak, numerals)."""
    halves, constants = [], []
    for radix, tweak, numerals in items:
        n, t = len(numerals), len(tweak)
        u = n // 2
        v = n - u
        b = -(-((radix**v - 1).bit_length()) // 8)
        d = 4 * -(-b // 4) + 4
        p = bytes([1, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, u % 256]) + n.to_bytes(4, "big") + t.to_bytes(4, "big")
        halves.append((numerals[:u], numerals[u:]))
        constants.append((radix, tweak, u, v, b, d, p))
    for i in range(10):
        messages = []
        for (_, right), (radix, tweak, u, v, b, d, p) in zip(halves, constants):
            q = tweak + bytes((-len(tweak) - b - 1) % 16) + bytes([i]) + num(right, radix).to_bytes(b, "big")
            messages.append(p + q)
        for at, r in enumerate(prf(key, messages)):
            (left, right), (radix, tweak, u, v, b, d, p) = halves[at], constants[at]
            m = u if i % 2 == 0 else v
            y = int.from_bytes(r[:d], "big")
            halves[at] = (right, numerals_of((num(left, radix) + y) % radix**m, radix, m))
    return [left + right for left, right in halves]


def check_the_samples():
    key = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94")
    digits = [int(c) for c in "0123456789"]
    samples = encrypt(key, [(10, b"", digits), (10, b"9876543210", digits), (36, b"7777pqrs777", list(range(19)))])
    text = ["".join("0123456789abcdefghijklmnopqrstuvwxyz"[n] for n in sample) for sample in samples]
    assert text == ["6657667009", "1001623463", "xs8a0azh2avyalyzuwd"], text


def main(txid, wanted="10000"):
    check_the_samples()
    shapes = [(DIGITS, n) for n in range(6, 20)] + [(LETTERS, n) for n in range(4, 14)]
    compared = 0
    with tempfile.TemporaryDirectory() as directory:
        for size in (16, 24, 32):
            key = secrets.token_bytes(size)
            path = os.path.join(directory, "key")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                file.write(key.hex() + "\n")
            count = -(-int(wanted) // (3 * len(shapes)))
            items, runs = [], []
            for alphabet, length in shapes:
                radix = len(alphabet)
                name = "".join(random.choices("abcdefghijklmnopqrstuvwxyz-ü", k=random.randint(1, 60)))
                limit = min(radix**length, 2**64)
                numbers = [0, limit - 1] + [random.randrange(limit) >> random.randrange(limit.bit_length()) for _ in range(count - 2)]
                items += [(radix, name.encode(), numerals_of(number, radix, length)) for number in numbers]
                runs.append((alphabet, length, name, numbers))
            images = iter(encrypt(key, items))
            for alphabet, length, name, numbers in runs:
                expected = ["".join(alphabet[n] for n in next(images)) for _ in numbers]
                options = ["--key", path, f"--name={name}", "--digits" if alphabet is DIGITS else "--letters", str(length)]

                def run(command, lines):
                    out = subprocess.run([txid, command, *options], input="\n".join(lines), capture_output=True, text=True, check=True)
                    return out.stdout.split()

                assert run("hide", map(str, numbers)) == expected, (size, length, name)
                assert run("reveal", expected) == list(map(str, numbers)), (size, length, name)
                compared += len(numbers)
    assert compared >= int(wanted), compared
    print(f"{compared} images are the same")


main(*sys.argv[1:])
