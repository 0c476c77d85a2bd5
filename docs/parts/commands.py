"""Commands with their options, defaults and examples, as their `--help` has them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from typer.main import get_command

from docs.parts.markdown import code, codes, plain, preformatted, table
from warehouse.support import errors

PROGRAMS: Mapping[str, str] = {
    "recommend": "recommend.cli",
    "tune": "recommend.bo.cli",
    "ingest": "ingest.cli",
    "warehouse": "warehouse.cli",
    "metalearners": "metalearners.cli",
}
"""Program -> module of its command line."""

_EXAMPLE = re.compile(r"^(?:Examples?:\s*)?(?P<line>(?:recommend|tune|ingest|warehouse|metalearners) .*)$")
_EXTRA = re.compile(r"  \[(?P<extra>[^\]]*)\]$")
_TYPE = re.compile(r"<(?:list\[)?(\w+)(?:\]| range)?>")
_TYPES = {"str": "text", "int": "whole number", "float": "number", "path": "path", "Path": "path"}
_HELP_ITSELF = "--help"


def program(name: str) -> Any:
    """The command of a program, whose subcommands are its `commands`."""
    return get_command(import_module(PROGRAMS[name]).app)


def command(name: str) -> str:
    """Every option of a program, and of each of its subcommands."""
    return "\n\n".join(_described(program(name), name))


def options_of(own: Any, path: str) -> Iterator[tuple[str, str, str]]:
    """Names, default and meaning of each option and argument of a command, in the order of its help."""
    context = type(own).context_class(own, info_name=path)
    for parameter in own.get_params(context):
        names, text = parameter.get_help_record(context)
        if names == _HELP_ITSELF:
            continue
        extra = _EXTRA.search(text)
        default, limits = _default_and_limits(extra["extra"] if extra else "")
        meaning = _EXTRA.sub("", text).strip()
        yield names, default, " ".join(filter(None, [meaning, limits]))


def exit_codes() -> str:
    """What the exit codes of all commands mean."""
    failed, bad = errors.Failed, errors.BadInput
    rows = [
        ("0", "The work is done."),
        (str(failed.exit_code), f"{_meaning(failed)} Or `warehouse verify` found damage."),
        (str(bad.exit_code), _meaning(bad)),
        ("130", "Ctrl-C, SIGTERM or SIGHUP ended it; what was known by then is kept and printed."),
    ]
    return table(["exit code", "meaning"], rows)


def _meaning(error: type[errors.HeadstartError]) -> str:
    meaning, _, such_as = (error.__doc__ or "").partition(" (exit code")
    return plain(f"{meaning}. Such as {' '.join(such_as.partition(').')[2].split()).rstrip('.').lower()}.")


def _described(own: Any, path: str) -> Iterator[str]:
    subcommands: Mapping[str, Any] = getattr(own, "commands", {})
    if " " in path:
        yield f"## {path}"
    prose, examples = _prose_and_examples(own.help or "")
    yield prose
    if examples:
        yield preformatted("\n".join(examples))
    rows = [(_shown(names), default, plain(meaning)) for names, default, meaning in options_of(own, path)]
    if rows:
        yield table(["option", "default", "meaning"], rows)
    for name, subcommand in subcommands.items():
        yield from _described(subcommand, f"{path} {name}")


def _prose_and_examples(text: str) -> tuple[str, list[str]]:
    """The paragraphs of a help text as Markdown, and the command lines that it shows."""
    prose, examples = [], []
    for paragraph in inspect.cleandoc(text).replace("\f", "").split("\n\n"):
        lines = [" ".join(line.split()) for line in paragraph.splitlines()]
        found = [_EXAMPLE.match(line) for line in lines]
        if any(found):
            examples += [match["line"] if match else line for match, line in zip(found, lines, strict=True)]
        elif paragraph.strip() not in ("Examples:", "Example:", ""):
            prose.append(plain(" ".join(lines)))
    return "\n\n".join(prose), examples


def _shown(names: str) -> str:
    """`--failed-runs / --no-failed-runs` or `--top <int range>` as a cell of a table."""
    kind = _TYPE.search(names)
    first, *rest = (word for word in _TYPE.sub("", names).split() if word != "/")
    options = [first, *(word for word in rest if word.startswith("-"))]
    metavars = [plain(word) for word in rest if word not in options]
    return " ".join([codes(options), *metavars, *([_TYPES[kind[1]]] if kind else [])])


def _default_and_limits(extra: str) -> tuple[str, str]:
    """`default: 3; x>=1` as what the two columns say."""
    default, limits = "", []
    for part in filter(None, extra.split("; ")):
        key, _, rest = part.partition(": ")
        if key == "default":
            default = code(rest)
        elif part == "required":
            default = "required"
        elif key == "env var":
            limits.append(f"The environment variable `{rest}` stands for it.")
        else:
            limits.append(f"At least {part.removeprefix('x>=')}." if part.startswith("x>=") else f"{part}.")
    return default, " ".join(limits)
