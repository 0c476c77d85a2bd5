"""Run files: reading them, and getting the runs back."""

import gzip
import io
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ingest.parameter_names import plain_parameter_name
from ingest.run_files import flow_key, ingest_run_file, read_run_file
from tests.cases import each
from tests.warehouse.worlds import Templates, lose_rows
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput

ACCURACY = "predictive_accuracy"
CSV = (
    "max_features,criterion,predictive_accuracy,task_id\n0.5,gini,0.9,3\nsqrt,entropy,0.8,3\n0.5,gini,0.7,6\n"
)


def write(tmp_path: Path, content: str | bytes, name: str = "runs.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def configurations(table: RunTable) -> list[dict[str, Any]]:
    """The configuration of every run, in order."""
    return table.configurations.parameters.loc[table.runs["setup"]].to_dict("records")


def read_back(warehouse: Warehouse, tmp_path: Path, content: str | bytes) -> list[dict[str, Any]]:
    ingest_run_file(warehouse, write(tmp_path, content), "6969")
    return configurations(warehouse.run_table("6969", ACCURACY))


# ---- real files ---------------------------------------------------------------------------------


def test_real_runs_come_back_in_order_and_a_second_ingest_changes_nothing(
    warehouse: Warehouse, shared_data: Path
) -> None:
    folder, flow, runs, tasks = shared_data / "openml-runs", "6969", 37000, 74
    path, qualities = folder / f"flow_{flow}.arff", folder / "task_qualities.json"
    commit = ingest_run_file(warehouse, path, flow, qualities=qualities)
    assert (commit.added["runs"], commit.added["evaluations"], commit.added["tasks"]) == (runs, runs, tasks)
    again = ingest_run_file(warehouse, path, flow, qualities=qualities)
    assert (again.version, sum(again.added.values()), sum(again.changed.values())) == (1, 0, 0)

    header, data = path.read_text().split("@DATA\n")
    names = [line.split()[1] for line in header.splitlines() if line.startswith("@ATTRIBUTE")]
    written = pd.read_csv(io.StringIO(data), names=names, dtype=str, keep_default_na=False)
    table = warehouse.run_table(flow, ACCURACY)
    assert table.runs["algorithm"].unique().tolist() == ["random_forest"]
    assert table.runs["value"].tolist() == written.pop(ACCURACY).astype(float).tolist()
    assert table.runs["task"].tolist() == ("openml:" + written.pop("task_id")).tolist()
    stored = table.configurations.parameters.loc[table.runs["setup"]]
    assert sorted(stored) == sorted(map(plain_parameter_name, written))
    for raw in written:
        values = stored[plain_parameter_name(raw)].tolist()
        assert list(map(str, values)) == written[raw].tolist()  # so None, True, 9 and 9.0 are told apart
        assert any(type(value) is not str for value in values) == (raw.split("__")[-1] in NOT_WORDS)
    assert warehouse.metafeatures().shape == (tasks, 119)


NOT_WORDS = {
    "bootstrap", "max_depth", "max_features", "max_leaf_nodes", "min_samples_leaf", "min_samples_split",
    "min_weight_fraction_leaf", "n_estimators",
}  # fmt: skip


# ---- formats ------------------------------------------------------------------------------------


ARFF = """% {"flow_id": 6969, "col_measures": ["speed"], "col_parameters": ["clf__depth"]}
@RELATION runs
@ATTRIBUTE clf__depth {None, 3}
@ATTRIBUTE other NUMERIC
@ATTRIBUTE speed NUMERIC
@ATTRIBUTE task_id NUMERIC
@DATA
None,1,2.5,3
3,1,1e3,6
"""


def test_arff_comment_lists_measures_and_hyperparameters(warehouse: Warehouse, tmp_path: Path) -> None:
    ingest_run_file(warehouse, write(tmp_path, ARFF, "runs.arff"), "6969")
    table = warehouse.run_table("6969", "speed")
    assert table.runs["value"].tolist() == [2.5, 1000.0]
    assert configurations(table) == [{"depth": None}, {"depth": 3}]


CLASSES, NUMBERS = "supervised_classification", "supervised_regression"


@each(
    ("header", "rows", "measure", "values", "task_types"),
    [
        ("accuracy,fit_time", ["0.5,3", "0.25,4"], ACCURACY, [0.5, 0.25], [CLASSES] * 2),
        ("mcc,classif.acc", ["0.5,3e-1", "0.25,.4"], ACCURACY, [0.3, 0.4], [CLASSES] * 2),
        ("rmse,mae", ["2.5,1", "4,2"], "root_mean_squared_error", [2.5, 4], [NUMBERS] * 2),
        ("R2,C", ["0.5,1", "-1,2"], "r2", [0.5, -1], [NUMBERS] * 2),
        ("rrse,C", ["0.5,1", "0.7,2"], "root_relative_squared_error", [0.5, 0.7], [NUMBERS] * 2),
        ("neg_mean_absolute_error", ["-3", "-2"], "mean_absolute_error", [3, 2], [NUMBERS] * 2),
        ("auc,rmse", ["0.9,0.1", "0.8,0.2"], "area_under_roc_curve", [0.9, 0.8], [CLASSES] * 2),
        (
            "rmse,task_type",
            ["1,Supervised Classification", "2,2"],
            "root_mean_squared_error",
            [1, 2],
            [CLASSES, NUMBERS],
        ),
        (
            "accuracy,task_type",
            ["1,TaskType.SUPERVISED_CLASSIFICATION", "1,regr"],
            ACCURACY,
            [1, 1],
            [CLASSES, NUMBERS],
        ),
        ("accuracy,ttid", ["1,1", "1,2"], ACCURACY, [1, 1], [CLASSES, NUMBERS]),
        ("accuracy,task_type", ["1,1", "1,Learning Curve"], ACCURACY, [1, 1], [CLASSES, "learning_curve"]),
    ],
)
def test_measures_have_aliases_and_determine_the_task_type(
    tmp_path: Path, header: str, rows: list[str], measure: str, values: list[float], task_types: list[str]
) -> None:
    read = read_run_file(write(tmp_path, f"{header},task_id\n{rows[0]},3\n{rows[1]},6\n"), "svr")
    assert [read.tasks[f"openml:{task}"] for task in (3, 6)] == task_types
    found = [row["value"] for row in read.tables["evaluations"].to_pylist() if row["measure"] == measure]
    assert found == values
    parameters = {*read.tables["hyperparameters"]["parameter"].to_pylist()}
    assert not {"rmse", "mae", "auc", "task_type", "fit_time", "mcc"} & parameters


@each(
    "name",
    [
        "time", "cpu_time", "mse", "test_gini_score", "meanFitTime", "classif.ce.error", "val_accuracy",
        "error_rate", "max_error", "min_val_loss", "aucpr", "classif.ce", "deviance", "Sens",
        "Percent_correct",
    ],
)  # fmt: skip
def test_numbers_whose_name_sounds_like_an_unknown_measure_are_asked_about(tmp_path: Path, name: str) -> None:
    content = f"{name},C,{ACCURACY},task_id\n10,1,0.5,3\n"
    with pytest.raises(BadInput, match=rf"what is '{name}'.*col_parameters"):
        read_run_file(write(tmp_path, content), "svr")
    listed = f'# {{"col_parameters": ["{name}", "C"]}}\n' + content
    hyperparameters = read_run_file(write(tmp_path, listed), "svr").tables["hyperparameters"]
    assert set(hyperparameters["parameter"].to_pylist()) == {name, "C"}


@each(
    ("header", "row"),
    [
        (
            "run_id,status,start_time,metrics.auc,metrics.val_loss,params.C,params.seed,tags.task_id",
            "a1,FINISHED,2024-01-01,0.5,0.7,1,0,3",
        ),
        ("number,auc,datetime_start,duration,params_C,user_attrs_task_id", "0,0.5,2024-01-01,0 days,1,3"),
        ("auc,trial_id,time_total_s,pid,config/C,done,task_id", "0.5,a1,12.5,100,1,True,3"),
        ("mean_fit_time,param_C,params,mean_test_roc_auc,std_test_roc_auc,task_id", "0.1,1,{},0.5,0.1,3"),
        ("values_auc,params_C,user_attrs_task_id,state,values_1", "0.5,1,3,COMPLETE,7"),
        ("config.C,summary.auc,summary._step,config.task_id", "1,0.5,10,3"),
        ("name,config,summary", """a,"{'C': 1, 'task_id': 3}","{'auc': 0.5, '_step': 10}\""""),
        (
            "Run ID,Status,Source Name,Start Time,mlflow.user,_step,C,auc,Task ID",
            "a,OK,x,1,me,1,1,0.5,3",
        ),
        ("C,ROC AUC,aucSD,.config,uhash,task_id", "1,0.5,0.1,Model1,f7,3"),
        ("run.id,error.message,tags,number.of.instances,auc,C,task.id", "1,NA,study_14,500,0.5,1,3"),
        ("C,Seed,rng_seed,randomState,Random Seed,auc,task_id", "1,1,2,3,4,0.5,3"),
    ],
)
def test_only_marked_columns_of_search_tools_are_hyperparameters(
    tmp_path: Path, header: str, row: str
) -> None:
    tables = read_run_file(write(tmp_path, f"{header}\n{row}\n"), "svr").tables
    assert tables["hyperparameters"]["parameter"].to_pylist() == ["C"]
    assert tables["evaluations"]["measure"].to_pylist() == ["area_under_roc_curve"]
    assert tables["runs"]["task"].to_pylist() == ["openml:3"]


@each("column", ["loss\nhinge", "max_time\n10", "cost\n3", "learning_rate\n0.1", "error_tol\n3"])
def test_settings_with_a_word_of_measures_are_hyperparameters(tmp_path: Path, column: str) -> None:
    name, value = column.split()
    read = read_run_file(write(tmp_path, f"{name},{ACCURACY},task_id\n{value},0.5,3\n"), "svr")
    assert read.tables["hyperparameters"]["parameter"].to_pylist() == [name]


@each(
    ("column", "values", "expected", "said"),
    [
        ("accuracy", (64, 91.5), [0.64, 0.915], "accuracy of 64 to 91.5: read as percent"),
        ("kappa", (-3, 50, 80), [-0.03, 0.5, 0.8], "percent"),
        ("brier", (1.5, 0.1), [1.5, 0.1], ""),
        ("f1", (1.0000000001, 0.5), [1.0, 0.5], ""),
        ("neg_log_loss", (-0.5, -2), [0.5, 2.0], ""),
    ],
)
def test_percent_is_recognized_and_logged(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    column: str,
    values: tuple[float, ...],
    expected: list[float],
    said: str,
) -> None:
    caplog.clear()
    rows = "".join(f"1,{value},3\n" for value in values)
    tables = read_run_file(write(tmp_path, f"C,{column},task_id\n{rows}"), "svr").tables
    assert tables["evaluations"]["value"].to_pylist() == pytest.approx(expected)
    assert said in caplog.text
    assert bool(said) == bool(caplog.text)


@each(
    ("status", "words"),
    [
        ("status", "FINISHED FAILED RUNNING KILLED"),
        ("State", "finished crashed failed running"),
        ("state", "COMPLETE PRUNED FAIL RUNNING"),
        ("status", "Success Crash Timeout Memout"),
        ("status", "StatusType.SUCCESS StatusType.CRASHED StatusType.MEMORYOUT StatusType.TIMEOUT"),
        ("error.message", "NA timeout 'error' x"),
    ],
)
def test_runs_that_failed_or_have_not_ended_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, status: str, words: str
) -> None:
    caplog.clear()
    rows = [f"{n},0.{n},{word},3" for n, word in enumerate(words.split(), 1)]
    tables = read_run_file(
        write(tmp_path, "\n".join([f"C,{ACCURACY},{status},task_id", *rows])), "svr"
    ).tables
    assert tables["evaluations"]["value"].to_pylist() == [0.1]
    assert "3 rows whose" in caplog.text


