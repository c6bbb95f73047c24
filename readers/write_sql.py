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
UUID = "........-....-....-....-............"
EPOCH = datetime.datetime(1970, 1, 1)
FIRST_OF_1900, FIRST_OF_2300, LAST_OF_9999 = -2208988800000, 10413792000000, 253402300799999


class Unwritten(Exception):
    """No function for this row."""


class Digit:
    """A digit of an alphabet: what it can be, and which bits of the time are in it."""

    def __init__(self, alphabet, both_cases, bits):
        self.alphabet, self.both_cases, self.bits = alphabet, both_cases, bits
        fits = [v for v in range(len(alphabet)) if all(bit in (None, v >> n & 1) or isinstance(bit, Time) for n, bit in enumerate(bits))]
        characters = {alphabet[value] for value in fits}
        if both_cases:
            characters |= {c.lower() for c in characters} | {c.upper() for c in characters}
        self.characters = "".join(sorted(characters))
        self.is_chosen = len(fits) < len(alphabet)

    @property
    def has_time(self):
        return any(isinstance(bit, Time) for bit in self.bits)


class Time(int):
    """A bit of the time."""


class Text:
    """A text of a format: its characters, each a literal or a Digit, and the base of the digits of the time."""

    def __init__(self, parts, digits, older=False):
        self.characters, self.clock, self.zeros = [], None, False
        for part in parts:
            if "digits" not in part:
                self.characters += part.get("pattern", "")
            else:
                self.number(part, digits, older)
        if not self.clock:
            raise Unwritten

    def number(self, part, digits, older):
        least, most = part["lengths"]
        if "word" in part or least != most or len(part["fields"]) > 1:
            raise Unwritten
        (fields,) = part["fields"]
        kind = digits[part["digits"]]
        if older:
            kind = digits[kind["other"][1]]
        alphabet, both = kind["alphabet"], kind.get("both_cases", False)
        base, pattern = len(alphabet), part.get("pattern", "." * most)
        count, has_clock = pattern.count("."), "clock" in fields
        if any("range" in more for _, _, _, *rest in fields["list"] for more in rest):
            raise Unwritten
        if base & base - 1:
            if base**count > 2 ** part["bits"] or base**count >= 2**63 or has_clock and len(fields["list"]) > 1:
                raise Unwritten
            places = [[] for _ in range(count)]
        else:
            places = self.places(part, fields, base.bit_length() - 1, count)
        made = [Digit(alphabet, both, bits) for bits in places]
        if has_clock:
            self.clock, self.base, self.alphabet, self.both = fields["clock"], base, alphabet, both
            self.begin, self.count, self.is_uuid = len(self.characters), count, pattern == UUID
            lows = [(bits, (more[0].get("low", 0) if more else 0)) for _, bits, kind, *more in fields["list"] if kind == "time"]
            self.time_bits = max(bits + low for bits, low in lows)
        self.zeros = self.zeros or "nonzero" in part
        rest = iter(made)
        self.characters += [next(rest) if c == "." else c for c in pattern]

    @staticmethod
    def places(part, fields, width, count):
        """The bits of each digit, the lowest first: a number if it is always this one, a Time, or None."""
        pad = part.get("pad", [0])[0]
        bits = [0] * (width * count - part["bits"] - pad)
        for _, size, kind, *more in fields["list"]:
            value = next((more.get("low", more.get("constant", 0)) for more in more), 0)
            for place in reversed(range(size)):
                bits.append(Time(place + value) if kind == "time" else value >> place & 1 if kind == "is" else None)
        bits += [0] * pad
        return [bits[at : at + width][::-1] for at in range(0, len(bits), width)]

    def runs(self, last, has_dashes):
        """The text of a bound: literals, and runs of digits with bits of the time, as (count, [(low, bits, place)], constant)."""
        runs = []
        for character in self.characters:
            if isinstance(character, str):
                if has_dashes or character != "-":
                    runs.append(character)
                continue
            fixed = sum((last if bit is None else bit) << n for n, bit in enumerate(character.bits) if not isinstance(bit, Time))
            if not character.has_time:
                runs.append(character.alphabet[fixed])
                continue
            if not runs or isinstance(runs[-1], str):
                runs.append((0, [], 0))
            count, pieces, constant = runs.pop()
            width = len(character.bits)
            pieces = [(low, bits, place + width) for low, bits, place in pieces]
            for place, bit in reversed(list(enumerate(character.bits))):
                if isinstance(bit, Time):
                    if pieces and pieces[-1][0] == bit + 1 and pieces[-1][2] == place + 1:
                        pieces[-1] = (int(bit), pieces[-1][1] + 1, place)
                    else:
                        pieces.append((int(bit), 1, place))
            runs.append((count + 1, pieces, (constant << width) + fixed))
        joined = []
        for run in runs:
            if isinstance(run, str) and joined and isinstance(joined[-1], str):
                joined[-1] += run
            else:
                joined.append(run)
        return joined

    def classes(self):
        """What each character can be, as (characters, how many of them)."""
        classes = []
        for character in self.characters:
            can_be = character if isinstance(character, str) else character.characters
            if classes and classes[-1][0] == can_be:
                classes[-1] = (can_be, classes[-1][1] + 1)
            else:
                classes.append((can_be, 1))
        return classes

    def pattern(self, has_length=False):
        """A regular expression. Where the length is known, the longest run has any length."""
        classes = self.classes()
        longest = max(range(len(classes)), key=lambda at: classes[at][1]) if has_length else None
        return "".join(
            ranges(can_be) + ("+" if at == longest and count > 1 else f"{{{count}}}" if count > 1 else "")
            for at, (can_be, count) in enumerate(classes)
        )

    def all_zeros(self):
        return "".join(c if isinstance(c, str) else c.alphabet[0] for c in self.characters)

    def not_zeros(self, id):
        return f" AND {id} <> '{self.all_zeros()}'" if self.zeros else ""

    def spans(self):
        """Where the digits of the time stand, the highest first, as (place, count), and how many bits are below the time."""
        if self.base & self.base - 1:
            return [(self.begin + 1, self.count)], 0
        places, spans = [], []
        for at, character in enumerate(self.characters, 1):
            if isinstance(character, Digit) and character.has_time:
                places.append((max(bit for bit in character.bits if isinstance(bit, Time)), at))
        for _, at in sorted(places, reverse=True):
            if spans and sum(spans[-1]) == at:
                at, count = spans.pop()
                spans.append((at, count + 1))
            else:
                spans.append((at, 1))
        last = self.characters[sum(spans[-1]) - 2]
        return spans, sum(not isinstance(bit, Time) for bit in last.bits)

    def terms(self):
        """Each digit of the time: its place, and by which bits or by which factor it counts."""
        for at, character in enumerate(self.characters):
            if isinstance(character, Digit) and character.has_time:
                n, bit = next((n, bit) for n, bit in enumerate(character.bits) if isinstance(bit, Time))
                if any(isinstance(other, Time) is False and other != 0 for other in character.bits[n:]):
                    raise Unwritten
                yield at + 1, bit - n

    @property
    def length(self):
        return len(self.characters)

    @property
    def epoch(self):
        return int(self.clock.get("epoch", 0))

    @property
    def units(self):
        """How many whole units the time can be."""
        per_unit = self.clock.get("per_unit", 1)
        return (1 << self.time_bits) // per_unit if per_unit == 1 else ((1 << self.time_bits) - 1) // per_unit

    @property
    def times(self):
        """The first and the last millisecond."""
        return self.epoch, self.epoch + self.units * self.clock["unit_ms"] - 1


