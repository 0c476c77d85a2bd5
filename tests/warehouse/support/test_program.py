"""The process of a command ends with the command's exit code, after its cleanup."""

import subprocess
import sys
from pathlib import Path

import pytest

ENDS = {
    "sys.exit(7)": 7,
    "sys.exit()": 0,
    "sys.exit('what was wrong')": 1,
    "raise ValueError('what was wrong')": 1,
    "pass": 0,
    "threading.Timer(0.05, print, ['later']).start()": 0,
    "sys.stdout.close()": 0,
}


@pytest.mark.parametrize("end", ENDS)
def test_the_exit_code_is_that_of_the_command(tmp_path: Path, end: str) -> None:
    lines = [
        "import atexit, sys, threading",
        "def main():",
        "    atexit.register(print, 'cleaned', file=sys.stderr, end='')",
        "    print('said', end=' ')",
        f"    {end}",
    ]
    (tmp_path / "command.py").write_text("\n".join(lines))
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); " + (
        "from warehouse.support.program import run; run('command')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == ENDS[end]
    assert done.stderr.endswith("cleaned")
    assert ("what was wrong" in done.stderr) == ("what was wrong" in end)
    assert done.stdout == ("said later\n" if "later" in end else "said ")
