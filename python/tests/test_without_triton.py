"""The CPU build of PyTorch comes without Triton, and another Triton may come without Gluon."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class WithoutTriton(unittest.TestCase):
    def test_everything_that_opens_a_model_is_there(self):
        for missing in ("triton", "triton.experimental", "triton.experimental.gluon.nvidia.hopper"):
            code = f"import sys; sys.modules['{missing}'] = None; import trinity_torch.train.open, trinity_torch.sampler.engine"
            done = subprocess.run([sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == "__main__":
    unittest.main()
