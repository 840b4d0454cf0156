// Refreshes what changes while a run is in progress: elements with data-live, by id.
(function () {
  "use strict";
  function put(old, now) {
    var focused = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    now.querySelectorAll("input").forEach(function (i) { i.checked = false; });
    old.replaceWith(document.adoptNode(now));
    now.querySelectorAll("a").forEach(function (a) { if (focused && a.getAttribute("href") === focused) a.focus(); });
  }
  function show(text) {
    var page = new DOMParser().parseFromString(text, "text/html");
    document.querySelectorAll("[data-live]").forEach(function (old) {
      var now = page.getElementById(old.id);
      if (!now) location.reload();
      else if (now.outerHTML !== old.outerHTML) put(old, now);
    });
  }
  function refresh() {
    fetch(location.href).then(function (r) {
      // The run has ended, and this is its report.
      if (/^sandbox/.test(r.headers.get("Content-Security-Policy"))) location.reload();
      else return r.text().then(show);
    }).catch(function () {}).then(wait); // the viewer may come back
  }
  function wait() { if (document.querySelector("[data-live]")) setTimeout(refresh, 2000); }
  wait();
})();
