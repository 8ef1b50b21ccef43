"""Facts about published collections, where they are at hand."""

import numpy as np
import pytest

from rankloop.lab.data import Dataset, concatenate, list_datasets, load, summarise_queries


def load_or_skip(name: str) -> Dataset:
    folder = name.partition("(")[0]
    if folder not in {entry.name for entry in list_datasets()}:
        pytest.skip(f"{folder} is not in the folders of RANKLOOP_DATA")
    return load(name)


def load_raw(name: str) -> Dataset:
    load_or_skip(name)
    return load(name, prepared=False)


def test_mq2008_is_complete() -> None:
    data = load_raw("mq2008(fold=1)")
    facts = summarise_queries(concatenate(*data.parts))
    assert (facts.queries, facts.documents, facts.features) == (784, 15_211, 46)
    assert len(facts.grade_shares) == 3


@pytest.mark.parametrize(("name", "features"), [("mq2008(fold=1)", 40), ("mq2007-85pct(fold=1)", 41)])
def test_preparation_leaves_the_features_the_literature_uses(name: str, features: int) -> None:
    data = load_or_skip(name)
    assert {part.n_features for part in data.parts} == {features}
    assert data.train.features.min() == 0
    assert data.train.features.max() == 1


def test_the_mslr_fragment_has_its_published_shape() -> None:
    data = load_raw("mslr-web30k-sub")
    assert data.vali is not None
    assert [len(data.train), len(data.vali), len(data.test)] == [125, 18, 30]
    assert [len(part.features) for part in (data.train, data.vali, data.test)] == [14_164, 1_734, 3_074]
    assert data.train.n_features == 136
    assert np.isfinite(data.train.features).all()
