"""libtxid by its C interface."""

import ctypes
import pathlib
import re
import time

ROOT = pathlib.Path(__file__).parents[2]
LIBRARY = ctypes.CDLL(str(ROOT / "target/release/libtxid.so"))
MAX_LEN = int(re.search(r"^#define TXID_MAX_LEN (\d+)$", (ROOT / "include/txid.h").read_text(), re.MULTILINE)[1])


def now_ms():
    return int(time.time() * 1000)


class Text(ctypes.Structure):
    _fields_ = [("len", ctypes.c_size_t), ("data", ctypes.c_char_p)]


class Part(ctypes.Structure):
    _fields_ = [("name_len", ctypes.c_size_t), ("name", ctypes.c_void_p), ("value", ctypes.c_uint8),
                ("text_len", ctypes.c_uint8), ("text", ctypes.c_char * 63), ("number", ctypes.c_uint64)]


class Parts(ctypes.Structure):
    _fields_ = [("ms", ctypes.c_int64), ("count", ctypes.c_size_t), ("list", Part * 8)]


def read(name, text):
    """What the text holds as an id of this format, by name, or None where it is not of the format."""
    raw, parts, message = text.encode(), Parts(), ctypes.create_string_buffer(1024)
    code = LIBRARY.txid_read(name.encode(), ctypes.c_size_t(len(name)), raw, ctypes.c_size_t(len(raw)),
                             ctypes.byref(parts), ctypes.c_size_t(ctypes.sizeof(parts)), message)
    if code != 0:
        return None
    found = {"ms": parts.ms}
    for part in parts.list[:parts.count]:
        as_text = part.text[:part.text_len].decode()
        found[ctypes.string_at(part.name, part.name_len).decode()] = [as_text, part.number, part.number == 1][part.value]
    return found


class Maker:
    """Makes the ids of a format, with options such as "address=10.0.0.7"."""

    def __init__(self, *words):
        texts = (Text * len(words))(*[Text(len(word), word.encode()) for word in words])
        self.maker, self.message = ctypes.c_void_p(), ctypes.create_string_buffer(1024)
        code = LIBRARY.txid_maker_open(texts, ctypes.c_size_t(len(words)), ctypes.c_bool(False),
                                       ctypes.byref(self.maker), self.message)
        assert code == 0, self.message.value

    def __call__(self, ms):
        """An id when the clock reads `ms`."""
        buffer, guessable = ctypes.create_string_buffer(MAX_LEN), ctypes.c_bool()
        length = LIBRARY.txid_maker_fill(self.maker, ctypes.c_int64(ms), buffer, ctypes.byref(guessable), self.message)
        assert length > 0, self.message.value
        return buffer.raw[:length].decode()
