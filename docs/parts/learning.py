"""Meta-learners with their settings."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from docs.parts.markdown import code, codes, fields_of, gist, plain, table, value
from metalearners import ALIASES, DEFAULT_LEARNER, LEARNERS


def learners() -> str:
    """Every meta-learner: what it does, and its settings with their defaults."""
    return "\n\n".join(_learner(name, cls) for name, cls in learner_classes().items())


def learner_classes() -> dict[str, type[Any]]:
    """The class of each meta-learner."""
    places = {name: address.partition(":") for name, address in LEARNERS.items()}
    return {name: getattr(import_module(module), cls) for name, (module, _, cls) in places.items()}


def _learner(name: str, cls: type[Any]) -> str:
    facts = [f"{gist(cls.__doc__)}."]
    if name == DEFAULT_LEARNER:
        facts.append("This is the default.")
    aliases = [alias for alias, meant in ALIASES.items() if meant == name]
    if aliases:
        facts.append(f"Earlier versions called it {codes(aliases)}.")
    rows = [
        (code(own.name), value(own.default), plain(own.meaning.replace("None =", "null =")))
        for own in fields_of(cls)
    ]
    return f"## {name}\n\n{' '.join(facts)}\n\n{table(['setting', 'default', 'meaning'], rows)}"
