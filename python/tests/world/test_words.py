import unittest

import numpy

from trinity_world.ansi import without_escapes
from trinity_world.words import number, observation_text


class Words(unittest.TestCase):
    def test_observations(self) -> None:
        for value, text in [
            ("as it is ü", "as it is ü"),
            (numpy.int64(7), "7"),
            (numpy.float32(0.1), "0.1"),
            (numpy.array([[1.23456789, -2e-9], [0, 1]]), "[[1.23457, -2e-09], [0.0, 1.0]]"),
            ({"a": numpy.array([1, 2], dtype=numpy.int8), 3: (True, None)}, '{"a": [1, 2], "3": [true, null]}'),
            (b"\xffabc", "\ufffdabc"),
            ("half \ud83d", "half ?"),
        ]:
            self.assertEqual(observation_text(value), text)

    def test_numbers_that_json_does_not_have(self) -> None:
        values = [number(float(word)) for word in ("1.5", "nan", "inf", "-inf")]
        self.assertEqual(values, [1.5, "NaN", "Infinity", "-Infinity"])

    def test_colors_keep_what_they_say(self) -> None:
        for given, text in [
            ("plain", "plain"),
            ("\x1b[41mS\x1b[0mFFF", "[S]FFF"),
            ("|\x1b[34;1mR\x1b[0m: |", "|<blue>R</blue>: |"),
            ("\x1b[43m \x1b[0m", "[ ]"),
            ("\x1b[2J\x1b[Hx\x1b[7;32my\x1b[39mz\x1b[27m.", "x[<green>y</green>][z]."),
        ]:
            self.assertEqual(without_escapes(given), text)