def ranges(characters):
    """A class of a regular expression."""
    if len(characters) == 1:
        return characters
    text, dash = "", "-" in characters
    rest = [ord(c) for c in characters if c != "-"]
    while rest:
        end = next(n for n in range(1, len(rest) + 1) if n == len(rest) or rest[n] != rest[0] + n)
        run = "".join(map(chr, rest[:end]))
        text += run if end < 3 else f"{run[0]}-{run[-1]}"
        rest = rest[end:]
    return f"[{text}{'-' if dash else ''}]"


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

    ID, OR, CONCATENATED, SUBSTR = "id", "\n    | ", " || ", "substr"
    SHIFTED_UP, SHIFTED_DOWN = "{} << {}", "{} >> {}"
    DIVIDED, REST = "{} / {}", "{} % {}"
    # Whether it has a type for them, which dashes are not a part of.
    HAS_UUIDS = False

    def row(self, row, texts):
        """All functions of a format."""
        name, fields = row["name"], [part["fields"][0]["list"] for part in row["texts"][0]["parts"] if "fields" in part]
        layout = " | ".join(f"{field[0]} : {field[1]}" for field in itertools.chain(*fields))
        functions = [f"-- {row['title']}: | {layout} |", *self.readers(name, texts)]
        if "sorts" in row and not texts[0].base & texts[0].base - 1:
            functions += [self.bound(name, end, texts[0], last) for last, end in enumerate(("first", "last"))]
        return "\n\n".join(functions)

    def case(self, texts, condition=None):
        whens = (f"\n    WHEN {(condition or self.condition)(text)} THEN {self.ms(text)}" for text in texts)
        return f"CASE{''.join(whens)}\nEND"

    def ms(self, text):
        clock, value = text.clock, self.value(text)
        if "per_unit" in clock:
            value = self.DIVIDED.format(f"({value})", clock["per_unit"])
        if clock["unit_ms"] > 1:
            value = f"({value}) * {clock['unit_ms']}"
        return f"{value} - {-text.epoch}" if text.epoch < 0 else f"{value} + {text.epoch}" if text.epoch else value

    def value(self, text):
        """The number that the time is, in units of the clock."""
        if self.has_number(text):
            spans, below = text.spans()
            digits = self.CONCATENATED.join(f"{self.SUBSTR}({self.ID}, {at}, {count})" for at, count in spans)
            value = self.number(digits if len(spans) == 1 else self.concatenated(digits), text.base, sum(count for _, count in spans))
            return self.SHIFTED_DOWN.format(value, below) if below else value
        if text.base & text.base - 1:
            last = text.begin + text.count
            terms = [f"{self.digit(text, at)} * {text.base ** (last - at)}" for at in range(text.begin + 1, last + 1)]
            return self.lines("\n    + ", terms)
        shifts = ((self.SHIFTED_UP if by >= 0 else self.SHIFTED_DOWN).format(self.digit(text, at), abs(by)) for at, by in text.terms())
        return self.lines(self.OR, (f"({it})" for it in shifts))

    def lines(self, operator, terms):
        return f"(\n      {operator.join(terms)}\n    )"

    def has_number(self, text):
        """Whether the database reads digits of this alphabet as a number."""
        return text.base in self.SPANS

    def concatenated(self, parts):
        return parts

    def digit(self, text, at):
        character = self.character(f"{self.SUBSTR}({self.ID}, {at}, 1)")
        if text.both:
            character = f"{'lower' if text.alphabet.islower() else 'upper'}({character})"
        return self.found(character, text.alphabet)

    def character(self, character):
        return character

    def word(self, text, run, units):
        """A run of digits, as a number."""
        _, pieces, constant = run
        words = []
        for low, bits, place in pieces:
            word = self.SHIFTED_DOWN.format(units, low) if low else units
            if low + bits < text.time_bits:
                word = self.REST.format(f"({word})" if low else word, 1 << bits)
            words.append(f"({word}) * {1 << place}" if place else word)
        return " + ".join(words + [str(constant)] * bool(constant))

    def text(self, text, last):
        """The text of a bound."""
        units, per_unit = self.units(text), text.clock.get("per_unit", 1)
        if per_unit > 1:
            units = f"({units} * {per_unit}{f' + {per_unit - 1}' * last})"
        parts = (f"'{run}'" if isinstance(run, str) else self.digits(text, run[0], self.word(text, run, units)) for run in text.runs(last, not (text.is_uuid and self.HAS_UUIDS)))
        return self.concatenated(self.CONCATENATED.join(parts))


