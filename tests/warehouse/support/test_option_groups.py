"""Groups of options: dataclasses on the command line, sections in the help."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer
from typer.testing import CliRunner

from warehouse.support.option_groups import PanelCommand, grouped


@dataclass(frozen=True)
class Limits:
    panel: ClassVar = "How long"
    trials: Annotated[int, typer.Option(help="Number of trials.")] = 50
    flow: Annotated[list[str] | None, typer.Option("--flow")] = None


@dataclass(frozen=True)
class Results:
    panel: ClassVar = "Results"
    output: Annotated[str, typer.Option("--format")] = "table"


app = typer.Typer(rich_markup_mode=None)


@app.command(cls=PanelCommand)
@grouped
def search(
    file: Annotated[str, typer.Argument()],
    limits: Limits,
    results: Results,
    quiet: Annotated[bool, typer.Option("--quiet")] = False,
) -> None:
    """Search."""
    typer.echo(f"{file} {limits} {results} {quiet}")


def test_a_command_gets_its_groups_with_given_values_and_defaults() -> None:
    result = CliRunner().invoke(app, ["my.csv", "--trials", "3", "--flow", "a", "--flow", "b", "--quiet"])
    assert result.stdout == f"my.csv {Limits(3, ['a', 'b'])} {Results()} True\n"


def test_help_has_a_section_for_each_group() -> None:
    lines = CliRunner().invoke(app, ["--help"]).stdout.splitlines()
    sections = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert sections == ["Arguments:", "How long:", "Results:", "Options:"]
    section = lines[lines.index("How long:") : lines.index("Results:")]
    assert [line.split()[0] for line in section if line.startswith("  -")] == ["--trials", "--flow"]


def test_rare_groups_are_shown_on_request() -> None:
    class Short(PanelCommand):
        rare: ClassVar = frozenset({"Results"})

    short = typer.Typer(rich_markup_mode=None)

    @short.command(cls=Short)
    @grouped
    def search(limits: Limits, results: Results) -> None:
        """Search."""

    usual = CliRunner().invoke(short, ["--help"]).stdout
    assert "--trials" in usual
    assert "--format" not in usual
    assert "Also show: results, shell completion." in usual
    assert "--format" in CliRunner().invoke(short, ["--help-all"]).stdout
