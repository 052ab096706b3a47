# Runs a command whose standard output is a terminal, copies what it writes there, and exits as it does.
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
with subprocess.Popen(sys.argv[1:], stdout=theirs) as child:
    os.close(theirs)
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux's answer when the other end is closed
            break
        if not chunk:
            break
        sys.stdout.buffer.write(chunk)
sys.exit(child.returncode)
