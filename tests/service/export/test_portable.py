"""Models for other engines: what is exported scores as the service does, or is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from msgspec import structs
from typer.testing import CliRunner

from rankloop.candidate import Candidate
from rankloop.cli import app
from rankloop.errors import SettingError
from rankloop.policies import (
    DBGD,
    PDGD,
    P2NeurRank,
    PairRank,
    Policy,
    Race,
    RankNet,
    ThompsonItems,
    UCBItems,
)
from rankloop.scorers import MLP
from rankloop.service import RankerSettings, Scaling, UserEvent
from rankloop.service.export import FORMATS, NotPortable, PortableModel, check_files
from rankloop.service.export import elasticsearch as es
from rankloop.service.operations.data_directory import DataDirectory
from rankloop.service.service_facade import ServiceFacade
from rankloop.service.store import open_temporary_store
from tests.support.life import SHORT, Clock, live, make
from tests.support.limits import keep_snapshots_every
from tests.support.serving import alive

frequent_snapshots = keep_snapshots_every(7)

LINEAR = (PairRank(caller_order="decent"), PDGD(), Race(), DBGD())
NEURAL = (RankNet(scorer=MLP((4, 2)), caller_order="good"), P2NeurRank(scorer=MLP(4)))


def learned(policy: Policy, scaling: Scaling, rounds: int = 12) -> ServiceFacade:
    """A service that has learned a little, also from candidates that lack a feature."""
    clock = Clock()
    service = make(open_temporary_store(), clock)
    service.create("shop", structs.replace(SHORT, policy=policy, scaling=scaling))
    live(service, clock, rounds=rounds)
    some = [
        Candidate("a", {"age": 1.0, "bm25": 0.2, "clicks": 2.0, "price": None}),
        Candidate("b", {"bm25": 0.7, "price": 0.4}),
        Candidate("c", {"age": 0.5, "clicks": 1.0, "price": 0.1}),
        Candidate("d"),
    ]
    shown = service.rank(some, ranker="shop")
    service.record([UserEvent(shown.query_id, "b")])
    service.flush("shop")
    return service


def exported(model: PortableModel) -> Iterator[str]:
    """The formats that take the model; files of each are re-scored."""
    for name, form in FORMATS.items():
        try:
            files = form.files(model)
        except NotPortable:
            continue
        check = check_files(model, form, files)
        assert check.logged == 13
        assert check.candidates > 100
        if name == "elasticsearch":  # Lucene takes no negative scores
            assert min(form.score(files, model.names, each.features).min() for each in model.lists) >= 0
        yield name


@pytest.mark.parametrize("scaling", ["query", "running"])
@pytest.mark.parametrize("policy", [*LINEAR, *NEURAL], ids=lambda each: type(each).__name__)
def test_files_score_as_the_service_does_or_are_refused(policy: Policy, scaling: Scaling) -> None:
    service = learned(policy, scaling)
    model = service.portable("shop")
    assert model.linear == (policy in LINEAR)
    expected = {"onnx", "json"}
    if model.linear and scaling == "running" and not getattr(policy, "caller_order", None):
        expected |= {"elasticsearch", "opensearch"}
    assert set(exported(model)) == expected
    alone = service.portable("shop", by_document=True)
    assert alone.by_document
    assert ("elasticsearch" in set(exported(alone))) == model.linear
    assert service.model("shop").version == model.version  # asking has changed nothing


@pytest.mark.parametrize("scaling", ["query", "running"])
def test_a_runtime_computes_what_the_policy_does(scaling: Scaling) -> None:
    for policy in (LINEAR[0], *NEURAL):
        model = learned(policy, scaling).portable("shop")
        session = onnxruntime.InferenceSession(FORMATS["onnx"].files(model)["model.onnx"])
        for each in model.lists:
            (found,) = session.run(["scores"], {"features": each.features})
            np.testing.assert_allclose(found, each.scores, rtol=1e-4, atol=1e-5)
        said = session.get_modelmeta().custom_metadata_map
        assert json.loads(said["features"]) == list(model.names)


@pytest.mark.parametrize("name", ["elasticsearch", "json"])
def test_a_file_that_says_something_else_is_found_out(name: str) -> None:
    model, form = learned(PDGD(), "running").portable("shop"), FORMATS[name]
    files = form.files(model)
    weight = repr(float(model.weights[2])).encode()
    assert any(weight in text for text in files.values())
    wrong = {each: text.replace(weight, b"0.123") for each, text in files.items()}
    with pytest.raises(NotPortable, match="would be off by up to"):
        check_files(model, form, wrong)


def test_normalisers_are_those_of_the_documentation() -> None:
    given = np.array([-5.0, 55.0, 5.0], np.float32)  # Javadoc of MinMaxNormalizer: -0.1, 1.1 and 0.1
    np.testing.assert_allclose(
        es._normalised({"min_max": {"minimum": 0, "maximum": 50}}, given), [-0.1, 1.1, 0.1], rtol=1e-6
    )
    years = np.array([1970.0, 2000.0, 1940.0], np.float32)  # "Uploading a trained model": 0, 1 and -1
    standard = {"standard": {"mean": 1970, "standard_deviation": 30}}
    assert es._normalised(standard, years).tolist() == [0.0, 1.0, -1.0]


def test_what_cannot_be_said_is_refused_with_the_way_out() -> None:
    model = learned(PairRank(caller_order="decent"), "query").portable("shop")
    with pytest.raises(NotPortable, match=r"within each list and it counts the caller's own order.*--by-doc"):
        FORMATS["elasticsearch"].files(model)
    with pytest.raises(NotPortable, match="none of the 12 lists"):
        learned(DBGD(caller_order=0.3), "query").portable("shop", by_document=True)
    with pytest.raises(SettingError, match="leave out the version"):
        learned(PDGD(), "query", 1).portable("shop", by_document=True, version=3)
    network = learned(NEURAL[0], "running").portable("shop")
    with pytest.raises(NotPortable, match="export it as onnx"):
        FORMATS["elasticsearch"].files(network)
    for policy in (ThompsonItems(), UCBItems()):
        with pytest.raises(NotPortable, match="by their ids"):
            learned(policy, "query").portable("shop")


def test_past_versions_and_retired_features_are_exported_as_they_were() -> None:
    service = learned(PairRank(), "running", rounds=30)
    past = service.portable("shop", version=40)
    assert 0 < past.learned_from < service.model("shop").lists
    assert past.version <= 40
    service.retire_features("shop", ["clicks"])
    without = service.portable("shop")
    assert without.names == ("age", "bm25", "price")
    assert "clicks" in past.names
    assert "elasticsearch" in set(exported(replace(without, logged=13)))
    assert PortableModel.from_json(json.loads(json.dumps(past.to_json()))).to_json() == past.to_json()


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["export-model", *words])
    return done.exit_code, done.output + str(done.exception or "")


def test_a_folder_and_a_running_service_give_the_same_files(tmp_path: Path) -> None:
    clock = Clock()
    with DataDirectory(tmp_path / "data").open() as store:
        service = make(store, clock)
        service.create("shop", RankerSettings(window=60))
        live(service, clock, rounds=12)
        service.flush("shop")
        with alive(service) as found:
            there = ("--url", found.url, "--key", found.keys["admin"], "--ranker", "shop")
            code, said = run("onnx", str(tmp_path / "http"), *there)
            assert code == 0, said
            assert "12 logged and 10 made-up lists" in said
            assert run("onnx", str(tmp_path / "none"), *there[:3], "wrong", *there[4:])[0] != 0
    here = ("--data-dir", str(tmp_path / "data"), "--ranker", "shop")
    assert run("onnx", str(tmp_path / "folder"), *here)[0] == 0
    assert (tmp_path / "folder" / "model.onnx").read_bytes() == (
        tmp_path / "http" / "model.onnx"
    ).read_bytes()
    code, said = run("elasticsearch", str(tmp_path / "es"), *here)
    assert code != 0
    assert "--by-document" in said
    assert not (tmp_path / "es" / "model.json").exists()
    assert run("elasticsearch", str(tmp_path / "es"), *here, "--by-document")[0] == 0
    assert sorted(path.name for path in (tmp_path / "es").iterdir()) == ["featureset.json", "model.json"]
    assert "no format is called 'onxn'" in run("onxn", str(tmp_path / "es"), *here)[1]
