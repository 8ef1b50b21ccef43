"""The loop by hand: rank, click, learn, keep. Run it with `python examples/click_by_click.py`.

A shop knows three things about each mug. Its visitors care about the rating only, which nobody has told the
policy: it finds out from their clicks.
"""

import numpy as np

from rankloop.policies import PDGD
from rankloop.types import Feedback, Query

MUGS = {  # rating, cheapness, newness, each between 0 and 1
    "blue": (0.9, 0.1, 0.2),
    "green": (0.2, 0.9, 0.8),
    "red": (0.6, 0.5, 0.1),
    "white": (0.1, 0.3, 0.9),
}
query = Query("mugs", np.array(list(MUGS.values())), doc_ids=list(MUGS))
policy = PDGD(learning_rate=1.0)
rng = np.random.default_rng(0)

for visit in range(300):
    ranking = policy.rank(query, k=3, rng=rng)  # asks; changes nothing
    names = [query.doc_ids[row] for row in ranking.order]
    clicks = np.array([name in ("blue", "red") for name in names])  # a real page would wait for its visitor
    policy.learn(Feedback(ranking, clicks))  # the only verb that changes
    if visit in (0, 10, 100, 299):
        print(f"visit {visit:3d}: shown {', '.join(names)}")

best_first = [query.doc_ids[row] for row in np.argsort(-policy.score(query))]
print(f"learned: {', '.join(best_first)}")

restored = PDGD(learning_rate=1.0).from_state(policy.state())  # named arrays: store them as you like
assert np.array_equal(restored.score(query), policy.score(query))
