import json
import unittest
from typing import Any

import numpy
from gymnasium import spaces

from trinity_world.spaces import NotAnAction, action_reader, listed_actions
from trinity_world.words import plain

SPACES: list[spaces.Space[Any]] = [
    spaces.Discrete(5, start=-2),
    spaces.Box(-1, 1, (3,), numpy.float32),
    spaces.Box(0, 255, (2, 2), numpy.uint8),
    spaces.MultiDiscrete([3, 4]),
    spaces.MultiBinary(4),
    spaces.Tuple((spaces.Discrete(3), spaces.Box(-5, 5, (2,), numpy.float64))),
    spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Dict({"c": spaces.MultiBinary(2)})}),
    spaces.Sequence(spaces.Discrete(4)),
]


class Actions(unittest.TestCase):
    def test_what_a_space_draws_is_read_back(self) -> None:
        for space in SPACES:
            space.seed(1)
            read = action_reader(space, [])
            for _ in range(50):
                drawn = space.sample()
                found = read(json.dumps(plain(drawn)))
                self.assertTrue(space.contains(found), f"{space}: {found}")
                self.assertEqual(plain(found), plain(drawn))

    def test_everything_else_is_refused_in_words(self) -> None:
        junk = ["", "left", "null", "true", "[]", "{}", "1e999", "NaN", '{"a": 1}', "[[[1]]]", "99", "0.5", '"x"']
        for space in SPACES:
            read = action_reader(space, [])
            for text in junk:
                try:
                    found = read(text)
                except NotAnAction as error:
                    self.assertIn("not an action", str(error))
                else:
                    self.assertTrue(space.contains(found), f"{space}: {text}")

    def test_names_come_before_numbers(self) -> None:
        space = spaces.Discrete(4, start=1)
        read = action_reader(space, ["left", "Right"])
        self.assertEqual([read(word) for word in ("left", " RIGHT ", "3", "4")], [1, 2, 3, 4])
        self.assertEqual(listed_actions(space, ["left", "Right"]), ["left", "Right", "3", "4"])
        for text in ("0", "5", "up"):
            with self.assertRaises(NotAnAction):
                read(text)
        self.assertIsNone(listed_actions(spaces.Discrete(5000), []))
        self.assertIsNone(listed_actions(SPACES[1], []))