@each(
    ("column", "values", "complaint"),
    [
        ("accuracy", (0.9, 80, 91), "row 1: accuracy is 0.9, but most others are percent"),
        ("accuracy", (0.64, 0.7, 91), "row 3: accuracy is 91, but predictive_accuracy is 0 to 1"),
        ("auc", (640, 910), "row 1: auc is 640, but area_under_roc_curve is 0 to 1"),
        ("log_loss", (-0.5, -2), "row 1: log_loss is -0.5, but log_loss is 0 and more.*neg_"),
    ],
)
def test_values_outside_a_measures_range_are_refused(
    tmp_path: Path, column: str, values: tuple[float, ...], complaint: str
) -> None:
    rows = "".join(f"1,{value},3\n" for value in values)
    with pytest.raises(BadInput, match=complaint):
        read_run_file(write(tmp_path, f"C,{column},task_id\n{rows}"), "svr")


CLIENT = (
    ",run_id,task_id,setup_id,flow_id,flow_name,data_name,function,upload_time,value,values,array_data",
    "9,101,3,50,8353,x.SVC(16),d3,predictive_accuracy,2018-06-20,0.75,,",
    "10,102,3,51,8353,x.SVC(16),d3,predictive_accuracy,2018-06-20,0.5,,",
    "11,102,3,51,8353,x.SVC(16),d3,area_under_roc_curve,2018-06-20,0.625,,",
)
SETUPS = [(0.1, "rbf", 7), (1.0, "poly", 8), (1.0, "poly", 8)]
IN_COLUMNS = (
    ",x.SVC(16)_C,x.SVC(16)_kernel,x.SVC(16)_random_state",
    *(f',{C},"""{kernel}""",{seed}' for C, kernel, seed in SETUPS),
)
_DICTIONARY = "{{'x.SVC(16)_C': '{}', 'x.SVC(16)_kernel': '\"\"{}\"\"', 'x.SVC(16)_random_state': '{}'}}"
IN_ONE = (",parameters", *(f',"{_DICTIONARY.format(*setup)}"' for setup in SETUPS))


