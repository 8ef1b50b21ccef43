// Shows how far the visitors are, and the new list once all were here; sends thumbs without leaving the page.
(function () {
  "use strict";
  var bar = document.getElementById("crowd-progress");
  var words = document.getElementById("crowd-words");
  async function look() {
    var now = await (await fetch("/crowd")).json();
    bar.max = now.wanted;
    bar.value = now.done;
    words.textContent = now.done + " of " + now.wanted + " visitors were here";
    if (now.running) setTimeout(look, 200);
    else location.reload();
  }
  if (bar) look();

  var rated = document.getElementById("rated");
  async function rate(submit) {
    var form = submit.target, thumb = submit.submitter;
    if (!form.matches(".thumbs") || !thumb) return;
    submit.preventDefault();
    var said = new URLSearchParams(new FormData(form));
    said.set("value", thumb.value);
    var answer = await fetch(form.action, { method: "POST", body: said, redirect: "manual" });
    if (answer.type !== "opaqueredirect") return location.reload();
    form.querySelectorAll(".thumb").forEach(function (each) {
      each.setAttribute("aria-pressed", String(each === thumb));
    });
    var count = document.querySelectorAll(".thumb[aria-pressed=true]").length;
    rated.textContent = count + (count === 1 ? " result is rated" : " results are rated");
  }
  if (rated) document.addEventListener("submit", rate);
})();
