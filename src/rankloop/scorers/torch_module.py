"""Any PyTorch module as scorer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from rankloop.bounds import Natural, check_settings
from rankloop.errors import RankingError, SettingError
from rankloop.scorers.gradients import Gradients
from rankloop.types import FloatArray


@dataclass(frozen=True, repr=False)
class Module:
    """A network of your own: anything that PyTorch can differentiate.

    `make` gets the number of features and returns a `torch.nn.Module` that takes documents
    [n_docs, n_features] and returns a score for each, [n_docs] or [n_docs, 1]. `seed` decides the weights
    it starts with; `device` is where it computes. Parameters and scores are NumPy arrays, so it serves in
    every policy. It runs in evaluation mode: dropout is off, and a batch statistic stays as it was made, as
    do buffers and parameters that need no gradient (`requires_grad_(False)`).

    To work in several processes, `make` must be a function that they can import.

    >>> import torch  # pip install 'rankloop[neural]'
    >>> scorer = Module(lambda n_features: torch.nn.Linear(n_features, 1, bias=False))
    >>> scorer.score(np.array([2.0, 0.0]), np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [2.0, 1.0]
    """

    make: Callable[[int], Any]
    _: KW_ONLY
    seed: Natural = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse to go on without PyTorch, or with a module in place of what makes it."""
        check_settings(self)
        if isinstance(self.make, _torch().nn.Module):
            raise SettingError(
                "make must be a function of the number of features that returns a module, for example "
                f"Module(lambda n_features: torch.nn.Linear(n_features, 1)), found {self.make!r}"
            )

    def __repr__(self) -> str:
        name = getattr(self.make, "__qualname__", repr(self.make))  # an address would differ in every process
        return f"Module({name}, seed={self.seed}, device={self.device!r})"

    def start(self, n_features: int, number: int = 0) -> FloatArray:
        """Give the weights that the module is made with, after the seed `seed + number`."""
        return _start(self.make, n_features, self.seed + number)

    def score(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """One call of the module; for a stack of parameters, one call of all of them together."""
        return self._answer(self._function(parameters, features), parameters, features)

    def vjp(self, parameters: FloatArray, features: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Multiply the coefficients with all gradients, by automatic differentiation."""
        vjp, function = _torch().func.vjp, self._function(parameters, features)

        def product(flat: Any, documents: Any, weights: Any) -> Any:
            return vjp(lambda point: function(point, documents), flat)[1](weights)[0]

        return self._answer(product, parameters, features, coefficients.astype(features.dtype, copy=False))

    def gradients(self, parameters: FloatArray, features: FloatArray) -> Gradients:
        """Every document's gradient, by automatic differentiation; they have no structure to keep."""
        func, function = _torch().func, self._function(parameters, features)
        each = func.vmap(func.grad(lambda flat, document: function(flat, document[None])[0]), (None, 0))
        dense = self._answer(each, parameters, features)
        return Gradients([(np.ones_like(dense[..., :1]), dense)])

    def _answer(
        self, function: Callable[..., Any], parameters: FloatArray, features: FloatArray, *others: FloatArray
    ) -> FloatArray:
        """Make a function of one parameter vector and the documents, for one or for a stack of parameters."""
        torch = _torch()
        given = (parameters.astype(features.dtype), features, *others)
        values = [torch.as_tensor(np.array(value), device=self.device) for value in given]
        if parameters.ndim == 2:
            function = torch.func.vmap(function, (0, None, *(0 for _ in others)))
        answer: FloatArray = function(*values).detach().cpu().numpy()
        return answer

    def _function(self, parameters: FloatArray, features: FloatArray) -> Callable[[Any, Any], Any]:
        """Scores as a function of flat parameters and of documents such as these."""
        module = _module(self.make, features.shape[-1], self.seed, self.device, features.dtype.name)
        weights = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
        sizes = [weight.numel() for weight in weights.values()]
        if sum(sizes) != parameters.shape[-1]:
            raise RankingError(
                f"this ranker has {parameters.shape[-1]} parameters, but for {features.shape[-1]} features "
                f"the module has {sum(sizes)}"
            )

        def scores(flat: Any, documents: Any) -> Any:
            parts = zip(weights.items(), flat.split(sizes), strict=True)
            named = {name: part.view_as(weight) for (name, weight), part in parts}
            found = _torch().func.functional_call(module, named, (documents,))
            if found.shape not in ((len(documents),), (len(documents), 1)):
                raise RankingError(
                    f"a module returns a score for each document, here {len(documents)}, found an answer of "
                    f"the shape {tuple(found.shape)}"
                )
            return found.reshape(len(documents))

        return scores


@lru_cache(maxsize=8)
def _module(make: Callable[[int], Any], n_features: int, seed: int, device: str, precision: str) -> Any:
    """Make the module, of which only the shape and what is not learned matter: a call gives parameters."""
    made = _made(make, n_features, seed)
    return made.to(device, getattr(_torch(), precision)).eval()


@lru_cache(maxsize=64)  # a penalty on the way from the start needs it in every step
def _start(make: Callable[[int], Any], n_features: int, seed: int) -> FloatArray:
    learned = [each for each in _made(make, n_features, seed).parameters() if each.requires_grad]
    if not learned:
        raise SettingError("the module has no parameters that could be learned")
    flat = _torch().nn.utils.parameters_to_vector(learned)
    start = np.array(flat.detach().cpu().numpy(), dtype=np.float64)
    start.flags.writeable = False
    return start


def _made(make: Callable[[int], Any], n_features: int, seed: int) -> Any:
    """Give what `make` makes after this seed, the randomness of others left alone."""
    torch = _torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make(n_features)


@lru_cache(maxsize=1)
def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415  # nothing else needs it, and it takes seconds
    except ImportError as error:
        raise SettingError(
            "scorers from modules need PyTorch: pip install 'rankloop[neural]'; MLP() is a network without it"
        ) from error
    return torch
