import unittest

from trinity_juicer.errors import Refused
from trinity_juicer.multipart import fields_of
from trinity_juicer.priority import ordered, priorities, scores_of


class Priority(unittest.TestCase):
    def test_scores_are_means_of_what_was_measured(self) -> None:
        stats = [
            {"alnum_ratio": 0.8, "char_rep_ratio": 0.2, "perplexity": 10},
            {"alnum_ratio": 0.4, "char_rep_ratio": 0.6, "perplexity": 30},
        ]
        scores = scores_of(stats)
        self.assertEqual([round(one, 6) for one in scores["quality_score"]], [0.8, 0.4])
        self.assertEqual(scores["difficulty_score"], [0.0, 1.0])
        self.assertEqual(scores_of([{}, {}]), {})
        self.assertEqual(scores_of([{"alnum_ratio": None}]), {})

    def test_what_is_not_known_counts_as_the_middle(self) -> None:
        rows = [{"consumed_cnt": 2}, {}]
        weights = {"usage_frequency": -0.5, "quality": 1.0, "difficulty": -0.7, "diversity": 0.8}
        found = priorities(rows, {"quality_score": [1.0, 0.0]}, weights)
        self.assertEqual([round(one, 6) for one in found], [-0.35, -0.35])
        with self.assertRaises(Refused):
            priorities(rows, {}, {"qualty": 1.0})

    def test_orders(self) -> None:
        priority = [0.1, 0.9, 0.5, 0.9, 0.2]
        self.assertEqual(ordered(priority, "sort", {}, 3), [1, 3, 2])
        self.assertEqual(ordered(priority, "keep", {}, 2), [0, 1])
        self.assertEqual(ordered(priority, "folding", {"folding_layers": 2}, -1), [1, 2, 0, 3, 4])
        self.assertEqual(sorted(ordered(priority, "shuffle", {}, -1)), [0, 1, 2, 3, 4])
        with self.assertRaises(Refused):
            ordered(priority, "best", {}, -1)


class Multipart(unittest.TestCase):
    def test_bytes_come_out_as_they_went_in(self) -> None:
        data = bytes(range(256)) + b"\r\n--other\r\n\r\n"
        body = b'--b\r\nContent-Disposition: form-data; name="a"; filename="f"\r\nContent-Type: x/y\r\n\r\n' + data
        body += b'\r\n--b\r\nContent-Disposition: form-data; name="s"\r\n\r\nid\r\n--b--\r\n'
        self.assertEqual(fields_of("multipart/form-data; boundary=b", body), {"a": data, "s": b"id"})
        for wrong in ("application/json", "multipart/form-data"):
            with self.assertRaises(Refused):
                fields_of(wrong, body)
