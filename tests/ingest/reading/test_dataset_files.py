"""Dataset files of a directory or an index, with their targets and order."""

from pathlib import Path

import pytest

from ingest.reading.dataset_files import DatasetFile, find_datasets
from warehouse.support.errors import BadInput, UnreadableInput


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three datasets, by size: `old/c.arff` (1 byte), `b.TSV` (2), `a.csv` (3); and another file."""
    (tmp_path / "old").mkdir()
    for name, size in [("a.csv", 3), ("b.TSV", 2), ("old/c.arff", 1), ("readme.md", 9)]:
        (tmp_path / name).write_text("x" * size)
    return tmp_path


def test_a_directory_without_an_index_gives_every_dataset_below_it_without_a_target(folder: Path) -> None:
    expected = [DatasetFile(folder / name) for name in ("old/c.arff", "b.TSV", "a.csv")]
    assert find_datasets(folder) == find_datasets(str(folder)) == expected


def test_datasets_of_one_size_come_in_the_order_of_their_paths(folder: Path) -> None:
    for name in ("e.csv", "d.parquet"):
        (folder / name).write_text("xx")
    assert [Path(file.path).name for file in find_datasets(folder)] == [
        "c.arff", "b.TSV", "d.parquet", "e.csv", "a.csv",
    ]  # fmt: skip


def test_unlisted_files_of_a_directory_are_found_beside_the_listed_ones(
    folder: Path,
) -> None:
    (folder / "index.csv").write_text("name,target,rows\na,kind,7\nold/c,,5\n")
    listed = [DatasetFile(folder / "old" / "c.arff"), DatasetFile(folder / "a.csv", "kind")]
    assert find_datasets(folder / "index.csv") == listed
    assert find_datasets(folder) == [listed[0], DatasetFile(folder / "b.TSV"), listed[1]]


def test_an_index_need_not_have_targets(folder: Path) -> None:
    (folder / "mine.csv").write_text("name\nb.TSV\n")
    assert find_datasets(folder / "mine.csv") == [DatasetFile(folder / "b.TSV")]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("old", r"old: no dataset files \(\.arff, \.csv, \.parquet, \.tsv\) there$"),
        ("empty.csv", r"empty\.csv: no dataset files"),
        ("readme.md", r"readme\.md: neither a directory of datasets nor an index\.csv$"),
        ("nowhere", "nowhere: neither a directory"),
        ("latin.csv", r"latin\.csv: not readable as an index"),
    ],
)
def test_a_source_that_lists_no_dataset_is_refused(folder: Path, source: str, reason: str) -> None:
    (folder / "old" / "c.arff").unlink()
    (folder / "empty.csv").write_text("name,target\n")
    (folder / "latin.csv").write_bytes("name\né\n".encode("latin-1"))
    with pytest.raises(BadInput, match=reason):
        find_datasets(folder / source)


def test_a_dataset_is_listed_once_with_the_preferred_suffix(tmp_path: Path) -> None:
    for suffix in ("arff", "tsv", "csv"):
        (tmp_path / f"a.{suffix}").write_text("x,y\n1,2\n")
    (tmp_path / "index.csv").write_text("name,target\na,y\na,y\n")
    assert [file.path for file in find_datasets(tmp_path / "index.csv")] == [tmp_path / "a.csv"]


def test_an_index_has_a_name_in_each_row(tmp_path: Path) -> None:
    (tmp_path / "index.csv").write_text("name,target\n,y\n")
    with pytest.raises(BadInput, match="with a name in each row"):
        find_datasets(tmp_path / "index.csv")


def test_a_directory_is_not_a_dataset_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "x.csv").mkdir()
    (tmp_path / "x.csv" / "y.csv").write_text("x,y\n1,2\n")
    assert [file.path.name for file in find_datasets(tmp_path)] == ["y.csv"]


@pytest.mark.parametrize("name", ["../secret.csv", "/etc/passwd", "below/../../secret"])
def test_an_index_cannot_name_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "index.csv").write_text(f"name\n{name}\n")
    with pytest.raises(UnreadableInput, match="which leads out of its folder"):
        find_datasets(tmp_path / "below")


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").symlink_to(tmp_path / "gone.csv")
    with pytest.raises(UnreadableInput, match=r"b\.csv: a link to a file that is not there"):
        find_datasets(tmp_path)
