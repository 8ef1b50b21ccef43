"""HTML rendering: Jinja2 with everything escaped, and headers that let nothing in from elsewhere."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, select_autoescape
from litestar import MediaType, Response
from markupsafe import Markup

from rankloop import __version__
from rankloop.charts import json_element
from rankloop.service.pages.sparkline import sparkline

NOTHING = "–"
PLAIN = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# Vega compiles its expressions: only pages with a chart may do so.
DRAWN = PLAIN.replace("script-src 'self'", "script-src 'self' 'unsafe-eval'")


def environment(*packages: str) -> Environment:
    """Templates of these packages, and ours."""
    loaders = [PackageLoader(package) for package in (*packages, "rankloop.service.pages")]
    made = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "share": share,
        "sure": sure,
        "number": number,
        "signed": signed,
        "moment": moment,
        "clock": clock,
    }
    made.filters |= {"dotted": dotted, "named": named, "plain": plain, "brief": brief, "percent": percent}
    made.filters["setting"] = setting
    made.globals |= {"version": __version__, "json_element": _element, "sparkline": sparkline}
    return made


def page(
    templates: Environment, name: str, *, charts: bool = False, status: int = 200, **values: Any
) -> Response[str]:
    """A page for a browser."""
    return Response(
        templates.get_template(name).render(charts=charts, **values),
        media_type=MediaType.HTML,
        status_code=status,
        headers={
            "Content-Security-Policy": DRAWN if charts else PLAIN,
            "Referrer-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        },
    )


def share(value: float | None) -> str:
    """A share in percent.

    >>> share(0.4312), share(None)
    ('43.1 %', '–')
    """
    return NOTHING if value is None else f"{100 * value:.1f} %"


def sure(probability: float | None, digits: int = 1) -> str:
    """How sure something is, in percent, never rounded up: what is *likely* is not 95 %.

    >>> sure(0.9499), sure(0.95), sure(0.99999), sure(0.9499, 0), sure(0.996, 0)
    ('94.9 %', '95.0 %', 'over 99.9 %', '94 %', 'over 99 %')
    """
    if probability is None:
        return NOTHING
    unit = 10**digits
    found = math.floor(100 * unit * probability + 1e-9) / unit
    most = 100 - 1 / unit  # nothing is quite sure
    return f"over {most:.{digits}f} %" if 100 * probability > most else f"{found:.{digits}f} %"


def percent(value: float) -> str:
    """A share in whole percent, which may be negative.

    >>> percent(0.4312), percent(-0.06)
    ('43 %', '−6 %')
    """
    return f"{100 * value:z.0f} %".replace("-", "−")


def number(value: float | None, digits: int = 0) -> str:
    """A number as people write it.

    >>> number(1234567), number(0.12345, 3), number(None)
    ('1,234,567', '0.123', '–')
    """
    return NOTHING if value is None else f"{value:,.{digits}f}"


def plain(value: float) -> str:
    """A number as short as it can be said.

    >>> plain(4.0), plain(0.25)
    ('4', '0.25')
    """
    return f"{value:g}"


def setting(value: Any) -> str:
    """Write a setting as its form has it.

    >>> setting(60.0), setting(None), setting({"click": 1.0}), setting("query")
    ('60', 'none', '{"click": 1.0}', 'query')
    """
    if value is None or isinstance(value, str):
        return value or "none"
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole else json.dumps(value)


def brief(value: float) -> str:
    """A number in few letters, that stays in one line: no more digits than can be compared.

    >>> brief(0.123456), brief(12_345.6), brief(1e-5), brief(-4.0)
    ('0.1235', '12,346', '1e-05', '-4')
    """
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e12 else f"{value:.4g}"


def signed(value: float, digits: int = 2) -> str:
    """A number that goes up or down.

    >>> signed(0.5), signed(-0.25), signed(-0.001)
    ('+0.50', '−0.25', '+0.00')
    """
    return f"{value:+z,.{digits}f}".replace("-", "−")


def moment(seconds: float) -> str:
    """A time for machines.

    >>> moment(0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def clock(seconds: float) -> str:
    """A time for people; all times are in UTC.

    >>> clock(0)
    '1 Jan, 00:00:00'
    """
    when = datetime.fromtimestamp(seconds, UTC)
    return f"{when.day} {when:%b, %H:%M:%S}"


def dotted(name: str) -> Markup:
    """A long name that may be broken after its dots, slashes, dashes and underscores.

    >>> print(dotted("json.loads<b>"))
    json.<wbr>loads&lt;b&gt;
    """
    return Markup("<wbr>").join(re.findall(r"[^./_-]+[./_-]*|[./_-]+", name))


def named(object_id: str, title: str | None = "") -> Markup:
    """A result as people know it: by its title, if one was sent, and its id.

    >>> print(named("sku-17", "Blue mug"))
    <span>Blue mug <span class="mono soft">(sku-<wbr>17)</span></span>
    >>> print(named("json"))
    <span class="mono">json</span>
    """
    if not title or title == object_id:
        return Markup('<span class="mono">{}</span>').format(dotted(object_id))
    return Markup('<span>{} <span class="mono soft">({})</span></span>').format(title, dotted(object_id))


def _element(identity: str, value: object) -> Markup:
    return Markup(json_element(identity, value))  # it escapes what could end the element
