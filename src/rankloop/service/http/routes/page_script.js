// Reports clicks on ranked results.
//
//   <script src="https://ranking.example/rankloop.js" data-key="rl_page_..." defer></script>
//   <ol data-rankloop-query="the query_id that rank gave">
//     <li><a href="/a" data-rankloop-object="a">...</a></li>
//   </ol>
//
// A beacon outlives the page that sends it. It can set no headers, so the page key stands in the address: it
// opens nothing but the sending of events, and everyone who sees the page may know it.
(function () {
  "use strict";
  var script = document.currentScript;
  var address = new URL("/v1/events", script.src);
  address.searchParams.set("key", script.dataset.key || "");

  // Of this tab, until it is closed; data-session names another one, data-session="none" sends none.
  function sessionId() {
    var named = script.dataset.session;
    if (named !== undefined) return named === "none" ? "" : named;
    try {
      var found = sessionStorage.getItem("rankloop");
      if (!found) {
        found = crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2) + Date.now();
        sessionStorage.setItem("rankloop", found);
      }
      return found;
    } catch (refused) {
      return ""; // a page without storage
    }
  }

  function report(queryId, objectId, ordinal, action, value) {
    var event = {
      event_id: crypto.randomUUID ? crypto.randomUUID() : String(Math.random()).slice(2) + Date.now(),
      action_name: action || "click",
      query_id: queryId,
      timestamp: new Date().toISOString(),
      event_attributes: { object: { object_id: objectId }, position: { ordinal: ordinal } }
    };
    var session = sessionId();
    if (session) event.session_id = session;
    if (value !== undefined) event.event_attributes.value = value;
    // as text, so that no other origin has to be asked before (a "simple" request)
    return navigator.sendBeacon(address, JSON.stringify({ events: [event] }));
  }

  function onClick(click) {
    var result = click.target.closest("[data-rankloop-object]");
    var list = result && result.closest("[data-rankloop-query]");
    if (!list) return;
    var results = Array.prototype.slice.call(list.querySelectorAll("[data-rankloop-object]"));
    report(list.dataset.rankloopQuery, result.dataset.rankloopObject, results.indexOf(result) + 1);
  }

  document.addEventListener("click", onClick, true);
  document.addEventListener("auxclick", onClick, true); // opened in a new tab
  window.rankloop = { report: report };
})();
