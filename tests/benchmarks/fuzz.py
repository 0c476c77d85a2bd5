"""Coverage-guided fuzzing of what is read from outside, for inputs that raise anything but our own errors.

Usage: python -m tests.benchmarks.fuzz TARGET [--seconds 600] [--findings DIR]

Atheris (`pip install atheris`) mutates the inputs of `tests/fuzzing.py` and keeps those that reach new code.
Each kind of exception is reported once, with the line of our code that raised it, and its input is stored in
the directory of findings.
"""

import argparse
import sys
import tempfile
import traceback
from pathlib import Path

import atheris

with atheris.instrument_imports(
    include=["ingest", "recommend.seeds", "recommend.export", "metalearners.codec"]
):
    from tests.fuzzing import ALLOWED, TARGETS

_OUR_PACKAGES = ("ingest", "recommend", "metalearners", "warehouse")


def main() -> None:
    """Fuzz one target; the process ends when its time is up."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--findings", type=Path, default=Path("build/fuzz"))
    given = parser.parse_args()
    target = TARGETS[given.target]
    given.findings.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()

    def read(content: bytes) -> None:
        try:
            target.read(content)
        except ALLOWED:
            return
        except Exception as error:  # noqa: BLE001 (any kind is a finding)
            place = _place(error)
            if place not in seen:
                seen.add(place)
                file = given.findings / f"{given.target}-{len(seen)}"
                file.write_bytes(content)
                print(f"FOUND {place} with {file}: {str(error)[:200]}", flush=True)

    corpus = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for number, content in enumerate(target.inputs()):
        (corpus / f"seed-{number}").write_bytes(content)
    words = corpus.with_suffix(".dict")
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    limits = [f"-max_total_time={given.seconds}", "-timeout=20", "-rss_limit_mb=2048", "-max_len=20000"]
    atheris.Setup(
        [sys.argv[0], str(corpus), f"-dict={words}", f"-artifact_prefix={given.findings}/", *limits], read
    )
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def _place(error: Exception) -> str:
    """Kind of the error and the last line of our code in its traceback."""
    ours = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if any(f"/{package}/" in frame.filename for package in _OUR_PACKAGES)
        and "site-packages" not in frame.filename
    ]
    return (
        f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else repr(error)
    )


if __name__ == "__main__":
    main()