@pytest.mark.parametrize("parameters", [IN_COLUMNS, IN_ONE])
@pytest.mark.parametrize("flow", ["8353", "svc"])
def test_frames_of_openmls_python_client_are_run_files(
    warehouse: Warehouse, tmp_path: Path, parameters: tuple[str, ...], flow: str
) -> None:
    """`list_evaluations_setups`, with parameters in separate columns or in one; a seed is not a setting."""
    content = "\n".join(map("".join, zip(CLIENT, parameters, strict=True)))
    ingest_run_file(warehouse, write(tmp_path, content), flow)
    table = warehouse.run_table(flow, ACCURACY)
    assert configurations(table) == [{"C": 0.1, "kernel": "rbf"}, {"C": 1.0, "kernel": "poly"}]
    assert table.runs["value"].tolist() == [0.75, 0.5]
    assert warehouse.run_table(flow, "auc").runs["value"].tolist() == [0.625]


@pytest.mark.parametrize("parameters", [IN_COLUMNS, IN_ONE])
def test_runs_of_setups_that_openml_lost_are_left_out(tmp_path: Path, parameters: tuple[str, ...]) -> None:
    content = "\n".join(map("".join, zip(CLIENT, parameters, strict=True)))
    lost = "12,103,6,998,8353,x.SVC(16),d3,predictive_accuracy,2018-06-20,0.99,,"
    lost += "," * parameters[0].count(",")
    assert len(read_run_file(write(tmp_path, f"{content}\n{lost}"), "8353").tables["runs"]) == 2