class PostgreSQL(Dialect):
    FILE, SPANS, HAS_UUIDS = "postgresql.sql", (10, 16), True

    def number(self, digits, base, count):
        return f"({digits})::bigint" if base == 10 else f"('x' || {digits})::bit({count * 4})::bigint"

    def character(self, character):
        return f'{character} COLLATE "C"'

    def found(self, character, alphabet):
        return f"(strpos('{alphabet}', {character}) - 1)::bigint"

    def condition(self, text):
        return f"length(id) = {text.length} AND id ~ '^{text.pattern(has_length=True)}$'" + text.not_zeros("id")

    def function(self, name, argument, kind, value):
        return f"CREATE OR REPLACE FUNCTION {name}({argument}) RETURNS {kind}\nIMMUTABLE PARALLEL SAFE\nRETURN {value};"

    def readers(self, name, texts):
        cases = {"id text": self.case(texts)}
        if texts[0].is_uuid:
            # Not by a pattern: a uuid is a text of one kind.
            def condition(text):
                few = ((at, c.characters) for at, c in enumerate(text.characters, 1) if isinstance(c, Digit) and c.is_chosen)
                return " AND ".join(f"strpos('{characters}', substr(id::text, {at}, 1)) > 0" for at, characters in few)

            cases["id uuid"] = self.case(texts, condition).replace("substr(id,", "substr(id::text,")
        for argument, case in cases.items():
            yield self.function(f"{name}_ms", argument, "bigint", case)
            yield self.function(f"{name}_time", argument, "timestamptz", f"to_timestamp({name}_ms(id) / 1000::float8)::timestamptz(3)")

    def units(self, text):
        return "units::bigint"

    def digits(self, text, count, word):
        if text.base == 16:
            return f"lpad(to_hex({word}), {count}, '0')"
        digit = f"substr('{text.alphabet}', 1 + (({word}) >> bits & {text.base - 1})::int, 1)"
        width = text.base.bit_length() - 1
        return f"(SELECT string_agg({digit}, '' ORDER BY bits DESC) FROM generate_series(0, {width * (count - 1)}, {width}) AS bits)"

    def bound(self, name, end, text, last):
        ms = f"floor(extract(epoch FROM t) * 1000){f' - {text.epoch}' if text.epoch > 0 else f' + {-text.epoch}' if text.epoch else ''}"
        units = f"floor(({ms}) / {text.clock['unit_ms']})" if text.clock["unit_ms"] > 1 else ms
        kind, shown = ("uuid", f"({self.text(text, last)})::uuid") if text.is_uuid else ("text", self.text(text, last))
        query = f"(\n    SELECT {shown}\n    FROM (SELECT {units}) AS since (units)\n    WHERE units BETWEEN 0 AND {text.units - 1}\n)"
        return self.function(f"{name}_{end}", "t timestamptz", kind, query)


