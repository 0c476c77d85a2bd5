"""Datasets and tasks in XML. Their listings write names as they are, without escapes."""

from collections.abc import Iterable, Sequence
from html import escape

from tests.openml_server.records import Dataset, Feature, Task
from tests.openml_server.world import World
from tests.openml_server.xml_text import document

BASIC_QUALITIES = (
    "NumberOfInstances", "NumberOfFeatures", "NumberOfClasses", "NumberOfMissingValues",
    "NumberOfInstancesWithMissingValues", "NumberOfNumericFeatures", "NumberOfSymbolicFeatures",
    "NumberOfBinaryFeatures", "MajorityClassSize", "MinorityClassSize", "MaxNominalAttDistinctValues",
)  # fmt: skip


def datasets(rows: Sequence[Dataset]) -> bytes:
    """data/list: basic qualities only, without the missing ones."""
    return document("data", (_dataset_row(row) for row in rows))


def _dataset_row(row: Dataset) -> str:
    qualities = "".join(
        f'<oml:quality name="{name}">{row.qualities[name]}</oml:quality>'
        for name in BASIC_QUALITIES
        if row.qualities.get(name)
    )
    return (
        f"<oml:dataset><oml:did>{row.did}</oml:did><oml:name>{row.name}</oml:name>"
        f"<oml:version>{row.version}</oml:version><oml:uploader>{row.uploader}</oml:uploader>"
        f"<oml:status>{row.status}</oml:status><oml:format>ARFF</oml:format>"
        f"<oml:file_id>{row.did}</oml:file_id>{qualities}</oml:dataset>"
    )


def dataset(row: Dataset, url: str, md5: str | None, parquet_url: str | None, tags: Iterable[str]) -> bytes:
    """data/{id}."""
    texts = {
        "id": str(row.did),
        "name": row.name,
        "version": str(row.version),
        "description": row.description,
        "description_version": "1",
        "format": "ARFF",
        "upload_date": "2014-04-06T23:19:20",
        "licence": "Public",
        "url": url,
        "file_id": str(row.did),
        "default_target_attribute": row.target,
    }
    if parquet_url is not None:
        texts["parquet_url"] = parquet_url
    last = {"visibility": "public", "status": row.status, "processing_date": "2018-10-03 21:14:49"}
    if md5 is not None:
        last["md5_checksum"] = md5
    pairs = [*texts.items(), *(("tag", tag) for tag in tags), *last.items()]
    return document("data_set_description", (f"<oml:{key}>{escape(text)}</oml:{key}>" for key, text in pairs))


def qualities(row: Dataset) -> bytes:
    """data/qualities/{id}."""
    return document(
        "data_qualities",
        (
            f"<oml:quality ><oml:name>{name}</oml:name>"
            f"{f'<oml:value>{value}</oml:value>' if value else '<oml:value />'}</oml:quality>\n"
            for name, value in row.qualities.items()
        ),
    )


def features(row: Dataset) -> bytes:
    """data/features/{id}."""
    return document(
        "data_features",
        (_feature(index, feature, row.target) for index, feature in enumerate(row.features)),
    )


def _feature(index: int, feature: Feature, target: str) -> str:
    values = "".join(f"<oml:nominal_value>{escape(value)}</oml:nominal_value>" for value in feature.values)
    return (
        f"<oml:feature><oml:index>{index}</oml:index><oml:name>{escape(feature.name)}</oml:name>"
        f"<oml:data_type>{feature.data_type}</oml:data_type>{values}"
        f"<oml:is_target>{str(feature.name == target).lower()}</oml:is_target>"
        "<oml:is_ignore>false</oml:is_ignore><oml:is_row_identifier>false</oml:is_row_identifier>"
        f"<oml:number_of_missing_values>{feature.missing}</oml:number_of_missing_values></oml:feature>"
    )


def tasks(world: World, rows: Sequence[Task]) -> bytes:
    """task/list: inputs and basic qualities as lists of attributes; a missing quality is an empty element."""
    return document("tasks", (_task_row(row, world.datasets[row.did]) for row in rows))


def task_inputs(row: Task, data: Dataset) -> dict[str, str]:
    """Inputs of a task as its row in task/list has them."""
    return {
        "source_data": str(row.did),
        "target_feature": data.target,
        "estimation_procedure": str(row.procedure),
        "evaluation_measures": "predictive_accuracy" if row.task_type == 1 else "root_mean_squared_error",
    }


def _task_row(row: Task, data: Dataset) -> str:
    inputs = "".join(
        f'<oml:input name="{name}">{escape(value)}</oml:input>'
        for name, value in task_inputs(row, data).items()
    )
    basic = "".join(
        f'<oml:quality name="{name}">{data.qualities[name] or ""}</oml:quality>'
        for name in BASIC_QUALITIES
        if name in data.qualities
    )
    return (
        f"<oml:task><oml:task_id>{row.id}</oml:task_id><oml:task_type_id>{row.task_type}</oml:task_type_id>"
        f"<oml:task_type>{row.task_type_name}</oml:task_type><oml:did>{row.did}</oml:did>"
        f"<oml:name>{data.name}</oml:name><oml:status>{data.status}</oml:status>"
        f"<oml:format>ARFF</oml:format>{inputs}{basic}</oml:task>"
    )
