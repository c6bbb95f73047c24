"""Writes what formats.json says of ids into the files in sql/, between two marks. With --check, compares it.

A row is written if its texts have a fixed length, and digits of a base that is a power of two, or few enough for a BIGINT where
the time is. Rows with the same texts and the same time, such as trace_host_id, have the functions of the first.
"""

import datetime
import itertools
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
BEGIN, END = "-- Written by readers/write_sql.py from formats.json:\n", "-- The end of what it writes.\n"
EPOCH = datetime.datetime(1970, 1, 1)
LAST_OF_9999 = 253402300799999


class Unwritten(Exception):
    """No function for this row."""


class Digit:
    """A digit of an alphabet: what it can be, and its bits: each 0 or 1 if it is always this one, a Time, or None."""

    def __init__(self, alphabet, both_cases, bits):
        self.alphabet, self.bits = alphabet, bits
        fixed = [(n, bit) for n, bit in enumerate(bits) if bit is not None and not isinstance(bit, Time)]
        characters = {alphabet[value] for value in range(len(alphabet)) if all(value >> n & 1 == bit for n, bit in fixed)}
        if both_cases:
            characters |= {c.lower() for c in characters} | {c.upper() for c in characters}
        self.characters = "".join(sorted(characters))
        self.times = [bit for bit in bits if isinstance(bit, Time)]


class Time(int):
    """A bit of the time."""