class MySQL(Dialect):
    FILE, CONCATENATED, DIVIDED = "mysql.sql", ", ", "CAST({} DIV {} AS SIGNED)"
    # The digits of CONV.
    CONV = "0123456789abcdefghijklmnopqrstuvwxyz"
    ID_TEXT = "id TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"

    def number(self, digits, base, count):
        return f"CONV({digits}, {base}, 10)"

    def concatenated(self, parts):
        return f"CONCAT({parts})"

    def has_number(self, text):
        return self.CONV.startswith(text.alphabet)

    def found(self, character, alphabet):
        return f"(LOCATE({character}, '{alphabet}') - 1)"

    def condition(self, text):
        # Without the length of each run, a newline at the end would be ignored.
        return f"CHAR_LENGTH(id) = {text.length} AND id REGEXP '^{text.pattern()}$'" + text.not_zeros("id")

    def function(self, name, argument, kind, value):
        head = f"DROP FUNCTION IF EXISTS {name};\nCREATE FUNCTION {name}({argument}) RETURNS {kind}"
        return f"{head}\nDETERMINISTIC NO SQL\nRETURN {value};"

    def readers(self, name, texts):
        yield self.function(f"{name}_ms", self.ID_TEXT, "BIGINT", self.case(texts))
        ms = f"{name}_ms(id)"
        if texts[0].times[1] > LAST_OF_9999:
            ms = f"NULLIF(LEAST({ms}, {LAST_OF_9999 + 1}), {LAST_OF_9999 + 1})"
        yield self.function(f"{name}_time", self.ID_TEXT, "DATETIME(3)", f"TIMESTAMP '1970-01-01 00:00:00' + INTERVAL {ms} * 1000 MICROSECOND")

    def units(self, text):
        epoch = EPOCH + datetime.timedelta(milliseconds=text.epoch)
        return f"(TIMESTAMPDIFF(MICROSECOND, '{epoch}', t) DIV {text.clock['unit_ms'] * 1000})"

    def digits(self, text, count, word):
        if text.base == 16:
            return f"LPAD(LOWER(HEX({word})), {count}, '0')"
        if self.CONV.startswith(text.alphabet):
            return f"LPAD(LOWER(CONV({word}, 10, {text.base})), {count}, '0')"
        width = text.base.bit_length() - 1
        shifts = (width * at for at in reversed(range(count)))
        return ", ".join(f"\n        SUBSTR('{text.alphabet}', 1 + (({word}) >> {by} & {text.base - 1}), 1)" for by in shifts)

    def bound(self, name, end, text, last):
        first, until = (EPOCH + datetime.timedelta(milliseconds=min(ms, LAST_OF_9999)) for ms in text.times)
        until += datetime.timedelta(microseconds=999)
        value = f"IF(t BETWEEN '{first}' AND '{until}', {self.text(text, last)}, NULL)"
        return self.function(f"{name}_{end}", "t DATETIME(6)", f"CHAR({text.length}) CHARACTER SET ascii COLLATE ascii_bin", value)


