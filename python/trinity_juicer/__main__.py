"""python -m trinity_juicer PORT: serves on this machine for as long as Trinity lives, and says where (0: any port)."""

from __future__ import annotations

import json
import os
import sys

from trinity_world.life import end_with_parent, take_pipes


def main() -> None:
    source, sink = take_pipes()
    end_with_parent(source)

    # takes its time, and must not run in what only watches
    from .lean import free_what_there_is, install_nothing

    install_nothing()
    free_what_there_is()
    from .server import serve
    from .session import version

    server = serve(int(sys.argv[1]))
    said = {"port": server.server_address[1], "version": version()}
    os.write(sink, (json.dumps(said) + "\n").encode())
    server.serve_forever()


if __name__ == "__main__":
    main()
