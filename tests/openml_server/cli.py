"""`python -m tests.openml_server`: serve the generated world, to try things by hand."""

import argparse
from collections.abc import Sequence

from tests.openml_server.faults import Faults
from tests.openml_server.generated import generated_world
from tests.openml_server.server import OpenMLServer


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    options = _parser().parse_args(arguments)
    world = generated_world()
    faults = Faults(options.fault_rate) if options.fault_rate else None
    server = OpenMLServer(world, page_limit=options.page_limit, faults=faults, port=options.port)
    with server:
        print(f"{len(world.runs)} runs at {server.url}", flush=True)
        try:
            server.closing.wait()
        except KeyboardInterrupt:
            print(dict(server.counts()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.openml_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--page-limit", type=int, default=1000)
    parser.add_argument("--fault-rate", type=float, default=0.0, help="share of requests that go wrong")
    return parser