class SQLite(Dialect):
    FILE, SPANS, ID = "sqlite.sql", (10,), ":id"

    def number(self, digits, base, count):
        return f"CAST({digits} AS INTEGER)"

    def found(self, character, alphabet):
        return f"(instr('{alphabet}', {character}) - 1)"

    def condition(self, text):
        literals = "".join(sorted({c for c in text.characters if isinstance(c, str)} & set("-.")))
        usual = "".join(sorted({c for can_be, _ in text.classes() if can_be != literals for c in can_be}))
        checks = [f"length(CAST(:id AS BLOB)) = {text.length}"]
        digits = f"replace(:id, '{literals}', '')" if literals else ":id"
        checks.append(f"{digits} NOT GLOB '*[^{ranges(usual).strip('[]')}]*'")
        if literals:
            checks.append(f"length({digits}) = {text.length - sum(c == literals for c in text.characters)}")
        glob = "".join(("?" if can_be == usual else ranges(can_be)) * count for can_be, count in text.classes())
        if glob.strip("?"):
            checks.append(f":id GLOB '{glob}'")
        return " AND ".join(checks) + text.not_zeros(":id")

    def readers(self, name, texts):
        yield f"-- {name}_ms\nSELECT {self.case(texts)};"

    def units(self, text):
        since = f"(:ms - {text.epoch})" if text.epoch > 0 else f"(:ms + {-text.epoch})" if text.epoch else ":ms"
        return f"({since} / {text.clock['unit_ms']})" if text.clock["unit_ms"] > 1 else since

    def digits(self, text, count, word):
        if text.base == 16:
            return f"printf('%0{count}x', {word})"
        width = text.base.bit_length() - 1
        shifts = (width * at for at in reversed(range(count)))
        return " || ".join(f"\n    substr('{text.alphabet}', 1 + (({word} >> {by}) & {text.base - 1}), 1)" for by in shifts)

    def word(self, text, run, units):
        # Its operators of bits have one precedence, below that of +.
        return f"({super().word(text, run, units)})"

    def bound(self, name, end, text, last):
        first, until = text.times
        return f"-- {name}_{end}\nSELECT CASE WHEN :ms BETWEEN {first} AND {until} THEN {self.text(text, last)} END;"


