import numpy as np

from rankloop.data import Description, describe
from rankloop.types import QuerySet


def test_a_description_counts() -> None:
    features = np.zeros((5, 3), np.float32)
    features[:, 1] = np.arange(5)
    queries = QuerySet(features, np.array([0, 1, 3, 5]), np.array([0, 2, 0, 0, 0]), ("a", "b", "c"))
    assert describe(queries) == Description(
        queries=3,
        documents=5,
        fewest_documents=1,
        median_documents=2.0,
        most_documents=2,
        features=3,
        constant_features=2,
        grade_shares=(4 / 5, 0.0, 1 / 5),
        queries_without_relevant=2,
        megabytes=5 * 3 * 4 / 1e6,
    )
