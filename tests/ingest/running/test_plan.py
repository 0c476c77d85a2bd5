"""Plans: reading and refusing their files, and the order of runs."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from ingest.flows import get_flow
from ingest.reading.dataset_files import DatasetFile
from ingest.running.plan import Plan, SplitRule, Tier, design_plan, read_plan
from ingest.running.pool import read_pool, write_pool
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

PLANS = Path(__file__).parents[3] / "ingest" / "plans"
TREE = {
    Configuration("decision_tree", get_flow("decision_tree").default() | {"max_depth": n}): "me"
    for n in (1, 2, 3)
}

PLAN = """
seed = 7
pool = "pools/mine.json"
block = 2
give_up_after = 3

[[datasets]]
path = "../data/plain"
families = "families.csv"

[[datasets]]
path = "../data/priced"
numeric_target = "binarize"
least_rows = 50

[[splits]]
rows = 300
folds = 10
repeats = 2

[[splits]]
folds = 1
test_rows = 100

[[tiers]]
train_rows = 200
seconds = 5
memory = 512

[[tiers]]
share = 0.25
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a plan's file and all files that it names."""
    for name in ("plain/one", "plain/three", "plain/two", "priced/four"):
        path = tmp_path / "data" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x,class\n1,a\n2,b\n")
    (tmp_path / "plans" / "pools").mkdir(parents=True)
    write_pool(TREE, tmp_path / "plans" / "pools" / "mine.json")
    (tmp_path / "plans" / "families.csv").write_text(
        "name,family,domain,reason\none,siblings,medicine,\nthree,siblings,medicine,a word\ntwo,two,trade,\n"
    )

    def written(content: str = PLAN) -> Path:
        path = tmp_path / "plans" / "plan.toml"
        path.write_text(content)
        return path

    return written


def tiered(*rows: int | None, rules: tuple[SplitRule, ...] = (SplitRule(),)) -> Plan:
    return Plan([], TREE, [Tier(train_rows=cap) for cap in rows], rules)


# Files


def test_paths_in_a_plan_are_relative_to_it(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write()
    monkeypatch.chdir(tmp_path)
    for plan in (read_plan(path), read_plan(path.relative_to(tmp_path))):
        assert plan.pool == TREE
        assert (plan.seed, plan.block, plan.give_up_after) == (7, 2, 3)
        assert plan.splits == [SplitRule(300, 10, 2), SplitRule(folds=1, test_rows=100)]
        assert plan.tiers == [Tier(200, seconds=5, memory=512), Tier(share=0.25)]
        assert [Path(source.path).stem for source in plan.datasets] == ["one", "two", "three", "four"]


def test_datasets_have_the_options_of_their_entry_and_the_facts_of_their_family(write: Write) -> None:
    sources = {Path(source.path).stem: source for source in read_plan(write()).datasets}
    facts = {
        name: (source.domain, source.family, source.numeric_target, source.least_rows)
        for name, source in sources.items()
    }
    assert facts == {
        "one": ("medicine", "siblings", "keep", 0),
        "three": ("medicine", "siblings", "keep", 0),
        "two": ("trade", "two", "keep", 0),
        "four": (None, None, "binarize", 50),
    }


def test_omitted_keys_of_a_plan_have_defaults(write: Write) -> None:
    plan = read_plan(
        write('pool = "pools/mine.json"\n[[datasets]]\npath = "../data/plain"\n[[splits]]\n[[tiers]]\n')
    )
    assert (plan.seed, plan.block, plan.give_up_after) == (0, None, None)
    assert (list(plan.splits), list(plan.tiers)) == ([SplitRule()], [Tier()])


def test_domains_take_turns(write: Write, tmp_path: Path) -> None:
    """Within an entry, all domains have about the same share in any prefix, in order of first appearance."""
    for number in range(4):
        (tmp_path / "data" / "plain" / f"more{number}.csv").write_text("x,class\n1,a\n2,b\n" * (9 + number))
    rows = [f"more{number},more{number},trade,\n" for number in range(4)]
    with (tmp_path / "plans" / "families.csv").open("a") as file:
        file.writelines(rows)
    domains = [source.domain for source in read_plan(write()).datasets]
    assert domains == ["medicine", "trade", "medicine", "trade", "trade", "trade", "trade", None]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("seed = 7", "seed = ", "not readable as a plan"),
        ("seed = 7", "sed = 7", "'sed'"),
        ("share = 0.25", "shares = 0.25", "'shares'"),
        ("folds = 10", "fold = 10", "'fold'"),
        ("least_rows = 50", "fewest_rows = 50", "'fewest_rows'"),
        ("[[tiers]]", "[[steps]]", "'tiers'"),
        ('pool = "pools/mine.json"', "", "'pool'"),
        ("pools/mine.json", "pools/yours.json", "yours.json"),
        ("../data/priced", "../data/nowhere", "nowhere"),
        ('path = "../data/priced"', "", "'path'"),
        ("families.csv", "kinds.csv", "kinds.csv"),
        ("families.csv", "pools/mine.json", "not a table with name, family and domain"),
    ],
)
def test_unusable_plan_is_refused_in_one_line(write: Write, old: str, new: str, reason: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_plan(write(PLAN.replace(old, new)))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_plan_and_one_that_is_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    for name in ("nowhere.toml", "binary.toml", "."):
        with pytest.raises(BadInput, match="not readable as a plan"):
            read_plan(tmp_path / name)


def test_plan_whose_pool_cannot_be_built_is_refused(write: Write, tmp_path: Path) -> None:
    path = write()
    write_pool({Configuration("svm", {"depth": 3}): "me"}, tmp_path / "plans" / "pools" / "mine.json")
    with pytest.raises(BadInput, match="svm has no hyperparameter depth"):
        read_plan(path)


def test_plan_of_the_starter_names_every_dataset_once_with_its_domain(shared_data: Path) -> None:
    plan = read_plan(PLANS / "starter.toml")
    assert plan.pool == read_pool(PLANS / "pool.json")
    paths = [Path(source.path).resolve() for source in plan.datasets if isinstance(source.path, Path)]
    assert len(set(paths)) == len(paths) > 200
    assert all(path.is_relative_to(shared_data.resolve()) for path in paths)
    built_in = [source.path for source in plan.datasets if isinstance(source.path, str)]
    assert built_in == ["sklearn:breast_cancer", "sklearn:digits", "sklearn:wine"]
    known = set(pd.read_csv(PLANS / "families.csv")["name"])
    for source in plan.datasets:
        assert (source.domain is not None) == (source.family is not None)
        assert (source.domain is not None) == (Path(source.path).stem in known)
    assert len({source.domain for source in plan.datasets[:10]}) == 10


# Splits and tiers


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        (300, "2xcv10-2000"),
        (301, "cv10-2000"),
        (501, "cv5-2000"),
        (4000, "cv3-2000"),
        (4001, "holdout-2000-9"),
    ],
)
def test_first_split_rule_that_covers_the_rows_applies(rows: int, name: str) -> None:
    rules = (
        SplitRule(300, 10, 2),
        SplitRule(500, 10),
        SplitRule(1000, 5),
        SplitRule(4000, 3),
        SplitRule(folds=1, test_rows=9),
    )
    plan = tiered(2000, rules=rules)
    assert plan.resampling(rows, plan.tiers[0]).name == name


