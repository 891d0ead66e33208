"""A worker of environments on another machine finds Trinity."""

from __future__ import annotations

import json
import os
import socket
import unittest
from unittest import mock

from trinity_world.call_home import call_home


class CallHome(unittest.TestCase):
    def test_pipes_are_kept_where_no_address_is_given(self) -> None:
        with mock.patch.dict(os.environ):
            os.environ.pop("TRINITY_WORLD_CONNECT", None)
            self.assertIsNone(call_home())

    def test_shows_its_token_first_and_leaves_it_to_no_child(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"127.0.0.1:{server.getsockname()[1]}"
            with mock.patch.dict(os.environ, {"TRINITY_WORLD_CONNECT": address, "TRINITY_WORLD_TOKEN": "secret"}):
                there = call_home()
                self.assertNotIn("TRINITY_WORLD_TOKEN", os.environ)
            assert there is not None
            os.write(there, b"frame")
            os.close(there)
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as said:
                self.assertEqual(json.loads(said.readline()), {"token": "secret"})
                self.assertEqual(said.read(), b"frame")


if __name__ == "__main__":
    unittest.main()
