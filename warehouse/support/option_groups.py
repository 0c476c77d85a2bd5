"""Groups of command-line options, each a dataclass and a section of the help.

A group is a frozen dataclass whose fields are annotated like Typer's options, with a name for its section:

    @dataclass(frozen=True)
    class Limits:
        panel: ClassVar = "How long"
        trials: Annotated[int, typer.Option(help="Number of trials.")] = 50

    @app.command(cls=PanelCommand)
    @grouped
    def search(limits: Limits) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import groupby
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

_COMPLETION = "Shell completion"
_ALL = "headstart.all_options"
"""Key in click's context: whether all sections are shown."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of its groups, which are its parameters with a dataclass as annotation."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        group = groups.get(name)
        options = [parameter.replace(annotation=hints[name])] if group is None else _options_of(group)
        parameters += [option.replace(kind=Parameter.KEYWORD_ONLY) for option in options]

    @wraps(command)
    def with_options(**values: Any) -> None:
        packed = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **packed)

    vars(with_options)["__signature__"] = Signature(parameters)
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_options


def _options_of(group: Any) -> list[Parameter]:
    """The fields of a group as parameters, with options in the group's section of the help."""
    hints = get_type_hints(group, include_extras=True)
    found = []
    for field in fields(group):
        kind, option = get_args(hints[field.name])
        own: OptionInfo = copy(option)
        own.rich_help_panel = group.panel
        annotation = Annotated[kind, own]  # type: ignore[valid-type]
        found.append(
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)
        )
    return found


class _SectionedHelp:
    """Help with a section for each group of options; `--help-all` adds the rarely needed ones."""

    rare: ClassVar[frozenset[str]] = frozenset()
    """Sections that `--help` omits."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--help-all" in args:
            ctx.meta[_ALL] = True
            typer.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)  # type: ignore[misc, no-any-return]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the description, wrapped, and its examples line by line."""
        with formatter.indentation():
            paragraphs = [text for text in (self.help or "").split("\n\n") if text.strip()]  # type: ignore[attr-defined]
            for is_example, texts in groupby(paragraphs, key=lambda text: text.startswith(" ")):
                formatter.write_paragraph()
                joined = ("\n" if is_example else "\n\n").join(texts)
                formatter.write_text(f"\b\n{joined}" if is_example else joined)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options in sections, in the order of the first option of each."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):  # type: ignore[attr-defined]
            record = parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(_section(parameter), []).append(record)
        rare = [name for name in sections if name in self.rare or name == _COMPLETION]
        hidden = () if ctx.meta.get(_ALL) else rare
        if rare:
            names = ", ".join(name.lower() for name in rare)
            sections["Options"].append(("--help-all", f"Also show: {names}."))
        for section, records in sections.items():
            if records and section not in hidden:
                with formatter.section(section):
                    formatter.write_dl(records)


def _section(parameter: Any) -> str:
    """The help section of an option or argument."""
    if parameter.param_type_name == "argument":
        return "Arguments"
    if parameter.name in ("install_completion", "show_completion"):
        return _COMPLETION
    return getattr(parameter, "rich_help_panel", None) or "Options"


class PanelCommand(_SectionedHelp, TyperCommand):
    """A command whose help has a section for each group of options."""


class PanelGroup(_SectionedHelp, TyperGroup):
    """A command with subcommands whose help has a section for each group of options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)
