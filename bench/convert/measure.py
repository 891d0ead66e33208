"""measure.py COMMAND … runs it and prints what it took: processor seconds, peak memory in bytes."""

import json
import os
import subprocess
import sys

child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
said = child.stderr.read() if child.stderr else b""
_, status, usage = os.wait4(child.pid, 0)
if status != 0:
    sys.exit(said.decode()[-2000:])
print(json.dumps({"seconds": usage.ru_utime + usage.ru_stime, "bytes": usage.ru_maxrss * 1024}))
