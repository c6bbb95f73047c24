"""Our UUIDs in Python's uuid module, and its in ours."""

import unittest
import uuid

from library import Maker, now_ms, read

GREGORIAN_MS = 12219292800000


def read_uuid(text):
    parts = read("uuid", text)
    return parts and (parts["version"], parts["variant"], parts["ms"])


class Uuids(unittest.TestCase):
    def test_ours_are_what_they_say_in_python(self):
        makers = {1: Maker("uuid_v1", "node=02:42:ac:11:00:02"), 4: Maker("uuid_v4"), 7: Maker("uuid_v7")}
        for _ in range(1000):
            before = now_ms()
            ours = {version: make(before) for version, make in makers.items()}
            for version, text in ours.items():
                theirs = uuid.UUID(text)
                self.assertEqual(str(theirs), text)
                self.assertEqual((theirs.version, theirs.variant), (version, uuid.RFC_4122))
            self.assertEqual(uuid.UUID(ours[1]).node, 0x0242AC110002)
            self.assertAlmostEqual(uuid.UUID(ours[1]).time / 10000 - GREGORIAN_MS, before, delta=2)
            self.assertEqual(uuid.UUID(ours[7]).int >> 80, before)

    def test_a_node_of_ours_is_random_as_python_has_it(self):
        text = Maker("uuid_v1")(now_ms())
        self.assertEqual(uuid.UUID(text).node >> 40 & 1, 1)

    def test_theirs_are_read(self):
        for _ in range(1000):
            before = now_ms()
            version, variant, ms = read_uuid(str(uuid.uuid1()).upper())
            self.assertEqual((version, variant), (1, "rfc9562"))
            self.assertTrue(before - 1 <= ms <= now_ms() + 1)
            self.assertEqual(read_uuid(str(uuid.uuid4())), (4, "rfc9562", -(2**63)))
        self.assertEqual(read_uuid(str(uuid.UUID(int=0)))[:2], (0, "ncs"))
        self.assertIsNone(read_uuid(str(uuid.uuid4())[:-1]))
