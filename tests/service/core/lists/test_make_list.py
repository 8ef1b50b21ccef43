"""Lists as a fold over extensions: what holds for each of them, whatever is decided and learned."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankloop.service.core.extension import Extension
from rankloop.service.core.lists.list_draft import ListDraft
from rankloop.service.core.lists.make_list import make_list
from tests.golden.random_requests import KINDS, Case, rng_of
from tests.golden.requests import make_draft

MORE = 10**6  # requests that no record knows


def a_case(kind: str, number: int) -> Case:
    return KINDS[kind](rng_of(kind, MORE + number), MORE + number)


CASES = st.builds(a_case, st.sampled_from(sorted(KINDS)), st.integers(0, 10**5))


@given(CASES)
def test_a_list_has_every_result_once_and_pins_where_they_must_stand(case: Case) -> None:
    made = make_draft(case.world, case.asked, case.given)
    order, n = made.draft.order.tolist(), len(case.asked.rows)
    assert len(order) == len(set(order)) == min(case.asked.k, n)
    assert set(order) <= set(range(n))
    for row, each in enumerate(case.asked.rows):
        if each.pin:
            assert each.pin > len(order) or order[each.pin - 1] == row
            assert (row in order) == (each.pin <= len(order))


@given(CASES)
def test_nothing_is_displaced_farther_than_allowed(case: Case) -> None:
    draft = make_draft(case.world, case.asked, case.given).draft
    most = case.world.displacement
    far = (abs(place - row) for place, row in enumerate(draft.rows))
    assert most is None or max(far, default=0) <= most


@given(CASES)
def test_the_caller_s_order_is_shown_as_it_came_and_nothing_is_explored(case: Case) -> None:
    made = make_draft(case.world, case.asked, case.given)
    draft = made.draft
    if case.given.failed or case.world.mode in ("caller", "shadow") or case.given.arm in (0, 1):
        assert draft.source == "caller"
    if draft.source == "caller":
        assert draft.rows == list(range(draft.inputs.room))
    if draft.source != "policy":
        assert made.impression.explored == made.response.provenance.explored_pairs == 0


@given(CASES)
def test_a_list_is_made_again_to_the_byte(case: Case) -> None:
    one, other = (make_draft(case.world, case.asked, case.given) for _ in range(2))
    assert one.body == other.body
    assert one.parts == other.parts
    assert one.draft.source == other.draft.source


class Backwards(Extension):
    """Turns every list of the policy round, and keeps how long it was."""

    name = "backwards"

    def change(self, draft: ListDraft, given: int | None) -> ListDraft:
        assert given == 7
        rows = draft.complete()[::-1]
        return ListDraft(inputs=draft.inputs, rows=rows, source="other", draw=draft.draw).note(
            self.name, rows
        )

    def record(self, draft: ListDraft, given: int | None) -> tuple[int, ...]:
        assert draft.notes[self.name][: draft.inputs.room] == draft.rows
        return (given or 0, *draft.order.tolist())


@given(st.integers(0, 10**5))
def test_an_extension_changes_a_list_and_records_it_as_it_was_placed(number: int) -> None:
    case = a_case("pinned", number)
    inputs = make_draft(case.world, case.asked, case.given).draft.inputs
    plain = make_list(inputs, {}, (), at=0.0)
    turned = make_list(inputs, {"backwards": 7}, (Backwards(),), at=0.0)
    assert turned.parts == {"backwards": (7, *turned.draft.order.tolist())}
    assert plain.parts == {}
    if len(inputs.free) <= inputs.room:
        assert turned.draft.rows == plain.draft.complete()[::-1]
    assert np.array_equal(
        turned.draft.order[[p - 1 for p in inputs.pins if p <= inputs.k]],
        plain.draft.order[[p - 1 for p in inputs.pins if p <= inputs.k]],
    )
