"""Groups of command-line options, each a dataclass and a section of the help.

A group is a frozen dataclass whose fields are annotated as Typer's options are, with a name for its section:

    @dataclass(frozen=True)
    class Limits:
        panel: ClassVar = "How long"
        trials: Annotated[int, typer.Option(help="Number of trials.")] = 50

    @app.command(cls=PanelCommand)
    @grouped
    def search(limits: Limits) -> None: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """A command that has the options of its groups: its parameters whose annotation is a dataclass."""
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
    """The fields of a group as parameters, whose options belong to the group's section of the help."""
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


def _write_panels(command: TyperCommand | TyperGroup, context: Any, formatter: Any) -> None:
    """Write arguments, then options in sections, in the order of the first option of each."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": []}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            section = getattr(parameter, "rich_help_panel", None) or "Options"
            section = "Arguments" if parameter.param_type_name == "argument" else section
            sections.setdefault(section, []).append(record)
    for section, records in sections.items():
        if records:
            with formatter.section(section):
                formatter.write_dl(records)


class PanelCommand(TyperCommand):
    """A command whose help has a section for each group of options."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """Old name of an option -> new one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_new_names(args, self.renamed))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_panels(self, ctx, formatter)


class PanelGroup(TyperGroup):
    """A command with subcommands whose help has a section for each group of options."""

    renamed: ClassVar[Mapping[str, str]] = {}
    """Old name of an option -> new one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_new_names(args, self.renamed))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_panels(self, ctx, formatter)
        self.format_commands(ctx, formatter)


def with_new_names(arguments: Sequence[str], renamed: Mapping[str, str]) -> list[str]:
    """Arguments in which each option has its new name; a note on stderr tells of each old one.

    Args:
        renamed: old name of an option -> new one.
    """
    found = []
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if name in renamed:
            typer.echo(f"note: {name} is now called {renamed[name]}", err=True)
            argument = f"{renamed[name]}{sign}{value}"
        found.append(argument)
    return found
