"""Levers: what the forms of the pages change, each a decision in the log with who and why."""

from __future__ import annotations

from functools import partial
from urllib.parse import parse_qsl, urlencode, urlsplit

from litestar import post
from litestar.datastructures import FormMultiDict
from litestar.response import Redirect

from rankloop.errors import RequestError
from rankloop.service import TrialSettings
from rankloop.service.core.ranker_settings import MODES, Mode
from rankloop.service.http.app_context import InjectedContext
from rankloop.service.pages.shell import InjectedPages
from rankloop.service.pages.sign_in import AnyRequest, local_path, own_site, signed_form
from rankloop.service.service_facade import ServiceFacade


@post("/steer/stop", guards=[own_site])
async def stop(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Show the caller's own order from now on; reversible, and with a reason."""
    form, key = await signed_form(request, pages.sessions)
    ranker = context.service.ranker(str(form.get("ranker", ""))).name
    why = reason_of(form, "stopped on a page")
    await context.ask(partial(context.service.set_mode, ranker, "passthrough", by=key, reason=why))
    return back(form, ranker, "stop")


@post("/steer/resume", guards=[own_site])
async def resume(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Go back to the mode from before the stop."""
    form, key = await signed_form(request, pages.sessions)
    ranker = context.service.ranker(str(form.get("ranker", ""))).name
    why = reason_of(form, "resumed on a page")
    await context.ask(partial(_resume, context.service, ranker, key, why))
    return back(form, ranker, "resume")


@post("/overview/mode", guards=[own_site])
async def set_mode(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Step up or down."""
    form, key = await signed_form(request, pages.sessions)
    mode = str(form.get("mode", ""))
    if mode not in MODES:
        raise RequestError(f"no mode is called {mode!r}")
    ranker = context.service.ranker(str(form.get("ranker", ""))).name
    why = reason_of(form, "by hand, on a page")
    await context.ask(partial(context.service.set_mode, ranker, mode, by=key, reason=why))
    return back(form, ranker, "mode")


@post("/overview/rollback", guards=[own_site])
async def rollback(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Go back to what was known at an earlier version."""
    form, key = await signed_form(request, pages.sessions)
    version = str(form.get("to", ""))
    if not (version.isascii() and version.isdigit()) or len(version) > 18:
        raise RequestError(f"a version is a number, found {version[:20]!r}")
    ranker = context.service.ranker(str(form.get("ranker", ""))).name
    why = reason_of(form, "by hand, on a page")
    await context.ask(partial(context.service.rollback, ranker, to=int(version), by=key, reason=why))
    return back(form, ranker, "rollback", to=version)


@post("/overview/trial", guards=[own_site])
async def start_trial(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """Compare the ranker with the caller's own order, from now on."""
    form, key = await signed_form(request, pages.sessions)
    ranker = context.service.ranker(str(form.get("ranker", ""))).name
    settings, why = trial_of(form), reason_of(form, "by hand, on a page")
    await context.ask(partial(context.service.start_trial, ranker, settings, by=key, reason=why))
    return back(form, ranker, "trial")


@post("/overview/trial/stop", guards=[own_site])
async def stop_trial(request: AnyRequest, pages: InjectedPages, context: InjectedContext) -> Redirect:
    """End the trial that runs."""
    form, key = await signed_form(request, pages.sessions)
    ranker = context.service.ranker(str(form.get("ranker", ""))).name
    trial, why = _number(form, "trial"), reason_of(form, "by hand, on a page")
    await context.ask(partial(context.service.stop_trial, ranker, int(trial), by=key, reason=why))
    return back(form, ranker, "trial-stop")


def trial_of(form: FormMultiDict) -> TrialSettings:
    """The trial that a form asks for."""
    action = str(form.get("action", "")).strip()
    return TrialSettings(
        kind="interleave" if form.get("kind") == "interleave" else "holdout",
        share=_number(form, "share", 10.0) / 100,
        action=action,
        max_value=_number(form, "max_value") if action else None,
    )


def _number(form: FormMultiDict, name: str, otherwise: float | None = None) -> float:
    text = str(form.get(name, "")).strip()
    if not text and otherwise is not None:
        return otherwise
    try:
        return float(text)
    except ValueError:
        raise RequestError(f"{name} is a number, found {text[:20]!r}") from None


def reason_of(form: FormMultiDict, otherwise: str) -> str:
    """Why, as the form says; what is said if it says nothing."""
    return str(form.get("reason", "")).strip() or otherwise


def back(form: FormMultiDict, ranker: str, done: str, **more: str) -> Redirect:
    """To the page that the form was on, which then says what was done."""
    came = urlsplit(local_path(str(form.get("back", ""))))
    old = {name: value for name, value in parse_qsl(came.query) if name not in ("done", "to")}
    said = urlencode(old | {"ranker": ranker, "done": done} | more)
    return Redirect(f"{came.path}?{said}", status_code=303)


def mode_before(service: ServiceFacade, ranker: str) -> Mode:
    """The mode a ranker was in before it was stopped; `explore`, if it never was in another."""
    modes: list[Mode] = [each.body["mode"] for each in service.store.read_decisions(ranker, kinds=("mode",))]
    return next((each for each in reversed(modes) if each != "passthrough"), "explore")


def _resume(service: ServiceFacade, ranker: str, key: str, why: str) -> None:
    if service.mode(ranker) == "passthrough":  # or somebody else has resumed it
        service.set_mode(ranker, mode_before(service, ranker), by=key, reason=why)
