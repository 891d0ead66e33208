import io
import unittest
from contextlib import redirect_stdout
from unittest import mock

from trinity_torch import clock


class Clock(unittest.TestCase):
    def test_parts_and_what_is_left(self) -> None:
        out = io.StringIO()
        with redirect_stdout(out), mock.patch("time.perf_counter", side_effect=[0, 1, 3, 4, 4.5, 7]):
            with clock.whole("opened"):
                with clock.part("reading"):
                    pass
                with clock.part("reading"):
                    pass
        self.assertEqual(out.getvalue(), "opened in 7.00 s: reading 2.50, other 4.50\n")
