// Shows how far the visitors are, and the new list once all were here.
(function () {
  "use strict";
  var bar = document.getElementById("crowd-progress");
  if (!bar) return;
  var words = document.getElementById("crowd-words");
  async function look() {
    var now = await (await fetch("/crowd")).json();
    bar.max = now.wanted;
    bar.value = now.done;
    words.textContent = now.done + " of " + now.wanted + " visitors were here";
    if (now.running) setTimeout(look, 200);
    else location.reload();
  }
  look();
})();
