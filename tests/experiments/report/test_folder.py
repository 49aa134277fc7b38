import json
import shutil
from pathlib import Path

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import FLOORS, RECORDS, RUNS
from calque.experiments.report.folder import ABOUT, joined_rows, stored
from tests.analysis.runs import runs as runs_of
from tests.analysis.toy import toy_records
from tests.experiments.committed import ROOT
from tests.experiments.conftest import SETTINGS, calque, refused

TOY = {"study": "toy", "report": "align_mlm", "scale": "two layers", "commit": "0123456", "seeds": [0, 1]}
FLOOR = dict.fromkeys(("baseline", "title"), "majority") | {"task": "pos", "metric": "accuracy", "value": 0.5}
FLOOR |= {"count": 2, "language": "trans", "learnt": "source"}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    for variable in ("CALQUE_DATA", "CALQUE_ENCODER"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return write(Path("records/toy"))


def write(folder, seeds=2, **about):
    folder.mkdir(parents=True)
    records = [record for record in toy_records(seeds) if record.task == "pos"]
    json_rows.write(folder / RECORDS, records)
    json_rows.write(folder / RUNS, runs_of(records))
    (folder / ABOUT).write_text(json.dumps({**TOY, **about}))
    return folder


def contents(folder):
    return {
        path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != ABOUT
    }


def test_report_on_a_folder_of_records(toy):
    before = contents(toy)
    code, out, err = calque("report", toy)
    report = Path("runs/toy/reports/toy")
    assert (code, out.splitlines()[-1], err) == (0, f"{report}/report.html", "")
    assert contents(toy) == before
    assert {name: (report / name).read_bytes() for name in (RECORDS, RUNS)} == {
        name: before[name] for name in (RECORDS, RUNS)
    }
    about = stored(report)
    assert about.items() >= TOY.items() and about["name"] == "toy" and len(about["configuration"]) == 12
    assert about["rendered"]["date"] and about["rendered"]["command"].startswith("calque")


MISSING = {"language": "", "task": "", "split": "", "layer": None, "step": 0, "count": 0, "path": ""}


@pytest.mark.parametrize("name", ["xlm_align_pocket", "aligner"])
def test_joined_rows_contain_record_and_run_fields(name):
    runs, records = (
        [json.loads(line) for line in (ROOT / name / file).read_text().splitlines()]
        for file in (RUNS, RECORDS)
    )
    by_name = {run["id"]: run for run in runs}
    for row, record in zip(joined_rows(ROOT / name), records, strict=True):
        run = by_name[record["run"]]
        of_run = {key: run[key] for key in ("study", "seed")}
        of_run |= {key: run[key]["name"] if run.get(key) else "" for key in ("objective", "mixture")}
        of_run["start"] = run["start"]["objective"]["name"] if run.get("start") else ""
        assert row == of_run | MISSING | record


@pytest.mark.parametrize("values", ["48", "4"])
def test_records_of_a_sweep_make_its_table(values, toy):
    settings = [{"steps": value} for value in values]
    rows, records = (
        [json.loads(line) for line in (toy / name).read_text().splitlines()] for name in (RUNS, RECORDS)
    )
    lines(
        toy / RUNS,
        [{**row, "id": f"{row['id']}@{of['steps']}", "settings": of} for of in settings for row in rows],
    )
    lines(
        toy / RECORDS, [{**row, "run": f"{row['run']}@{of['steps']}"} for of in settings for row in records]
    )
    assert calque("report", toy)[0] == 0
    table = Path("runs/toy/reports/toy/sweep.md").read_text()
    assert "(two layers)" in table and all(f"| {of['steps']} " in table for of in settings)


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_only_reports_are_replaced(toy):
    own = Path("runs/toy/reports/toy/thesis.txt")
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert f"{own.parent}: not a report" in refused("report", toy)
    assert [*own.parent.iterdir()] == [own]
    assert calque("report", toy, "--name", "other")[0] == 0
    assert "overwrite records" in refused("report", "runs/toy/reports/other")


def changed(name, change):

    def apply(folder):
        rows = [json.loads(line) for line in (folder / name).read_text().splitlines()]
        change(rows)
        lines(folder / name, rows)

    return apply


def described(**values):
    return lambda folder: (folder / ABOUT).write_text(json.dumps({**TOY, **values}))


def cut(folder):
    text = (folder / RECORDS).read_text()
    (folder / RECORDS).write_text(text[: len(text) - 20])


def after_another(folder):
    start = {"objective": {"name": "MLM", "title": "MLM"}, "fraction": 0.5}
    described(report="xtreme")(folder)
    changed(RUNS, lambda rows: [row.update(start=start) for row in rows])(folder)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (changed(RECORDS, lambda rows: rows[0].update(score=1)), "unknown fields: score"),
        (changed(RECORDS, lambda rows: rows[1].update(value=float("nan"))), f"{RECORDS}:2: "),
        (cut, f"{RECORDS}:"),
        (changed(RECORDS, lambda rows: rows.clear()), "contains no records"),
        (lambda folder: (folder / RECORDS).unlink(), "contains no records.jsonl; expected a report's folder"),
        (changed(RUNS, lambda rows: rows.pop()), "no run in runs.jsonl is called"),
        (changed(RUNS, lambda rows: rows.append({**rows[0], "seed": 7})), "2 rows are about "),
        (lambda folder: lines(folder / FLOORS, 2 * [FLOOR]), "2 rows are about ('majority', 'pos', "),
        (changed(RECORDS, lambda rows: rows[0].update(language="fr")), "its run has no language 'fr'"),
        (changed(RUNS, lambda rows: rows[0].update(layers=12)), "two configurations in one table: "),
        (changed(RUNS, lambda rows: rows[0].update(study="other")), "found several: other, toy"),
        (changed(RUNS, lambda rows: rows[0].update(settings={"a": "1"})), "; expected "),
        (changed(RUNS, lambda rows: rows[0].update(seed=7)), "was run with seeds {1, 7}, but "),
        (
            changed(RUNS, lambda rows: [row.update(study="../../own") for row in rows]),
            "cannot be a folder's name",
        ),
        (described(seeds=3), f"{ABOUT}: not a report's description in JSON: seeds should be a tuple"),
        (described(settings=[1]), "settings should be a str"),
        (described(compute=3), "compute should be a "),
        (described(report="nature"), "no kind of report is called 'nature'"),
        (after_another, "no records of the starting model"),
        (lambda folder: (folder / ABOUT).write_text("{"), f"{ABOUT}: not a report's description in JSON: "),
        (lambda folder: (folder / ABOUT).write_text("[]"), "the description should be a dict"),
        (lambda folder: (folder / ABOUT).unlink(), "lacks 'report' or 'scale'"),
    ],
)
def test_inconsistent_records_are_one_line(toy, damage, said):
    damage(toy)
    assert said in refused("report", toy)
    assert not Path("runs").exists()