class DuckDB(Dialect):
    FILE, SPANS, DIVIDED, HAS_UUIDS = "duckdb.sql", (10, 16), "{} // {}", True

    def number(self, digits, base, count):
        prefix = "" if base == 10 else "'0x' || "
        return f"TRY_CAST({prefix}{digits} AS BIGINT)"

    def found(self, character, alphabet):
        return f"(instr('{alphabet}', {character}) - 1)"

    def condition(self, text):
        return f"regexp_full_match({self.ID}, '{text.pattern()}')" + text.not_zeros(self.ID)

    def readers(self, name, texts):
        self.ID = "id::VARCHAR" if texts[0].is_uuid else "id"
        yield f"CREATE OR REPLACE MACRO {name}_ms(id) AS {self.case(texts)};"
        yield f"CREATE OR REPLACE MACRO {name}_time(id) AS epoch_ms({name}_ms(id));"

    def units(self, text):
        since = f"(epoch_us(t) - {text.epoch * 1000})" if text.epoch else "epoch_us(t)"
        return f"({since} // {text.clock['unit_ms'] * 1000})"

    def digits(self, text, count, word):
        if text.base == 16:
            return f"printf('%0{count}x', {word})"
        width = text.base.bit_length() - 1
        shifts = [width * at for at in reversed(range(count))]
        digit = f"substr('{text.alphabet}', 1 + ((({word}) >> bits) & {text.base - 1})::INTEGER, 1)"
        return f"array_to_string([{digit} FOR bits IN {shifts}], '')"

    def bound(self, name, end, text, last):
        first, until = text.times
        shown = f"({self.text(text, last)})::UUID" if text.is_uuid else self.text(text, last)
        times = f"epoch_us(t) BETWEEN {first * 1000} AND {until * 1000 + 999}"
        return f"CREATE OR REPLACE MACRO {name}_{end}(t) AS CASE WHEN {times} THEN\n    {shown}\nEND;"


class ClickHouse(Dialect):
    FILE, SPANS, SUBSTR = "clickhouse.sql", (10, 16), "substring"
    DIVIDED, SHIFTED_UP, SHIFTED_DOWN, OR = "intDiv({}, {})", "bitShiftLeft({}, {})", "bitShiftRight({}, {})", "\n    + "

    def number(self, digits, base, count):
        if base == 10:
            return f"toInt64({digits})"
        padding = f"'{'0' * (16 - count)}' || " if count < 16 else ""
        return f"toInt64(reinterpretAsUInt64(reverse(unhex({padding}{digits}))))"

    def found(self, character, alphabet):
        return f"toInt64(position('{alphabet}', {character}) - 1)"

    def condition(self, text):
        return f"match({self.ID}, '^{text.pattern()}$')" + text.not_zeros(self.ID)

    def readers(self, name, texts):
        self.ID = "toString(id)" if texts[0].is_uuid else "id"
        yield f"CREATE OR REPLACE FUNCTION {name}_ms AS (id) -> {self.case(texts)};"
        time, (first, last) = f"fromUnixTimestamp64Milli({name}_ms(id), 'UTC')", texts[0].times
        if first < FIRST_OF_1900 or last >= FIRST_OF_2300:
            time = f"if({name}_ms(id) BETWEEN {FIRST_OF_1900} AND {FIRST_OF_2300 - 1}, {time}, NULL)"
        yield f"CREATE OR REPLACE FUNCTION {name}_time AS (id) -> {time};"

    def units(self, text):
        since = f"us_of_time(t) {'-' if text.epoch > 0 else '+'} {abs(text.epoch) * 1000}" if text.epoch else "us_of_time(t)"
        return f"intDiv({since}, {text.clock['unit_ms'] * 1000})"

    def digits(self, text, count, word):
        if text.base == 16:
            return f"lower(right(hex({1 << 4 * count} + {word}), {count}))"
        width = text.base.bit_length() - 1
        shifts = [width * at for at in reversed(range(count))]
        digit = f"substring('{text.alphabet}', 1 + bitAnd(bitShiftRight({word}, bits), {text.base - 1}), 1)"
        return f"arrayStringConcat(arrayMap(bits -> {digit}, {shifts}))"

    def bound(self, name, end, text, last):
        first, until = text.times
        times = f"us_of_time(t) BETWEEN {first * 1000} AND {until * 1000 + 999}"
        return f"CREATE OR REPLACE FUNCTION {name}_{end} AS (t) -> if(\n    {times},\n    {self.text(text, last)},\n    NULL\n);"


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
        sections = "\n\n\n".join(section for _, section in functions(dialect).values() if section)
        sections = "\n".join(line.rstrip() for line in sections.split("\n"))
        written = f"{before}{BEGIN}\n{sections}\n\n{END}{rest.split(END)[1]}"
        if written != there and "--check" in sys.argv:
            differing.append(f"readers/sql/{dialect.FILE} is not what write_sql.py makes of readers/formats.json")
        path.write_text(written if "--check" not in sys.argv else there)
    sys.exit("\n".join(differing) or 0)


if __name__ == "__main__":
    main()