class Text:
    """A text of a format: its characters, each a literal or a Digit, and which of them are the time."""

    def __init__(self, parts, digits, older=False):
        self.characters, self.clock, self.zeros = [], None, False
        for part in parts:
            if "digits" in part:
                self.add(part, digits, older)
            else:
                self.characters += part.get("pattern", "")
        if not self.clock:
            raise Unwritten
        # The places of the digits with the time, the highest first, and how many bits are below it.
        times = ((max(c.times), at) for at, c in enumerate(self.characters, 1) if isinstance(c, Digit) and c.times)
        self.places = [at for _, at in sorted(times, reverse=True)]
        lowest = self.characters[self.places[-1] - 1]
        self.length, self.base, self.alphabet = len(self.characters), len(lowest.alphabet), lowest.alphabet
        # From the digit of 1 on, that of 0 after them, and those of the other case: the place of each is its value, modulo the base.
        self.digits = self.alphabet[1:] + self.alphabet[0] + self.alphabet[1:].swapcase() * self.both_cases
        self.epoch, self.unit_ms = int(self.clock.get("epoch", 0)), self.clock["unit_ms"]
        per_unit = self.clock.get("per_unit", 1)
        # The number that the digits are is so many times the time.
        self.factor = per_unit << len(lowest.bits) - len(lowest.times)
        self.last_ms = self.epoch + (1 << self.time_bits) // per_unit * self.unit_ms - 1

    def add(self, part, digits, older):
        """The characters of a number."""
        least, most = part["lengths"]
        if "word" in part or least != most or len(part["fields"]) > 1:
            raise Unwritten
        (fields,) = part["fields"]
        kind = digits[part["digits"]]
        if older:
            kind = digits[kind["other"][1]]
        alphabet, both_cases, pattern = kind["alphabet"], kind.get("both_cases", False), part.get("pattern", "." * most)
        base, count = len(alphabet), pattern.count(".")
        if base & base - 1 == 0:
            places = self.bits_of_digits(part, fields["list"], base.bit_length() - 1, count)
        elif base**count <= 2 ** part["bits"] and len(fields["list"]) == 1:
            places = [[Time(n) if "clock" in fields else None] for n in reversed(range(count))]
        else:
            raise Unwritten
        if "clock" in fields:
            self.clock, self.both_cases, self.is_uuid = fields["clock"], both_cases, pattern.count("-") == 4
            self.time_bits = sum(bits for _, bits, kind, *_ in fields["list"] if kind == "time")
        self.zeros = self.zeros or "nonzero" in part
        made = (Digit(alphabet, both_cases, bits) for bits in places)
        self.characters += [next(made) if c == "." else c for c in pattern]

    @staticmethod
    def bits_of_digits(part, fields, width, count):
        """The bits of each digit, the lowest first."""
        pad = part.get("pad", [0])[0]
        bits = [0] * (width * count - part["bits"] - pad)
        for _, size, kind, *more in fields:
            value = next((more.get("low", more.get("constant", 0)) for more in more), 0)
            for place in reversed(range(size)):
                bits.append(Time(place + value) if kind == "time" else value >> place & 1 if kind == "is" else None)
        bits += [0] * pad
        return [bits[at : at + width][::-1] for at in range(0, len(bits), width)]

    def bound(self, last, has_dashes):
        """The text of a bound: literals, and for each run of digits with the time, how many they are and how many bits are after them."""
        parts, rest = [""], len(self.places) * (self.base.bit_length() - 1)
        for character in self.characters:
            if isinstance(character, Digit) and character.times:
                rest -= len(character.bits)
                count = parts.pop()[0] if isinstance(parts[-1], tuple) else 0
                parts.append((count + 1, rest))
                continue
            if isinstance(character, Digit):
                character = character.alphabet[sum((last if bit is None else bit) << n for n, bit in enumerate(character.bits))]
            elif self.is_uuid and not has_dashes:
                continue
            parts.append((parts.pop() if isinstance(parts[-1], str) else "") + character)
        return [part for part in parts if part]

    def last_of(self, ms):
        """The last text of a time."""
        number, width = ((ms - self.epoch) // self.unit_ms + 1) * self.factor - 1, self.base.bit_length() - 1
        text = ""
        for part in self.bound(1, True):
            count, after = (0, 0) if isinstance(part, str) else part
            text += "".join(self.alphabet[number >> after + width * n & self.base - 1] for n in reversed(range(count))) or part
        return text

    def classes(self):
        """What each character can be, as (characters, how many of them)."""
        can_be = (c if isinstance(c, str) else c.characters for c in self.characters)
        return [(characters, len(list(run))) for characters, run in itertools.groupby(can_be)]

    def pattern(self):
        """A regular expression."""
        return "".join(ranges(can_be) + (f"{{{count}}}" if count > 1 else "") for can_be, count in self.classes())

    def not_zeros(self, id):
        zeros = "".join(c if isinstance(c, str) else c.alphabet[0] for c in self.characters)
        return f" AND {id} <> '{zeros}'" if self.zeros else ""

    def spans(self):
        """Where the digits of the time stand, the highest first, as (place, count)."""
        spans = []
        for at in self.places:
            if spans and sum(spans[-1]) == at:
                spans[-1] = (spans[-1][0], spans[-1][1] + 1)
            else:
                spans.append((at, 1))
        return spans


def ranges(characters):
    """A class of a regular expression."""
    if len(characters) == 1:
        return characters
    runs = itertools.groupby(enumerate(characters.replace("-", "")), lambda pair: ord(pair[1]) - pair[0])
    runs = ("".join(c for _, c in run) for _, run in runs)
    text = "".join(run if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"[{text}{'-' * ('-' in characters)}]"


def texts_of(row, digits):
    """The texts of a row that have functions."""
    if "since" not in row or "rule" in row:
        raise Unwritten
    for text in row["texts"]:
        yield Text(text["parts"], digits)
        if any("other" in digits[part["digits"]] for part in text["parts"] if "digits" in part):
            yield Text(text["parts"], digits, older=True)


class Dialect:
    """How a database says what the functions need."""

    ID, SUBSTR = "id", "substr"
    SHIFTED_DOWN, DIVIDED, REST = "({} >> {})", "{} / {}", "{} & {}"
    # Whether it has a type for them, which dashes are not a part of.
    HAS_UUIDS = False
    # The smallest unit of its times.
    UNITS_PER_MS = 1

    def function(self, *parts):
        return self.FUNCTION.format(*parts)

    def number(self, *digits):
        return self.NUMBER.format(*digits)

    def units(self, text):
        times = (text.epoch * self.UNITS_PER_MS, (text.last_ms + 1) * self.UNITS_PER_MS - 1, text.unit_ms * self.UNITS_PER_MS)
        return f"txid_reader_units(t, {', '.join(map(str, times))})"

    def row(self, row, texts):
        """All functions of a format."""
        name, fields = row["name"], [part["fields"][0]["list"] for part in row["texts"][0]["parts"] if "fields" in part]
        layout = " | ".join(f"{field[0]} : {field[1]}" for field in itertools.chain(*fields))
        functions = [f"-- {row['title']}: | {layout} |", *self.readers(name, texts)]
        if "sorts" in row and texts[0].base & texts[0].base - 1 == 0:
            functions += [self.bound(name, end, texts[0], last) for last, end in enumerate(("first", "last"))]
        return "\n".join(functions)

    def case(self, texts, condition=None):
        whens = (f"\n    WHEN {(condition or self.condition)(text)} THEN {self.ms(text)}" for text in texts)
        return f"CASE{''.join(whens)}\nEND"

    def ms(self, text):
        if self.is_number(text):
            digits = [f"{self.SUBSTR}({self.ID}, {at}, {count})" for at, count in text.spans()]
            value, factor = self.number(self.concatenated(digits), text.base, len(text.places)), text.factor
        else:
            value, factor = self.sum(text)
        value = self.divided(value, factor) if factor > 1 else value
        value = f"{value} * {text.unit_ms}" if text.unit_ms > 1 else value
        return f"{value} - {-text.epoch}" if text.epoch < 0 else f"{value} + {text.epoch}" if text.epoch else value

    def divided(self, value, by):
        return self.DIVIDED.format(value, by) if by & by - 1 else self.SHIFTED_DOWN.format(value, by.bit_length() - 1)

    def is_number(self, text):
        """Whether the database reads digits of this alphabet as a number."""
        return text.base in (10, 16)

    def sum(self, text):
        """The number that ten digits are, and how many times the time it is."""
        number = f"txid_reader_ten({self.ID}, {text.places[0]}, {text.base}, '{text.digits}')"
        return number, text.factor * text.base ** (10 - len(text.places))

    def concatenated(self, parts):
        return " || ".join(parts)

    def word(self, text, last):
        """The number that the digits of a bound are."""
        return f"{self.units(text)} * {text.factor}{f' + {text.factor - 1}' * last}" if text.factor > 1 else self.units(text)

    def words(self, text, last):
        """A bound: literals, and for each run of digits with the time, how many they are and the number that they are."""
        number = self.word(text, last)
        for part in text.bound(last, not (text.is_uuid and self.HAS_UUIDS)):
            if isinstance(part, str):
                yield part
                continue
            count, after = part
            word = f"({number})" if count < len(text.places) and text.factor > 1 else number
            word = self.SHIFTED_DOWN.format(word, after) if after else word
            is_first = count + after // (text.base.bit_length() - 1) == len(text.places)
            yield count, word if is_first else self.REST.format(word, text.base**count - 1)

    def text(self, text, last):
        """The text of a bound."""
        return self.concatenated([f"'{part}'" if isinstance(part, str) else self.digits(text, *part) for part in self.words(text, last)])

    def digits(self, text, count, word):
        if text.base == 16:
            return self.HEX.format(word, count, 1 << 4 * count)
        width = text.base.bit_length() - 1
        return f"txid_reader_text({word}, {width * (count - 1)}, {width}, '{text.alphabet}')"


class PostgreSQL(Dialect):
    FILE, HAS_UUIDS, HEX = "postgresql.sql", True, "lpad(to_hex({}), {}, '0')"
    FUNCTION = "CREATE OR REPLACE FUNCTION {}({}) RETURNS {} IMMUTABLE PARALLEL SAFE\nRETURN {};"

    def number(self, digits, base, count):
        return f"{digits}::bigint" if base == 10 else f"('x' || {digits})::bit({count * 4})::bigint"

    def condition(self, text):
        # The length is known, so the longest run may have any.
        longest = max(count for _, count in text.classes())
        pattern = text.pattern().replace(f"{{{longest}}}", "+", 1)
        return f"length(id) = {text.length} AND id ~ '^{pattern}$'" + text.not_zeros("id")

    def readers(self, name, texts):
        cases = {"id text": self.case(texts)}
        if texts[0].is_uuid:
            # Not by a pattern: a uuid is a text of one kind.
            def condition(text):
                return " AND ".join(f"strpos('{text.characters[at - 1].characters}', substr(id, {at}, 1)) > 0" for at in (15, 20))

            cases["id uuid"] = self.case(texts, condition).replace("substr(id,", "substr(id::text,")
        for argument, case in cases.items():
            yield self.function(f"{name}_ms", argument, "bigint", case)
            yield self.function(f"{name}_time", argument, "timestamptz", f"txid_reader_time({name}_ms(id))")

    def bound(self, name, end, text, last):
        kind, shown = ("uuid", f"({self.text(text, last)})::uuid") if text.is_uuid else ("text", self.text(text, last))
        return self.function(f"{name}_{end}", "t timestamptz", kind, shown)


class MySQL(Dialect):
    FILE, DIVIDED, HEX = "mysql.sql", "CAST({} DIV {} AS SIGNED)", "LPAD(LOWER(HEX({})), {}, '0')"
    FUNCTION = "DROP FUNCTION IF EXISTS {0};\nCREATE FUNCTION {0}({1}) RETURNS {2} DETERMINISTIC NO SQL\nRETURN {3};"
    NUMBER = "CONV({}, {}, 10)"
    # The digits of CONV.
    CONV = "0123456789abcdefghijklmnopqrstuvwxyz"
    ID_TEXT = "id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

    def concatenated(self, parts):
        return f"CONCAT({', '.join(parts)})" if len(parts) > 1 else parts[0]

    def is_number(self, text):
        return self.CONV.startswith(text.alphabet)

    def condition(self, text):
        # Without the length of each run, a newline at the end would be ignored.
        return f"CHAR_LENGTH(id) = {text.length} AND id REGEXP '^{text.pattern()}$'" + text.not_zeros("id")

    def readers(self, name, texts):
        yield self.function(f"{name}_ms", self.ID_TEXT, "BIGINT", self.case(texts))
        time = f"TIMESTAMP '1970-01-01 00:00:00' + INTERVAL {name}_ms(id) * 1000 MICROSECOND"
        if texts[0].last_ms > LAST_OF_9999:
            last = texts[0].last_of(LAST_OF_9999)
            id = "id" if not texts[0].both_cases else "LOWER(id)" if last.islower() else "UPPER(id)"
            time = f"IF({id} <= '{last}', {time}, NULL)"
        yield self.function(f"{name}_time", self.ID_TEXT, "DATETIME(3)", time)

    def units(self, text):
        epoch = EPOCH + datetime.timedelta(milliseconds=text.epoch)
        return f"TIMESTAMPDIFF(MICROSECOND, '{epoch}', t) DIV {text.unit_ms * 1000}"

    def digits(self, text, count, word):
        if text.base == 32 and self.is_number(text):
            return f"LPAD(LOWER(CONV({word}, 10, 32)), {count}, '0')"
        return super().digits(text, count, word)

    def text(self, text, last):
        if not text.is_uuid:
            return super().text(text, last)
        # One number, into which the other characters are put.
        *parts, rest = text.bound(last, True)
        at = len(text.places)
        shown = self.digits(text, at, self.word(text, last))
        for part in reversed(parts):
            if isinstance(part, str):
                shown = f"INSERT({shown}, {at + 1}, 0, '{part}')"
            else:
                at -= part[0]
        return self.concatenated([shown, f"'{rest}'"])

    def bound(self, name, end, text, last):
        first, until = (EPOCH + datetime.timedelta(milliseconds=min(ms, LAST_OF_9999)) for ms in (text.epoch, text.last_ms))
        until += datetime.timedelta(microseconds=999)
        value = f"IF(t BETWEEN '{first}' AND '{until}', {self.text(text, last)}, NULL)"
        return self.function(f"{name}_{end}", "t DATETIME(6)", f"CHAR({text.length}) CHARACTER SET ascii COLLATE ascii_bin", value)


class SQLite(Dialect):
    FILE, ID, NUMBER = "sqlite.sql", ":id", "CAST({} AS INTEGER)"

    def is_number(self, text):
        return text.base == 10

    def sum(self, text):
        terms = (f"instr('{text.digits}', substr(:id, {at}, 1)) % {text.base}" for at in text.places)
        return "(" * len(text.places) + f") * {text.base} + ".join(terms) + ")", text.factor

    def condition(self, text):
        literals = "".join(sorted({c for c in text.characters if isinstance(c, str)} & set("-.")))
        usual = "".join(sorted({c for can_be, _ in text.classes() if can_be != literals for c in can_be}))
        checks = [f"length(CAST(:id AS BLOB)) = {text.length}"]
        digits = f"replace(:id, '{literals}', '')" if literals else ":id"
        checks.append(f"{digits} NOT GLOB '*[^{ranges(usual).strip('[]')}]*'")
        if literals:
            checks.append(f"length({digits}) = {text.length - sum(c == literals for c in text.characters)}")
        # Without a character for each, the rest after a NUL would be ignored.
        glob = "".join(("?" if can_be == usual else ranges(can_be)) * count for can_be, count in text.classes())
        checks.append(f":id GLOB '{glob}'")
        return " AND ".join(checks) + text.not_zeros(":id")

    def readers(self, name, texts):
        yield f"-- {name}_ms\nSELECT {self.case(texts)};"

    def units(self, text):
        since = f"(:ms - {text.epoch})" if text.epoch > 0 else f"(:ms + {-text.epoch})" if text.epoch else ":ms"
        return f"{since} / {text.unit_ms}" if text.unit_ms > 1 else since

    def text(self, text, last):
        if text.base != 16:
            return super().text(text, last)
        words = list(self.words(text, last))
        shown = "".join(part if isinstance(part, str) else f"%0{part[0]}x" for part in words)
        return f"printf('{shown}', {', '.join(part[1] for part in words if not isinstance(part, str))})"

    def digits(self, text, count, word):
        width = text.base.bit_length() - 1
        shifts = (width * at for at in reversed(range(count)))
        return " || ".join(f"substr('{text.alphabet}', 1 + (({word} >> {by}) & {text.base - 1}), 1)" for by in shifts)

    def bound(self, name, end, text, last):
        return f"-- {name}_{end}\nSELECT CASE WHEN :ms BETWEEN {text.epoch} AND {text.last_ms} THEN {self.text(text, last)} END;"


class Macros(Dialect):
    """Those of DuckDB and ClickHouse have no types."""

    UNITS_PER_MS = 1000

    def readers(self, name, texts):
        self.ID = self.TEXT if texts[0].is_uuid else "id"
        yield self.function(f"{name}_ms", "id", self.case(texts))
        yield self.function(f"{name}_time", "id", f"{self.TIME}({name}_ms(id))")

    def condition(self, text):
        return self.MATCHES.format(self.ID, text.pattern()) + text.not_zeros(self.ID)

    def bound(self, name, end, text, last):
        shown = self.text(text, last)
        return self.function(f"{name}_{end}", "t", f"\n    ({shown})::UUID" if text.is_uuid and self.HAS_UUIDS else f"\n    {shown}")


class DuckDB(Macros):
    FILE, DIVIDED, HAS_UUIDS, HEX = "duckdb.sql", "{} // {}", True, "printf('%0{1}x', {0})"
    TEXT, TIME, MATCHES = "id::VARCHAR", "epoch_ms", "regexp_full_match({}, '{}')"
    FUNCTION = "CREATE OR REPLACE MACRO {}({}) AS {};"

    def number(self, digits, base, count):
        prefix = "" if base == 10 else "'0x' || "
        return f"TRY_CAST({prefix}{digits} AS BIGINT)"


class ClickHouse(Macros):
    FILE, SUBSTR, DIVIDED = "clickhouse.sql", "substring", "intDiv({}, {})"
    SHIFTED_DOWN, REST, FUNCTION = "bitShiftRight({}, {})", "bitAnd({}, {})", "CREATE OR REPLACE FUNCTION {} AS ({}) -> {};"
    TEXT, TIME, MATCHES, HEX = "toString(id)", "txid_reader_time", "match({}, '^{}$')", "lower(right(hex({2} + {0}), {1}))"

    def number(self, digits, base, count):
        if base == 10:
            return f"toInt64({digits})"
        return f"toInt64(reinterpretAsUInt64(reverse(unhex('{'0' * (16 - count)}' || {digits}))))"


def functions(dialect):
    """By the name of each format that has some: the name of its functions, and their SQL; None if they are those of another."""
    table = json.loads((HERE / "formats.json").read_text())
    seen, found = {}, {}
    for row in table["formats"]:
        try:
            texts = list(texts_of(row, table["digits"]))
            section = dialect.row(row, texts)
        except Unwritten:
            continue
        same = dialect.case(texts)
        found[row["name"]] = (seen[same], None) if same in seen else (row["name"], section)
        seen.setdefault(same, row["name"])
    return found


def main():
    differing = []
    for dialect in (PostgreSQL(), MySQL(), SQLite(), DuckDB(), ClickHouse()):
        path = HERE / "sql" / dialect.FILE
        there = path.read_text()
        before, rest = there.split(BEGIN)
        sections = "\n\n".join(section for _, section in functions(dialect).values() if section).replace(" \n", "\n")
        written = f"{before}{BEGIN}\n{sections}\n\n{END}{rest.split(END)[1]}"
        if written != there and "--check" in sys.argv:
            differing.append(f"readers/sql/{dialect.FILE} is not what write_sql.py makes of readers/formats.json")
        path.write_text(written if "--check" not in sys.argv else there)
    sys.exit("\n".join(differing) or 0)


if __name__ == "__main__":
    main()
