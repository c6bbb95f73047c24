"""ff1.py TXID [COUNT]: whether `txid hide`, `reveal` and `key` agree with an implementation that was written from NIST SP 800-38G and
docs/formats.md, and knows nothing of ours: on COUNT numbers and COUNT UUIDs. So must tests/vectors/hidden.json. AES is openssl's: each
step of all numbers of a key is one call of it."""

import json
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


def xor(one, other):
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).to_bytes(16, "big")


def prf(key, messages):
    """The last block of CBC-MAC of each message."""
    states = [bytes(16)] * len(messages)
    for step in range(max(map(len, messages)) // 16):
        going = [at for at, message in enumerate(messages) if 16 * step < len(message)]
        mixed = [xor(states[at], messages[at][16 * step : 16 * step + 16]) for at in going]
        for at, state in zip(going, aes(key, mixed)):
            states[at] = state
    return states


def first_block(kind, radix, length, tweak):
    return bytes([kind, 2, 1]) + radix.to_bytes(3, "big") + bytes([10, length // 2 % 256]) + length.to_bytes(4, "big") + len(tweak).to_bytes(4, "big")


def encrypt(key, items):
    """FF1.Encrypt (algorithm 7) for items of (radix, tweak, length, number): the number that the text's numerals stand for."""
    halves, constants = [], []
    for radix, tweak, length, number in items:
        u = length // 2
        v = length - u
        b = -(-((radix**v - 1).bit_length()) // 8)
        d = 4 * -(-b // 4) + 4
        halves.append(divmod(number, radix**v))
        constants.append((tweak, (radix**u, radix**v), b, d, first_block(1, radix, length, tweak)))
    for i in range(10):
        messages = []
        for (_, right), (tweak, _, b, d, p) in zip(halves, constants):
            messages.append(p + tweak + bytes((-len(tweak) - b - 1) % 16) + bytes([i]) + right.to_bytes(b, "big"))
        for at, r in enumerate(prf(key, messages)):
            (left, right), (_, sizes, _, d, _) = halves[at], constants[at]
            halves[at] = (right, (left + int.from_bytes(r[:d], "big")) % sizes[i % 2])
    return [left * sizes[1] + right for (left, right), (_, sizes, _, _, _) in zip(halves, constants)]


def text(number, alphabet, length):
    out = ""
    for _ in range(length):
        number, numeral = divmod(number, len(alphabet))
        out = alphabet[numeral] + out
    return out


def check_values(key, items):
    """Of series of (radix, length, tweak, has_check_digit), as docs/formats.md has them."""
    messages = [first_block(3 if check else 2, radix, length, tweak) + tweak + bytes(-len(tweak) % 16) for radix, length, tweak, check in items]
    of_key = aes(key, [bytes(16)])[0][:3].hex()
    return [f"{of_key}-{of_series[:4].hex()}" for of_series in prf(key, messages)]


DAMM = "0317598642 7092154863 4206871359 1750983426 6123045978 3674209581 5869720134 8945362017 9438617205 2581436790".split()


def check_digit(shown, alphabet):
    """As docs/formats.md has it."""
    so_far = 0
    for character in shown:
        value = alphabet.index(character)
        if alphabet is DIGITS:
            so_far = int(DAMM[so_far][value])
        else:
            double = 2 * (so_far ^ value)
            so_far = double ^ 37 if double > 31 else double
    return alphabet[so_far]


def bits_of(uuid):
    """The 122 bits of a UUID that are neither its version nor its variant."""
    bits = f"{int(uuid.replace('-', ''), 16):0128b}"
    return int(bits[:48] + bits[52:64] + bits[66:], 2)


def uuid_of(number, version):
    bits = f"{number:0122b}"
    digits = f"{int(bits[:48] + f'{version:04b}' + bits[48:60] + '10' + bits[60:], 2):032x}"
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


def check_the_samples():
    key = bytes.fromhex("2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94")
    long = "0123456789abcdefghijklmnopqrstuvwxyz"
    samples = encrypt(key, [(10, b"", 10, 123456789), (10, b"9876543210", 10, 123456789), (36, b"7777pqrs777", 19, int(long[:19], 36))])
    shown = [text(samples[0], DIGITS, 10), text(samples[1], DIGITS, 10), text(samples[2], long, 19)]
    assert shown == ["6657667009", "1001623463", "xs8a0azh2avyalyzuwd"], shown


def check_the_vectors():
    """All that a key does is done at once."""
    with open(os.path.join(os.path.dirname(__file__), "vectors", "hidden.json"), encoding="utf-8") as file:
        cases = json.load(file)["valid"]
    hides, checks = {}, {}
    for case in cases:
        words = dict(word.partition("=")[::2] for word in case["options"])
        tweak, inside = words["name"].encode("latin-1"), case["inside"]
        if "uuid" in words:
            radix, length, inside = 2, 122, bits_of(inside)
        else:
            radix, length = (10, int(words["digits"])) if "digits" in words else (32, int(words["letters"]))
        keys = [(line.rpartition(" ")[0], bytes.fromhex(line.split(" ")[-1])) for line in case["keys"]]
        for (period, key), expected in zip(keys, case["check_values"], strict=True):
            checks.setdefault(key, []).append((case, (radix, length, tweak, "check" in words), expected.removeprefix(period + ":")))
        hides.setdefault(key, []).append((case, (radix, tweak, length, int(inside)), period, words))
    for key, of_key in checks.items():
        for (case, _, expected), found in zip(of_key, check_values(key, [item for _, item, _ in of_key])):
            assert found == expected, case
    for key, of_key in hides.items():
        for (case, (radix, _, length, _), period, words), image in zip(of_key, encrypt(key, [item for _, item, _, _ in of_key])):
            alphabet = DIGITS if radix == 10 else LETTERS
            shown = uuid_of(image, 4) if "uuid" in words else period + text(image, alphabet, length)
            assert shown + (check_digit(shown, alphabet) if "check" in words else "") == case["shown"], case


def random_name():
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz-ü", k=random.randint(1, 60)))


def main(txid, wanted="10000"):
    check_the_samples()
    check_the_vectors()
    wanted = int(wanted)
    shapes = [(DIGITS, n) for n in range(6, 20)] + [(LETTERS, n) for n in range(4, 14)]
    compared = compared_uuids = 0
    with tempfile.TemporaryDirectory() as directory:
        for place, size in enumerate((16, 24, 32)):
            # Each is a process of its own: of few numbers, each shape has one length of key.
            of_key = shapes if wanted >= 10000 else shapes[place::3]
            key = secrets.token_bytes(size)
            path = os.path.join(directory, "key")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                file.write(key.hex() + "\n")

            def run(command, options, lines):
                out = subprocess.run([txid, command, *options], input="\n".join(lines), capture_output=True, text=True, check=True)
                return out.stdout.split()

            def compare(name, shape, given, expected):
                options = ["--key", path, f"--name={name}", *shape]
                assert run("hide", options, given) == expected, (size, shape, name)
                assert run("reveal", options, expected) == given, (size, shape, name)

            count = -(-wanted // (3 * len(of_key)))
            items, runs = [], []
            for alphabet, length in of_key:
                radix, name = len(alphabet), random_name()
                limit = min(radix**length, 2**64)
                numbers = [0, limit - 1] + [random.randrange(limit) >> random.randrange(limit.bit_length()) for _ in range(count - 2)]
                items += [(radix, name.encode(), length, number) for number in numbers]
                runs.append((alphabet, length, name, numbers))
            images = iter(encrypt(key, items))
            for alphabet, length, name, numbers in runs:
                shape = ["--digits" if alphabet is DIGITS else "--letters", str(length)]
                given, expected = [str(number) for number in numbers], [text(next(images), alphabet, length) for _ in numbers]
                compare(name, shape, given, expected)
                compare(name, [*shape, "--check"], given, [image + check_digit(image, alphabet) for image in expected])
                compared += len(numbers)
                expected = check_values(key, [(len(alphabet), length, name.encode(), check) for check in (False, True)])
                for check, value in zip(([], ["--check"]), expected):
                    assert run("key", ["check", path, f"--name={name}", *shape, *check], []) == [value], (size, shape, name)

            name = random_name()
            ids = [0, 2**122 - 1] + [secrets.randbits(122) for _ in range(-(-wanted // 3) - 2)]
            images = encrypt(key, [(2, name.encode(), 122, number) for number in ids])
            compare(name, ["--uuid"], [uuid_of(number, 7) for number in ids], [uuid_of(image, 4) for image in images])
            assert all(bits_of(uuid_of(number, 7)) == number for number in ids)
            compared_uuids += len(ids)
            assert run("key", ["check", path, f"--name={name}", "--uuid"], []) == check_values(key, [(2, 122, name.encode(), False)])
    assert compared >= wanted and compared_uuids >= wanted, (compared, compared_uuids)
    print(f"{compared} images of numbers and {compared_uuids} of UUIDs are the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
