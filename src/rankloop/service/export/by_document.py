"""Document-wise linear models: weights and normalisers, for engines that see one document at a time."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.service.export.portable_model import NotPortable, PortableModel


@dataclass(frozen=True, slots=True)
class ShiftedFeature:
    r"""A feature as an engine computes it, which may give no negative numbers: $\min(\max(x, l), h) - l$.

    $l$ and $h$ are where the service cuts off, so that the shifted feature is never below 0; a missing value
    is the mean. A standard normaliser then gives what the service computes, up to a constant, which is chosen
    such that no feature can take a score below 0 either: Lucene takes no negative scores.

    >>> feature = ShiftedFeature("price", weight=-1.0, mean=20.0, deviation=5.0, farthest=3.0)
    >>> feature.low, feature.high, round(feature.origin, 3)
    (5.0, 35.0, 30.0)
    """

    name: str
    weight: float
    mean: float
    deviation: float
    farthest: float

    @property
    def low(self) -> float:
        """Values below are this one."""
        return self.mean - self.farthest * self.deviation

    @property
    def high(self) -> float:
        """Values above are this one."""
        return self.mean + self.farthest * self.deviation

    @property
    def origin(self) -> float:
        """The normaliser's mean: the end of the shifted feature that is worth least, or a hair beyond it."""
        return 0.0 if self.weight >= 0 else (self.high - self.low) * (1 + 1e-6)


def shifted_features(model: PortableModel, engine: str) -> list[ShiftedFeature]:
    """The features of a document-wise linear model that count; `NotPortable` if it is none."""
    if not model.linear:
        raise NotPortable(f"{engine} takes linear models here, and this one is a network: export it as onnx")
    if not model.by_document:
        reasons = {
            "it scales features within each list": model.scaling == "query",
            "it counts the caller's own order": bool(model.weights[0]),
        }
        why = " and ".join(reason for reason, there in reasons.items() if there)
        raise NotPortable(
            f"{engine} scores one document at a time, and this ranker does not: {why}. Export it as onnx, "
            "which sees the list; or export what the same log teaches with running scaling and without "
            "the order: --by-document"
        )
    rows = zip(model.names, model.weights[1:], model.mean, model.deviation, strict=True)
    found = [
        ShiftedFeature(name, float(weight), float(mean), float(deviation), model.farthest)
        for name, weight, mean, deviation in rows
        if deviation > 0  # otherwise it is always 0
    ]
    if not found:
        raise NotPortable("nothing was learned of any feature so far: there is no model to export")
    return found