def test_named_report_keeps_its_command(done, tmp_path, monkeypatch):
    shutil.copytree(done.root, tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs" / "pocket" / "report")
    words = ["pocket", "--runs", tmp_path / "runs", *SETTINGS, "--name", "tiny"]
    monkeypatch.setattr("sys.argv", ["calque", "run", "it's"])
    code, out, err = calque("run", *words, "--jobs", "1")
    folder = tmp_path / "runs" / "pocket" / "reports" / "tiny"
    assert (code, out.splitlines()[-1], err) == (0, f"{folder}/report.html", "")
    about, first = stored(folder), contents(folder)
    uses = json.loads((folder / "uses.json").read_text())
    assert uses and all((tmp_path / "runs" / "shared" / step).is_dir() for step in uses)
    assert about["command"] == """calque run 'it'"'"'s'""" and about["settings"] == SETTINGS[1::2]
    assert "wall" not in about and about["versions"]["torch"] and "cores" in about["machine"]
    monkeypatch.setattr("sys.argv", ["calque", "report"])
    assert calque("report", *words)[0] == 0
    assert contents(folder) == first and stored(folder)["rendered"]["command"] == "calque report"
    assert stored(folder)["command"] == about["command"]
    said = refused("report", *words, "--set", "seeds=1")
    assert "the report on pocket --set seeds=0" in said and "--set seeds=1 (" in said