def test_setups_without_hyperparameters_are_not_one_configuration(tmp_path: Path) -> None:
    """Unless the file does not tell them apart."""
    path = write(tmp_path, "\n".join(CLIENT))
    with pytest.raises(BadInput, match=r"2 setups \(setup_id\), but no hyperparameters: export them"):
        read_run_file(path, "8353")
    path.write_text(path.read_text().replace("setup_id", "tags"))
    assert len(read_run_file(path, "8353").tables["setups"]) == 1


def test_values_of_folds_are_averaged(tmp_path: Path) -> None:
    """`list_evaluations(per_fold=True)` has no value of the whole run."""
    content = f'run_id,task_id,C,function,value,values\n1,3,0.1,{ACCURACY},,"[0.5, 0.75]"\n'
    tables = read_run_file(write(tmp_path, content), "svc").tables
    assert tables["evaluations"]["value"].to_pylist() == [0.625]


def test_each_function_of_a_frame_is_a_measure(warehouse: Warehouse, tmp_path: Path) -> None:
    """Known or not: a table of evaluations has nothing else in the column."""
    content = "\n".join(map("".join, zip(CLIENT, IN_COLUMNS, strict=True)))
    ingest_run_file(
        warehouse, write(tmp_path, content.replace("area_under_roc_curve", "number_of_cats")), "8353"
    )
    assert {*warehouse.sql("SELECT parameter FROM hyperparameters")["parameter"]} == {"C", "kernel"}
    assert warehouse.run_table("8353", "number_of_cats").runs["value"].tolist() == [0.625]


@each("naming", ["parameter.name", "name"])
def test_a_row_for_each_hyperparameter_of_a_run_is_read(tmp_path: Path, naming: str) -> None:
    """As in lists of evaluations and setups that were joined in R."""
    rows = [f"{run},{task},{auc}" for run, task, auc in (("1", "3", "0.5"), ("2", "6", "0.75"))]
    values = [[("C", "0.1"), ("kernel", "rbf"), ("openml.seed", "7")], [("kernel", "poly")]]
    lines = [f"{row},numeric,{n},{v}" for row, own in zip(rows, values, strict=True) for n, v in own]
    content = "\n".join([f"run.id,task.id,{ACCURACY},data.type,{naming},value", *lines])
    tables = read_run_file(write(tmp_path, content), "svm").tables
    assert tables["evaluations"]["value"].to_pylist() == [0.5, 0.75]
    found = [tables["hyperparameters"][of].to_pylist() for of in ("parameter", "value")]
    assert sorted(zip(*found, strict=True)) == [("C", "0.1"), ("kernel", '"poly"'), ("kernel", '"rbf"')]


def test_rows_that_contradict_each_other_about_a_run_are_refused(tmp_path: Path) -> None:
    """As those of folds do; a repeated row is left out."""
    content = "\n".join(CLIENT).replace("setup_id", "tags")
    with pytest.raises(BadInput, match="row 1 has another value of 'predictive_accuracy' than a later row"):
        read_run_file(write(tmp_path, content + "\n" + CLIENT[1].replace("0.75", "0.7")), "8353")
    assert len(read_run_file(write(tmp_path, content + "\n" + CLIENT[1]), "8353").tables["runs"]) == 2
    wide = f"run_id,C,{ACCURACY},task_id\na,1,0.5,3\nb,1,0.5,3\na,1,0.5,3\n"
    assert len(read_run_file(write(tmp_path, wide), "svr").tables["runs"]) == 2


@each("name", ["parameters", "params", "Config", "hyperparameters"])
@each(
    "cell",
    [
        "{'C': 1, 'tree': {'depth': None}, 'layers': (10, 5), 'on': True}",
        '{"C": 1, "tree": {"depth": null}, "layers": [10,5], "on": true}',
        "{'C': 1, 'tree': {'depth': None}, 'layers': (10, 5), 'on': True, 'p': nan}",
    ],
)
def test_a_dictionary_of_hyperparameters_is_read(tmp_path: Path, cell: str, name: str) -> None:
    quoted = cell.replace('"', '""')
    tables = read_run_file(write(tmp_path, f'{name},auc,task_id\n"{quoted}",0.5,3\n'), "svr").tables
    found = dict(
        zip(*(tables["hyperparameters"][of].to_pylist() for of in ("parameter", "value")), strict=True)
    )
    assert found == {"C": "1", "tree.depth": "null", "layers": '"[10, 5]"', "on": "true"}
    with pytest.raises(BadInput, match=f"row 1: {name} is .* not a dictionary"):
        read_run_file(write(tmp_path, f'{name},auc,task_id\n"{quoted[:-1]}",0.5,3\n'), "svr")


