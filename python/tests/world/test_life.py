"""Whatever a worker has started ends with it."""

import subprocess
import sys
import unittest

from trinity_world import life

# A number that no process has.
WORKER = 2**30


@unittest.skipUnless(sys.platform == "linux", "environments of processes are looked at in /proc")
class Marked(unittest.TestCase):
    def ends(self, script: str) -> int:
        process = subprocess.Popen(["sh", "-c", script], start_new_session=True)
        try:
            life.end_marked(WORKER)
            return process.wait(timeout=10)
        finally:
            process.kill()

    def test_a_process_whose_environment_shows_late(self) -> None:
        self.assertEqual(self.ends(f"sleep 0.3; TRINITY_WORLD_WORKER={WORKER} exec sleep 1000"), -9)

    def test_processes_of_others_go_on(self) -> None:
        self.assertEqual(self.ends(f"TRINITY_WORLD_WORKER={WORKER}0 sleep 3; exit 7"), 7)
