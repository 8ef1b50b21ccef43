"""Opinion lexicon: which words praise, and which complain.

VADER's lexicon was made for short messages. What reviews say of things (*crisp*, *soggy*, *flimsy*) is added
to it, and words that in reviews mostly say something else (*support*, *value*, *fan*) are taken out.
"""

from __future__ import annotations

from functools import cache

from rankloop.errors import SettingError
from rankloop.lab.reviews.part_of_speech import MISSING
from rankloop.lab.reviews.word_sets import word_set

LEAST_VALENCE = 1.0
"""Words that people rated closer to 0 than this, from -4 to 4, are no opinions."""

PRAISE = word_set(
    """
    accommodating accomodating accurate adequate affordable airy ample artful astonishing attentive
    authentic bright buttery capable cheap cheaper cheapest classy clear colorful comfy compact convenient
    courteous cozy creamy creative crisp crispy crunchy decent delectable delicious delicous dependable
    detailed diverse durable effortless elegant ergonomic exceeded exceeds exceptional exquisite extensive
    fast faster fastest fine flavorful flavourful flawless flawlessly fresh freshest generous handy hearty
    heavenly homemade imaginative immaculate impeccable incredible inexpensive ingenious intuitive inventive
    inviting juicy knowledgeable light lighter lightweight lively lovely luxurious memorable moist
    mouthwatering must-have neat nicely outstanding painless phenomenal plentiful plenty polished portable
    powerful precise prompt promptly quick quicker quickest quickly quiet reasonable reasonably recommend
    recommended recommends refined refreshing reliable reliably responsive rich robust romantic roomy savory
    scrumptious seamless seamlessly silky simple simpler simplicity sleek smooth smoother smoothly snappy
    snug soft solid soothing spacious spectacular speedy spotless stable stunning sturdy stylish subtle
    succulent superb superior tasteful tastiest tasty tender timely top-notch unbeatable unbelievable unique
    unmatched unparalleled upscale user-friendly versatile vibrant vivid warm welcoming well-made worked
    yummy zippy
    """
)
COMPLAINT = word_set(
    """
    average awkward bent bland blurry brittle broke broken buggy bulky burnt cheaply chewy choppy clogged
    clumsy clunky cold complicated confusing cracked cracks cramped crappy crashed crashes crashing crowded
    cumbersome dated defective dim dingy dirty downfall downside drab drawback dry erratic expensive faded
    fades faulty flaw flaws flicker flickering flickers flimsy forgettable fragile freezes froze fuzzy
    glitch glitches glitchy grainy greasy hassle heavier heavy hit-or-miss impossible inaccurate inattentive
    incompatible inconsistent inconvenient inedible inefficient inferior issue issues jammed lack lacked
    lacking lackluster lacks laggy lags leaks leaky limp loose loud louder lousy malfunction malfunctioned
    malfunctioning malfunctions mediocre muddy mushy noisy nonexistent oily ordinary outdated overcooked
    overheat overheated overheating overheats overpriced overrated peeling poorly pricey pricier pricy rancid
    rattles refused rubbery runny rushed salty scratched scratches scratchy shoddy skimpy slow slower
    slowest slowly sluggish smelly soggy sour stale stiff stingy sub-par subpar tacky tasteless tedious
    temperamental tepid tinny tiny tough unable unattentive unavailable uncomfortable undercooked
    underpowered uneven unfriendly unhelpful unimpressive uninspired uninspiring unprofessional unreliable
    unresponsive unsatisfactory unstable unsteady unusable watery wobbly worn
    """
)
NEITHER = word_set(
    """
    active admit advanced advantage alert allow beloved benefit bonus boost calm care certain certainly
    challenge chance charged charges comedy comfort commit criminal cry cut cutting defence definitely die
    dream drop dumplings energy engage entertain entertainment excel fan fire focused forget forgotten free
    freedom fried friend friends gift give giving god grace grand growing hard help honest honestly hope
    hopes hoping ignore important increase increased intelligence interest interested interests join joke
    keen kind laugh leave legal loss lost lovers luck matter merry miss natural negative no number okay
    ominous opportunity partly party pay play played playing please positive positively prepared pressure
    pretty promise promised protect protected protection ready rescue responsible reward risk save saved
    secure security sentence serious seriously share sharing shock sir smile solution solve special starting
    stop stopped stops strength strike struggle sue sunday super support supported supports sure surprise
    surprised thank thanks tired top treat trick true trust upgraded value vision want wanted warn warning
    welcome well win winner wish won worry worth xp yes
    """
)
VERBS = {
    **dict.fromkeys(word_set("love loved loves loving like liked likes enjoy enjoyed enjoys recommend"), 1),
    **dict.fromkeys(word_set("hate hated hates dislike disliked"), -1),
}
"""Verbs of opinion, which are also other parts of speech: opinions where somebody does them."""
ALSO_NOUNS = frozenset(["light"])
"""Opinions that are nouns after an article or an adjective, unless a noun follows."""
SIZES = {
    **dict.fromkeys(word_set("high higher highest long longer longest large larger largest big bigger"), 1),
    **dict.fromkeys(word_set("low lower lowest short shorter shortest small smaller smallest little"), -1),
}
"""Words of size: large is good, except of a burden."""
BURDENS = word_set(
    """
    price prices pricing cost costs bill charge fee fees tab wait waits delay delays line lines queue noise
    weight temperature temperatures
    """
)
PHRASES: dict[str, list[tuple[tuple[str, ...], int]]] = {
    "above": [(("above", "average"), 1)],
    "below": [(("below", "average"), -1)],
    "out": [(("out", "of", "this", "world"), 1)],
    "stopped": [(("stopped", "working"), -1)],
    "stops": [(("stops", "working"), -1)],
    "top": [(("top", "notch"), 1)],
    "user": [(("user", "friendly"), 1)],
    "well": [(("well", "worth"), 1), (("well", "made"), 1)],
}
"""Opinions of several words, by the first of them."""
COMPOUNDS = frozenset(
    (first, second)
    for first, seconds in {
        "cold": "brew cuts",
        "dead": "pixel pixels",
        "dim": "sum",
        "happy": "hour hours",
        "hard": "case disc disk disks drive drives shell",
        "hot": "dog dogs sauce",
        "light": "bulb bulbs switch",
        "short": "rib ribs",
        "solid": "state",
        "sour": "cream",
        "super": "drive",
        "sweet": "potato potatoes",
    }.items()
    for second in seconds.split()
)
"""Names that begin with a word which otherwise is an opinion."""


@cache
def _valences() -> dict[str, float]:
    """VADER's words, each with the mean of ten people's ratings from -4 to 4."""
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SettingError(MISSING) from error
    lexicon: dict[str, float] = SentimentIntensityAnalyzer().lexicon
    return lexicon


def polarity(word: str) -> int:
    """1 for a word of praise, -1 for a complaint, 0 for neither.

    >>> polarity("excellent"), polarity("soggy"), polarity("keyboard")
    (1, -1, 0)
    """
    if word in PRAISE or word in COMPLAINT:
        return 1 if word in PRAISE else -1
    if word in SIZES:
        return SIZES[word]
    valence = 0.0 if word in NEITHER else _valences().get(word, 0.0)
    return (valence >= LEAST_VALENCE) - (valence <= -LEAST_VALENCE)
