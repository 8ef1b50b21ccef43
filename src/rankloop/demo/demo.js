// Results glide to their new positions instead of jumping there, and visitors can be watched while they come.
// Every button is a form that works without this script: it fetches the same page, and puts it in place.
(function () {
  "use strict";
  var EVERY = 350; // milliseconds between two looks at visitors who are under way
  var calm = matchMedia("(prefers-reduced-motion: reduce)");

  function positions(root) {
    var found = new Map();
    root.querySelectorAll(".learned-results > li").forEach(function (each) {
      found.set(each.dataset.key, each.getBoundingClientRect());
    });
    return found;
  }

  function glide(root, before, top) {
    if (calm.matches) return;
    root.querySelectorAll(".learned-results > li").forEach(function (each) {
      var old = before.get(each.dataset.key), now = each.getBoundingClientRect();
      if (!old) {
        each.animate([{ opacity: 0, transform: "translateX(24px)" }, {}], { duration: 450, easing: "ease-out" });
      } else {
        // A whole list that moves because something appeared above it is no news: only changes among results are.
        var down = old.top - now.top - top;
        if (Math.abs(down) < 1) return;
        each.style.zIndex = down > 0 ? 2 : 1;
        var frames = [{ transform: "translateY(" + down + "px)" }, { transform: "none" }];
        each.animate(frames, { duration: 700, easing: "cubic-bezier(.2,.7,.2,1)" });
      }
    });
  }

  function listTop(root) {
    var list = root.querySelector(".learned-results");
    return list ? list.getBoundingClientRect().top : 0;
  }

  function put(html) {
    var page = new DOMParser().parseFromString(html, "text/html");
    var old = document.getElementById("demo"), fresh = page.getElementById("demo");
    if (!fresh || !old) {
      document.querySelector("main").replaceWith(page.querySelector("main"));
      return null;
    }
    var before = positions(old), was = listTop(old), active = document.activeElement;
    var focus = active && active.dataset ? active.dataset.focus : null;
    var pictures = new Map();
    old.querySelectorAll("img").forEach(function (each) { pictures.set(each.src + each.width, each); });
    fresh = document.importNode(fresh, true);
    old.replaceWith(fresh);
    fresh.querySelectorAll("img").forEach(function (each) { // one that is drawn already does not flicker
      var same = pictures.get(each.src + each.getAttribute("width"));
      if (same && same.isConnected === false) each.replaceWith(same);
    });
    glide(fresh, before, was - listTop(fresh));
    if (focus) {
      var again = Array.from(fresh.querySelectorAll("[data-focus]")).find(function (each) {
        return each.dataset.focus === focus;
      });
      if (again) again.focus({ preventScroll: true });
    }
    var said = fresh.querySelector("#moved, #verdict, #crowd-words");
    document.getElementById("said").textContent = said ? said.textContent.replace(/\s+/g, " ").trim() : "";
    document.title = page.title;
    return fresh;
  }

  async function show(address, options) {
    var answer = await fetch(address, options);
    var fresh = put(await answer.text());
    if (fresh && answer.url && answer.url !== location.href) history.pushState(null, "", answer.url);
    watch();
  }

  var waiting = null;
  function watch() {
    clearTimeout(waiting);
    var root = document.getElementById("demo");
    if (root && root.hasAttribute("data-running")) waiting = setTimeout(function () { show(location.href); }, EVERY);
  }

  document.addEventListener("submit", function (submit) {
    var form = submit.target;
    if (form.method !== "post" || !form.closest("#demo")) return;
    submit.preventDefault();
    if (form.dataset.sent) return; // one click is one click
    form.dataset.sent = "yes";
    var sent = new URLSearchParams(new FormData(form, submit.submitter));
    show(form.action, { method: "POST", body: sent }).catch(function () { form.submit(); });
  });
  addEventListener("popstate", function () { location.reload(); });
  watch();
})();
