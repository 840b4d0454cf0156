// Refreshes what changes while a run is in progress: elements with data-live, by id. One
// that is gone from the new page has become another page.
(function () {
  "use strict";
  function put(old, now) {
    var focused = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    now.querySelectorAll("input").forEach(function (i) { i.checked = false; });
    old.replaceWith(document.adoptNode(now));
    now.querySelectorAll("a").forEach(function (a) { if (focused && a.getAttribute("href") === focused) a.focus(); });
  }
  function refresh() {
    fetch(location.href).then(function (r) { return r.text(); }).then(function (text) {
      var page = new DOMParser().parseFromString(text, "text/html");
      document.querySelectorAll("[data-live]").forEach(function (old) {
        var now = page.getElementById(old.id);
        if (!now) location.reload();
        else if (now.outerHTML !== old.outerHTML) put(old, now);
      });
    }).catch(function () {}).then(wait); // the viewer may come back
  }
  function wait() { if (document.querySelector("[data-live]")) setTimeout(refresh, 2000); }
  wait();
})();