def test_last_split_rule_applies_if_none_covers_the_rows() -> None:
    plan = tiered(None, rules=(SplitRule(100, 10), SplitRule(200, 5)))
    assert plan.resampling(5000, plan.tiers[0]).name == "cv5"


@pytest.mark.parametrize(
    ("rows", "tiers"),
    [
        (200, [0]),
        (3000, [0]),  # three folds train on 2,000 rows
        (3700, [0]),  # on 2,467, less than a quarter more
        (3750, [0, 1]),  # on 2,500, a quarter more
        (4998, [0]),  # one split trains on half: 2,499
        (5000, [0, 1]),
        (19_998, [0, 1]),  # 9,999
        (20_000, [0, 1, 2]),
        (200_000, [0, 1, 2]),
    ],
)
def test_tier_applies_with_a_quarter_more_training_rows(rows: int, tiers: list[int]) -> None:
    rules = (SplitRule(4000, 3), SplitRule(folds=1, test_rows=10_000))
    plan = tiered(2000, 8000, 32_000, rules=rules)
    assert [place for place in range(3) if plan.applies(rows, place)] == tiers


@pytest.mark.parametrize(("block", "sizes"), [(None, [3]), (1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (40, [3])])
def test_blocks_are_the_pool_in_order(block: int | None, sizes: list[int]) -> None:
    blocks = list(Plan([], TREE, block=block).blocks())
    assert [len(block) for block in blocks] == sizes
    assert [one for block in blocks for one in block] == [*TREE]


def test_pool_without_configurations_has_no_block() -> None:
    assert list(Plan([], {}).blocks()) == []


def test_quick_flows_come_first_after_the_first_block() -> None:
    slow = [Configuration("mlp", {"hidden_units": n}) for n in (8, 16, 32)]
    pool = {one: "me" for pair in zip(slow, TREE, strict=True) for one in pair}
    blocks = [[*block] for block in Plan([], pool, block=2, quick=["decision_tree"]).blocks()]
    first, *quick = TREE
    assert blocks == [[slow[0], first], quick, slow[1:]]


def test_unknown_quick_flow_is_refused(write: Write) -> None:
    with pytest.raises(BadInput, match="unknown flow 'fast_and_good'"):
        read_plan(write('quick = ["fast_and_good"]' + PLAN))


# Plans without a file


def test_design_plan_has_the_design_of_each_flow_on_all_rows() -> None:
    files = [DatasetFile(Path("some.csv"), "kind"), DatasetFile(Path("other.csv"))]
    plan = design_plan(files, ["svm", "mlp"], 3, folds=5, seed=2, tier=Tier(seconds=9.0, memory=100))
    assert [one.algorithm for one in plan.pool] == ["svm"] * 4 + ["mlp"] * 4
    assert next(iter(plan.pool)).values == get_flow("svm").default()
    assert plan.datasets == files
    assert [plan.resampling(n, tier).name for tier in plan.tiers for n in (10, 10**6)] == ["cv5", "cv5"]
    assert (plan.seed, plan.tiers[0].seconds, plan.tiers[0].memory) == (2, 9.0, 100)
