// Pages that stay up to date: they ask whether something has changed, then the page is fetched again and only
// what differs is swapped in, so that focus, scroll and open details stay. Also: menus, copy buttons.
(function () {
  "use strict";
  var LEAST = 3000; // milliseconds between two looks, however much happens
  var HIDDEN = 30000; // in a tab that nobody sees
  var LOST = 15000; // without an answer
  var status = document.getElementById("status");
  var fresh = document.getElementById("fresh");
  var waits = 0, looking = false, ended = false, seen = Date.now(), pause = LEAST;

  // what a page says anew, into what is there

  function keyOf(node) {
    return node.nodeType === 1 ? node.id || node.dataset.key || "" : "";
  }
  function same(one, other) {
    return one.nodeType === other.nodeType && one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
  }
  function morph(old, fresh) {
    if (old.nodeType !== 1) {
      if (old.data !== fresh.data) old.data = fresh.data;
      return;
    }
    if (old.hasAttribute("data-keep") || old.isEqualNode(fresh)) return;
    var drawn = old.matches(".chart");
    Array.from(fresh.attributes).forEach(function (each) {
      if (old.getAttribute(each.name) !== each.value) old.setAttribute(each.name, each.value);
    });
    Array.from(old.attributes).forEach(function (each) {
      var ours = each.name === "open" || (drawn && each.name === "data-state");
      if (!ours && !fresh.hasAttribute(each.name) && !drawn) old.removeAttribute(each.name);
    });
    if (!drawn) children(old, fresh);
  }
  function children(old, fresh) {
    var at = old.firstChild;
    Array.from(fresh.childNodes).forEach(function (wanted) {
      var found = at;
      if (!found || !same(found, wanted)) {
        var key = keyOf(wanted);
        found = key
          ? Array.from(old.childNodes).find(function (each) { return same(each, wanted); })
          : at && same(at, wanted) ? at : null;
      }
      if (found && found === at) {
        at = at.nextSibling;
        morph(found, wanted);
      } else if (found) {
        old.insertBefore(found, at);
        morph(found, wanted);
      } else {
        var stays = at && at.nodeType === 1 && at.contains(document.activeElement) && keyOf(at);
        var made = document.importNode(wanted, true);
        if (at && !keyOf(at) && !stays) { var next = at.nextSibling; at.replaceWith(made); at = next; }
        else old.insertBefore(made, at);
      }
    });
    while (at) { var gone = at; at = at.nextSibling; gone.remove(); }
  }
  function specs() {
    var found = {};
    document.querySelectorAll("script[type='application/json']").forEach(function (each) {
      found[each.id] = each.textContent;
    });
    return found;
  }
  function swap(text) {
    var page = new DOMParser().parseFromString(text, "text/html");
    if (whole() && page.querySelector(".chart") && typeof draw === "undefined") return location.reload();
    var before = specs();
    ["status", "content"].forEach(function (id) {
      var mine = document.getElementById(id), theirs = page.getElementById(id);
      if (mine && theirs) morph(mine, theirs);
    });
    var after = specs();
    document.querySelectorAll(".chart").forEach(function (each) {
      if (before[each.dataset.spec] !== after[each.dataset.spec] || !each.dataset.state) draw(each);
    });
    enhance();
    document.dispatchEvent(new CustomEvent("rankloop:updated"));
  }

  // when to look, and at what: to make some pages again would be more than a look, so only their head is

  function whole() {
    return document.getElementById("content").dataset.live === "page";
  }
  function question() {
    var place = location.pathname + location.search;
    var asked = { ranker: status.dataset.ranker, version: status.dataset.mark, section: status.dataset.section, path: place };
    return "/changes?" + new URLSearchParams(asked);
  }

  function say(state, words) {
    fresh = document.getElementById("fresh");
    if (!fresh) return;
    fresh.dataset.state = state;
    if (fresh.textContent !== words) fresh.textContent = words;
    fresh.setAttribute("aria-live", state === "lost" ? "polite" : "off");
  }
  function tell() {
    if (ended) return;
    if (Date.now() - seen > LOST && !document.hidden) return say("lost", "connection lost: trying again");
    var seconds = Math.round((Date.now() - seen) / 1000);
    say("live", seconds < 10 ? "updated just now" : seconds < 90 ? "updated " + 10 * Math.floor(seconds / 10) + " s ago"
      : "updated " + Math.round(seconds / 60) + " min ago");
  }
  async function ask(url) {
    var answer = await fetch(url, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (answer.redirected) { ended = true; say("lost", "signed out: reload the page"); }
    return answer.status === 200 && !ended ? await answer.text() : answer.ok ? "" : null;
  }
  async function look() {
    if (looking || ended) return;
    looking = true;
    clearTimeout(waits);
    var began = Date.now();
    try {
      var fresh = await ask(question());
      if (fresh && whole()) fresh = await ask(location.href);
      if (fresh) swap(fresh);
      if (fresh !== null) seen = Date.now();
    } catch (problem) {
      // no answer: the head says so when it has lasted
    }
    pause = Math.max(LEAST, 20 * (Date.now() - began));
    looking = false;
    tell();
    waits = setTimeout(look, document.hidden ? HIDDEN : pause);
  }
  if (status) {
    document.addEventListener("visibilitychange", function () { if (!document.hidden) look(); });
    setInterval(tell, 5000);
    look();
  }

  // menus close by Escape and by a click elsewhere; commands can be copied

  document.addEventListener("click", function (event) {
    document.querySelectorAll("details.menu[open]").forEach(function (each) {
      if (!each.contains(event.target)) each.open = false;
    });
  });
  document.addEventListener("keydown", function (event) {
    var menu = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
  });
  function enhance() {
    if (!navigator.clipboard) return;
    document.querySelectorAll(".copy").forEach(function (box) {
      if (box.querySelector(":scope > button")) return;
      var button = document.createElement("button");
      button.type = "button";
      button.className = "small";
      button.textContent = "Copy";
      button.addEventListener("click", async function () {
        await navigator.clipboard.writeText(box.querySelector("pre").textContent);
        button.textContent = "Copied";
        setTimeout(function () { button.textContent = "Copy"; }, 2000);
      });
      box.prepend(button);
    });
  }
  enhance();

  // on a phone the pages are a row: the one that is shown is in sight

  var row = document.querySelector(".side nav"), here = row && row.querySelector("[aria-current]");
  if (here) row.scrollLeft = here.offsetLeft - row.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
})();