def test_a_hyperparameter_has_one_name_in_all_flows_and_versions(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    """Unless one flow has two of the name."""
    header = "flow_id,x.A(1)_C,x.B(2)_C,sklearn.svm.classes.C(3)_e,sklearn.svm._classes.C(1)_e,auc,task_id"
    rows = ["1,7,,0.1,,0.5,3", "2,,8,,0.2,0.5,3", "2,,9,0.3,,0.5,3"]
    ingest_run_file(warehouse, write(tmp_path, "\n".join([header, *rows])), flow_column="flow_id")
    assert configurations(warehouse.run_table("1", "auc")) == [{"C": 7, "e": 0.1}]
    assert configurations(warehouse.run_table("2", "auc")) == [{"C": 8, "e": 0.2}, {"C": 9, "e": 0.3}]
    one_flow = "\n".join(line.split(",", 1)[1] for line in (header, rows[0].replace("7,,", "7,8,"), *rows))
    ingest_run_file(warehouse, write(tmp_path, one_flow), "3")
    assert {*warehouse.run_table("3", "auc").configurations.parameters} == {"x.A(1)_C", "x.B(2)_C", "e"}


def test_half_a_character_is_no_trouble(tmp_path: Path) -> None:
    path = write(tmp_path, 'params,auc,task_id\n"{""C"": ""a\\ud800""}",0.5,3\n')
    assert read_run_file(path, "svr").tables["hyperparameters"]["value"].to_pylist() == ['"a?"']


def test_a_file_may_list_no_hyperparameters(tmp_path: Path) -> None:
    content = f'# {{"col_parameters": [], "col_measures": ["{ACCURACY}"]}}\nC,{ACCURACY},task_id\n1,0.5,3\n'
    assert not len(read_run_file(write(tmp_path, content), "svr").tables["hyperparameters"])


@each("separator", [";", "\t"])
def test_decimal_commas_are_read_in_files_without_other_commas(tmp_path: Path, separator: str) -> None:
    content = f"sep=;\nC;{ACCURACY};task_id\n1,5;0,25;3\n2;1;3\n".replace(";", separator)
    tables = read_run_file(write(tmp_path, content), "svr").tables
    assert tables["hyperparameters"]["value"].to_pylist() == ["1.5", "2"]
    assert tables["evaluations"]["value"].to_pylist() == [0.25, 1]


def test_rows_of_other_flows_are_left_out(
    warehouse: Warehouse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    content = f"flow_id,C,{ACCURACY},task_id\n6969.0,1,0.5,3\n6970,2,0.6,3\nopenml:6969,3,0.7,3\n"
    assert read_back(warehouse, tmp_path, content) == [{"C": 1}, {"C": 3}]
    assert "1 row of other flows left out" in caplog.text
    with pytest.raises(BadInput, match=r"runs of .6969\.0, 6970, openml:6969., not of openml:8353"):
        ingest_run_file(warehouse, write(tmp_path, content), "8353")


def test_a_column_may_name_each_rows_flow(warehouse: Warehouse, tmp_path: Path) -> None:
    """Flows may be Headstart's, OpenML's or others; those without hyperparameters have one configuration."""
    content = (
        f"learner,max_features,C,{ACCURACY},task_id\n6969,0.5,,0.9,3\n8353,,2,0.8,3\nweka.J48,,,0.7,3\n"
        "weka.J48,,,0.6,6\n"
    )
    read = read_run_file(write(tmp_path, content), flow_column="learner")
    assert read.flows == ("openml:6969", "openml:8353", "other:weka.J48")
    assert read.of_others == ["openml:8353", "other:weka.J48"]
    ingest_run_file(warehouse, write(tmp_path, content), flow_column="learner")
    assert configurations(warehouse.run_table("6969", ACCURACY)) == [{"max_features": 0.5}]
    assert warehouse.run_table("6969", ACCURACY).scales == {"max_features": "linear"}
    assert configurations(warehouse.run_table("8353", ACCURACY)) == [{"C": 2}]
    plain = warehouse.run_table("weka.J48", ACCURACY)
    assert (len(plain.configurations), plain.runs["value"].tolist()) == (1, [0.7, 0.6])
    assert not plain.searched_flow("other:weka.J48").hyperparameters


ASLIB = """@RELATION RUN_EVALUATIONS
@ATTRIBUTE openml_task_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE predictive_accuracy NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, not_applicable, crash, other}
@DATA
3,1,2362_weka.J48,0.9,ok
3,1,2057_weka.RealAdaBoost,0,other
6,1,2362_weka.J48,0.8,ok
6,2,2362_weka.J48,0.7,ok
"""


@each(("column", "tasks"), [("openml_task_id", "openml"), ("openml_data_id", "openml-data")])
def test_tables_of_aslib_are_run_files_without_failed_runs(
    templates: Templates, tmp_path: Path, caplog: pytest.LogCaptureFixture, column: str, tasks: str
) -> None:
    warehouse = templates.copy(tmp_path / column)
    ingest_run_file(
        warehouse, write(tmp_path, ASLIB.replace("openml_task_id", column)), flow_column="algorithm"
    )
    assert "1 row whose runstatus is not ok left out" in caplog.text
    table = warehouse.run_table("other:2362_weka.J48", ACCURACY)
    assert table.runs["value"].tolist() == [0.9, 0.8, 0.7]
    assert table.runs["task"].unique().tolist() == [f"{tasks}:3", f"{tasks}:6"]
    datasets = {"openml": "openml-task:3", "openml-data": "openml:3"}
    assert table.runs["dataset"][0] == datasets[tasks]


def test_qualities_may_be_a_table(warehouse: Warehouse, tmp_path: Path) -> None:
    table = "openml_task_id,repetition,NumberOfClasses,ClassEntropy\n3,1,2,?\n99,1,3,1\n"
    qualities = write(tmp_path, table, "qualities.csv")
    ingest_run_file(warehouse, write(tmp_path, CSV), "6969", qualities=qualities)
    stored = warehouse.sql("SELECT dataset, quality, value FROM qualities ORDER BY quality DESC")
    assert stored["dataset"].tolist() == ["openml-task:3"] * 2
    assert stored["value"].tolist()[0] == 2
    assert stored["value"].isna().tolist() == [False, True]


def test_frames_of_openmls_r_client_are_run_files(warehouse: Warehouse, tmp_path: Path) -> None:
    content = (
        "run.id,task.id,setup.id,learner.name,predictive.accuracy,cost,shrinking\n1,3,5,svm,0.5,1L,TRUE\n"
    )
    assert read_back(warehouse, tmp_path, content) == [{"cost": 1, "shrinking": True}]


def test_delimited_files_are_read(warehouse: Warehouse, tmp_path: Path) -> None:
    assert read_back(warehouse, tmp_path, CSV) == [
        {"criterion": "gini", "max_features": 0.5},
        {"criterion": "entropy", "max_features": "sqrt"},
        {"criterion": "gini", "max_features": 0.5},
    ]
    assert warehouse.run_table("6969", ACCURACY).runs["task"].tolist() == ["openml:3", "openml:3", "openml:6"]
    variants = [CSV.replace(",", ";"), CSV.replace(",", "\t"), "\ufeff" + CSV, CSV.replace("\n", "\r\n")]
    for variant in (*variants, gzip.compress(CSV.encode())):
        assert ingest_run_file(warehouse, write(tmp_path, variant), "6969").ingest is None


def test_parquet_keeps_its_types(warehouse: Warehouse, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "n_estimators": [10, 100],
            "max_depth": pd.array([None, 3], dtype="Int64"),
            "shrinking": [True, False],
            "gamma": ["auto", "0.5"],
            "C": [1.0, math.nan],
            "started": pd.to_datetime(["2024-01-01", None]),
            "duration": pd.to_timedelta([1, 2], unit="s"),
            "predictive_accuracy": [0.5, 0.25],
            "task_id": [3, 3],
        }
    )
    frame.to_parquet(tmp_path / "runs.parquet")
    ingest_run_file(warehouse, tmp_path / "runs.parquet", "6969")
    first, second = configurations(warehouse.run_table("6969", ACCURACY))
    assert repr(first) == repr(
        {"C": 1.0, "gamma": "auto", "max_depth": math.nan, "n_estimators": 10, "shrinking": True}
    )
    assert repr(second) == repr(
        {"C": math.nan, "gamma": 0.5, "max_depth": 3, "n_estimators": 100, "shrinking": False}
    )


# ---- meaning ------------------------------------------------------------------------------------


def test_empty_cell_of_a_parameter_means_that_it_is_not_set(warehouse: Warehouse, tmp_path: Path) -> None:
    rows = read_back(warehouse, tmp_path, f"a,b,{ACCURACY},task_id\n1,,0.5,3\n1,?,0.6,3\n,2,0.7,3\n")
    assert repr(rows) == repr([{"a": 1, "b": math.nan}] * 2 + [{"a": math.nan, "b": 2}])
    assert len(warehouse.sql("SELECT * FROM setups")) == 2


def test_repeated_configurations_are_separate_runs(warehouse: Warehouse, tmp_path: Path) -> None:
    content = f"a,{ACCURACY},task_id\n1,0.5,3\n1,0.6,3\n1,0.5,3\n1,0.5,6\n"
    assert len(read_back(warehouse, tmp_path, content)) == 4
    assert len(warehouse.sql("SELECT * FROM setups")) == 1


def test_corrected_value_replaces_the_old_one(warehouse: Warehouse, tmp_path: Path) -> None:
    read_back(warehouse, tmp_path, CSV)
    commit = ingest_run_file(warehouse, write(tmp_path, CSV.replace("0.8,3", "0.85,3")), "6969")
    assert (commit.added["runs"], commit.changed["evaluations"]) == (0, 1)
    assert warehouse.run_table("6969", ACCURACY).runs["value"].tolist() == [0.9, 0.85, 0.7]


def test_rows_without_any_measure_are_left_out(warehouse: Warehouse, tmp_path: Path) -> None:
    content = f"a,{ACCURACY},kappa,task_id\n1,,None,3\n2,0.5,N/A,3\n3,nan,0.25,3\n"
    assert read_back(warehouse, tmp_path, content) == [{"a": 2}]
    assert warehouse.run_table("6969", "kappa").runs["value"].tolist() == [0.25]
    assert warehouse.sql("SELECT position FROM runs ORDER BY position")["position"].tolist() == [1, 2]


def test_bookkeeping_columns_are_not_hyperparameters(warehouse: Warehouse, tmp_path: Path) -> None:
    content = f"run_id,uploader,a,{ACCURACY},task_id\n1,me,5,0.5,3\n2,me,5,0.6,3\n"
    assert read_back(warehouse, tmp_path, content) == [{"a": 5}, {"a": 5}]


def test_names_with_the_same_plain_name_stay_unchanged(warehouse: Warehouse, tmp_path: Path) -> None:
    content = f"ada__max_depth,tree__max_depth,ada__n,{ACCURACY},task_id\n1,2,3,0.5,3\n"
    assert read_back(warehouse, tmp_path, content) == [{"ada__max_depth": 1, "tree__max_depth": 2, "n": 3}]


@each(
    ("raw", "plain"),
    [
        ("adaboostclassifier__base_estimator__max_depth", "max_depth"),
        ("dummyclassifier__strategy", "strategy"),
        ("sklearn.preprocessing.imputation.Imputer(11)_strategy", "imputation"),
    ],
)
def test_plain_parameter_names(raw: str, plain: str) -> None:
    assert plain_parameter_name(raw) == plain


def test_known_tasks_and_flows_are_not_overwritten(warehouse: Warehouse, tmp_path: Path) -> None:
    known = {
        "datasets": pd.DataFrame({"dataset": ["openml:31"], "name": "credit-g", "rows": 1000}),
        "tasks": pd.DataFrame(
            {"task": ["openml:3"], "dataset": "openml:31", "task_type": "supervised_classification"}
        ),
        "flows": pd.DataFrame(
            {"flow": ["openml:6969"], "name": "sklearn.Pipeline(1)", "algorithm": "forest"}
        ),
    }
    warehouse.write(known, source="test")
    qualities = write(tmp_path, json.dumps({"3": {"NumberOfClasses": 2.0}}), "qualities.json")
    ingest_run_file(warehouse, write(tmp_path, CSV), "6969", qualities=qualities)
    runs = warehouse.run_table("forest", ACCURACY).runs
    assert runs["dataset"].tolist() == ["openml:31", "openml:31", "openml-task:6"]
    assert warehouse.metafeatures().loc["openml:31", "NumberOfClasses"] == 2


def test_reading_again_restores_datasets_lost_by_a_repair(warehouse: Warehouse, tmp_path: Path) -> None:
    ingest_run_file(warehouse, write(tmp_path, CSV), "6969")
    datasets = warehouse.sql("SELECT * EXCLUDE (ingest) FROM datasets ORDER BY dataset")
    lose_rows(warehouse, "datasets")
    repaired = Warehouse.open(warehouse.path)
    assert repaired.sql("SELECT * FROM datasets").empty
    ingest_run_file(repaired, write(tmp_path, CSV), "6969")
    pd.testing.assert_frame_equal(
        repaired.sql("SELECT * EXCLUDE (ingest) FROM datasets ORDER BY dataset"), datasets
    )


def test_tasks_written_meanwhile_by_another_writer_are_not_overwritten(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    """The warehouse was opened before the other writer wrote."""
    opened = Warehouse.open(warehouse.path)
    true = {"task": ["openml:3"], "dataset": ["openml:44"], "task_type": ["supervised_classification"]}
    warehouse.write({"tasks": pd.DataFrame(true)}, source="test")
    assert opened.version < warehouse.version
    ingest_run_file(opened, write(tmp_path, CSV), "6969")
    assert opened.sql("SELECT dataset FROM tasks WHERE task = 'openml:3'")["dataset"].tolist() == [
        "openml:44"
    ]


def test_scales_of_headstarts_flows_are_known(warehouse: Warehouse, tmp_path: Path) -> None:
    """They are those of the file's hyperparameters: a forest's share of features, and no choice."""
    ingest_run_file(warehouse, write(tmp_path, CSV), "6969")
    assert warehouse.run_table("6969", ACCURACY).scales == {"max_features": "linear"}
    ingest_run_file(warehouse, write(tmp_path, CSV), "1234")
    assert warehouse.run_table("1234", ACCURACY).scales == {}


def test_qualities_are_kept_as_published(warehouse: Warehouse, tmp_path: Path) -> None:
    content = (
        '{"3": {"MeanAttributeEntropy": -1.0, "ClassEntropy": NaN, "NumberOfClasses": null}, "99": {"A": 1}}'
    )
    qualities = write(tmp_path, content, "qualities.json")
    ingest_run_file(warehouse, write(tmp_path, CSV), "6969", qualities=qualities)
    stored = warehouse.arrow("SELECT * EXCLUDE (ingest) FROM qualities ORDER BY quality").to_pylist()
    common = {"dataset": "openml-task:3", "source": "openml", "extractor": "openml"}
    assert stored == [
        {"quality": "ClassEntropy", "value": None, **common},
        {"quality": "MeanAttributeEntropy", "value": -1.0, **common},
        {"quality": "NumberOfClasses", "value": None, **common},
    ]


# ---- bad input ----------------------------------------------------------------------------------

HOSTILE = {
    "empty": (b"", "the file is empty"),
    "header only": (CSV.split("\n")[0].encode() + b"\n", "no rows"),
    "binary": (bytes(range(256)), "neither text"),
    "old Excel": (b"\xd0\xcf\x11\xe0" + bytes(50), "Excel"),
    "broken zip": (b"PK\x03\x04" + bytes(50), "damaged zip"),
    "broken Parquet": (b"PAR1 and no more", "damaged Parquet"),
    "broken gzip": (gzip.compress(CSV.encode())[:-9], "damaged gzip"),
    "no task": (CSV.replace("task_id", "task").encode(), "no column task_id"),
    "one measure twice": (b"acc,accuracy,task_id\n1,1,3\n", "'acc, accuracy' are one measure"),
    "task of two types": (b"acc,task_type,task_id\n1,1,3\n1,2,3\n", "the task 3 has two task types"),
    "no dataset": (b"kappa,data_id\n1,iris\n", "row 1: data_id is 'iris', not a dataset id"),
    "no measure": (CSV.replace(ACCURACY, "score").encode(), "no column is a measure"),
    "task that is no number": (CSV.replace("0.8,3", "0.8,iris").encode(), "row 2: task_id is 'iris'"),
    "task that is a fraction": (CSV.replace("0.8,3", "0.8,3.5").encode(), "row 2: task_id is '3.5'"),
    "infinite task": (CSV.replace("0.8,3", "0.8,1e999").encode(), "row 2: task_id is 'inf'"),
    "missing task": (CSV.replace("0.8,3", "0.8,").encode(), "row 2 has no task_id"),
    "cut off": (CSV.encode()[:-4], "row 3 has no task_id"),
    "measure that is no number": (
        CSV.replace("0.8", "good").encode(),
        "row 2: predictive_accuracy is 'good'",
    ),
    "infinite measure": (CSV.replace("0.8", "1e999").encode(), "row 2: predictive_accuracy is 'inf'"),
    "no values at all": (b"a,kappa,task_id\n1,,3\n", "no row has a value of kappa"),
    "columns twice": (b"a,a,kappa,task_id\n1,2,0.5,3\n", "two columns are named 'a'"),
    "too many cells": (CSV.encode() + b"1,2,3,4,5\n", "not a table"),
    "broken ARFF": (ARFF.replace("3,1,1e3,6", "3,1").encode(), "line"),
    "other flow": (ARFF.replace("6969", "6970").encode(), "runs of flow 6970"),
    "comment about other columns": (
        ARFF.replace("speed NUM", "pace NUM").encode(),
        "lists the column 'speed'",
    ),
    "comment of another form": (ARFF.replace('["speed"]', '"speed"').encode(), "no.* list of names"),
}


@each("trouble", HOSTILE)
def test_hostile_files_are_refused_in_one_line(warehouse: Warehouse, tmp_path: Path, trouble: str) -> None:
    content, reason = HOSTILE[trouble]
    with pytest.raises(BadInput, match=reason) as caught:
        ingest_run_file(warehouse, write(tmp_path, content, "runs"), "6969")
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "runs") in str(caught.value)
    assert warehouse.version == 0


@each(
    "content",
    [
        "", "[1]", "{", '{"3": 5}', '{"3": {"A": "much"}}', '{"3": {"A": [1]}}', "A,B\n1,2\n",
        "task_id,A\n3,much\n", "task_id,A\n3,1\n3,2\n",
    ],
)  # fmt: skip
def test_hostile_qualities_are_refused_in_one_line(
    warehouse: Warehouse, tmp_path: Path, content: str
) -> None:
    qualities = write(tmp_path, content, "qualities.json")
    with pytest.raises(BadInput, match=r"qualities\.json") as caught:
        ingest_run_file(warehouse, write(tmp_path, CSV), "6969", qualities=qualities)
    assert "\n" not in str(caught.value)


@each(
    ("text", "key"),
    [("6969", "openml:6969"), ("openml:31", "openml:31"), ("random_forest", "headstart:random_forest")],
)
def test_flows_are_known_by_id_and_name(text: str, key: str) -> None:
    assert flow_key(text) == key


@each("text", ["", "forest!", "-3", "6969.0", "openml:", "openml:x", "٣"])
def test_unknown_flow_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(BadInput, match=r"unknown flow .* random_forest"):
        flow_key(text)


def test_a_run_without_hyperparameters_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("task_id,depth,predictive_accuracy\n3,1,0.5\n31,,0.75\n")
    tables = read_run_file(path, "other:flow").tables
    assert len(tables["runs"]) == 2
    assert len(tables["setups"]) == 2


@each(
    ("content", "reason"),
    [
        ("acc,task_id\n1,3\n", "there is no column 'learner'"),
        ("acc,learner,task_id\n1,a,3\n1,,3\n", "row 2 has no flow in the column 'learner'"),
        ("acc,learner,task_id\n1,a b,3\n", "unknown flow 'a b'"),
    ],
)
def test_a_column_of_flows_is_complete(tmp_path: Path, content: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        read_run_file(write(tmp_path, content), flow_column="learner")


def test_columns_that_describe_runs_or_datasets_are_no_hyperparameters(
    warehouse: Warehouse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By their names, or since all runs on a task have one value, or since no word comes twice."""
    runs = [(task, C, fold) for task in (3, 6, 7) for C in (0.1, 1.0) for fold in range(4)]
    rows = [f"{t},d{t},{t * 100},{C},{f},at {n},0.{n + 10}" for n, (t, C, f) in enumerate(runs)]
    header = f"task_id,source,rows,C,fold,when,{ACCURACY}"
    path = write(tmp_path, "\n".join([header, *rows]))
    ingest_run_file(warehouse, path, "8353")
    assert "not hyperparameters: source, rows, fold, when" in caplog.text
    found = warehouse.sql("SELECT parameter, value FROM hyperparameters ORDER BY value")
    assert found.to_numpy().tolist() == [["C", "0.1"], ["C", "1.0"]]


def test_values_that_were_chosen_for_each_task_are_hyperparameters(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    rows = [f"{task},{task / 10},{seed},0.{task}{seed}" for task in (3, 6, 7) for seed in range(10)]
    ingest_run_file(warehouse, write(tmp_path, "\n".join([f"task_id,C,seed,{ACCURACY}", *rows])), "8353")
    found = warehouse.sql("SELECT parameter, value FROM hyperparameters ORDER BY value")
    assert found.to_numpy().tolist() == [["C", "0.3"], ["C", "0.6"], ["C", "0.7"]]
