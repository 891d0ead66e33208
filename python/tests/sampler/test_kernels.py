"""The sampler's kernels in Triton's interpreter, which the CPU runs, and by its compiler, which needs no device."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@unittest.skipUnless(importlib.util.find_spec("triton"), "no triton in this environment")
class Kernels(unittest.TestCase):
    def test_they_compile_for_a_device(self):
        done = subprocess.run([sys.executable, "-m", "tests.compile_kernels"], cwd=HERE, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])

    def test_kernels_do_what_their_twins_do(self):
        code = "import torch; from tests.kernel_checks import check_all; check_all('cpu', torch.float32, 1e-5)"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=HERE, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])


if __name__ == "__main__":
    unittest.main()
