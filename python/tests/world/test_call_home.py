import json
import os
import socket

import pytest

from trinity_world.call_home import call_home


def test_pipes_are_kept_where_no_address_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRINITY_WORLD_CONNECT", raising=False)
    assert call_home() is None


def test_shows_its_token_first_and_leaves_it_to_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("TRINITY_WORLD_CONNECT", f"127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setenv("TRINITY_WORLD_TOKEN", "secret")
        there = call_home()
        assert there is not None
        os.write(there, b"frame")
        os.close(there)
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as said:
            assert json.loads(said.readline()) == {"token": "secret"}
            assert said.read() == b"frame"
    assert "TRINITY_WORLD_TOKEN" not in os.environ
