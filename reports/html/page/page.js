// Filters, sorts and opens what is on the page; compares transcripts. Texts are
// moved as nodes and set as text, never as markup.
(function () {
  "use strict";
  function get(id) { return document.getElementById(id); }
  function all(query, from) { return Array.prototype.slice.call((from || document).querySelectorAll(query)); }
  function make(tag, cls, text) {
    var e = document.createElement(tag);
    if (cls) e.className = cls;
    if (text) e.textContent = text;
    return e;
  }

  // The fragment is an id, or a state as in "#find=dates&sort=task".
  function state() {
    var hash = location.hash.slice(1);
    return new URLSearchParams(hash.indexOf("=") < 0 ? "" : hash);
  }
  function keep(values) {
    var s = new URLSearchParams();
    Object.keys(values).forEach(function (k) { if (values[k]) s.set(k, values[k]); });
    var hash = "#" + s;
    if (hash === location.hash || hash === "#" && !state().size && location.hash) return;
    history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
  }

  // Opens the details that a fragment names, and those around it.
  function open() {
    var id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch (e) { return; }
    var e = id && get(id);
    if (!e || !e.closest("details")) return;
    if (e.classList.contains("ok") && get("bad")) get("bad").checked = false;
    for (var p = e; p; p = p.parentElement) if (p.tagName === "DETAILS") p.open = true;
    e.scrollIntoView();
  }
  addEventListener("hashchange", open);
  open();

  // What a mark says to those who hear it, it says to those who point at it.
  document.addEventListener("mouseover", function (e) {
    if (e.target.classList.contains("mark") && !e.target.title) e.target.title = e.target.getAttribute("aria-label") || "";
  });

  // What only a script can do is not on the page without one.
  function labelled(text, field) {
    var l = make("label", field.type === "checkbox" ? "filter" : "");
    if (field.type === "checkbox") l.append(field, " " + text); else l.append(text + " ", field);
    return l;
  }
  function tools() {
    var section = get("episodes"), eps = all("details.ep", section || make("p"));
    if (eps.length < 2) return;
    var box = make("div", "tools"), bad = make("input"), unfold = make("button", "", "Open all");
    bad.type = "checkbox";
    bad.id = "bad";
    unfold.type = "button";
    unfold.id = "unfold";
    unfold.addEventListener("click", function () {
      var to = eps.some(function (e) { return !e.open; });
      eps.forEach(function (e) { e.open = to; });
      unfold.textContent = to ? "Close all" : "Open all";
    });
    box.append(labelled("Only episodes that were not solved", bad), unfold);
    section.insertBefore(box, eps[0]);
  }
  tools();

  function table() {
    var find = get("find"), outcome = get("outcome"), shown = get("shown");
    if (!find || !outcome || !shown) return;
    var body = document.querySelector("#tasks tbody"), heads = all("#tasks th button[data-sort]");
    var rows = all("#tasks tbody tr[data-task]").map(function (tr, i) {
      return {
        tr: tr, at: i, text: "", hidden: false,
        kinds: " " + (tr.dataset.outcome || "") + " " + (tr.dataset["class"] || "") + " "
      };
    });
    var every = get("all"), sort = "", queued = false, order = new Intl.Collator("en", { numeric: true }).compare;

    // The outcome is chosen in a select or by radio buttons.
    function chosen() { var on = outcome.querySelector("input:checked"); return on ? on.value : outcome.value || ""; }
    function choose(value) {
      var options = all("input, option", outcome), on = options.filter(function (o) { return o.value === value; })[0] || options[0];
      on[on.tagName === "OPTION" ? "selected" : "checked"] = true;
    }
    function filter() {
      queued = false;
      var words = find.value.toLowerCase().split(/\s+/).filter(Boolean), kind = chosen(), n = 0;
      body.classList.toggle("found", words.length > 0 || !!kind);
      rows.forEach(function (r) {
        if (words.length && !r.text) r.text = r.tr.cells[0].textContent.toLowerCase();
        var hide = !!kind && r.kinds.indexOf(" " + kind + " ") < 0 ||
          words.some(function (w) { return r.text.indexOf(w) < 0; });
        if (hide !== r.hidden) r.tr.hidden = r.hidden = hide;
        if (!hide) n++;
      });
      if (every && !every.checked && !words.length && !kind) n = Math.min(n, 20);
      shown.textContent = n + " of " + rows.length + " shown";
      keep({ find: find.value, outcome: kind, sort: sort });
    }
    function queue() { if (!queued) { queued = true; requestAnimationFrame(filter); } }

    // A value is that of data-rate; cells without one come last.
    function value(r, column) {
      var cell = r.tr.cells[column], rate = cell.dataset.rate;
      if (rate !== undefined) return parseFloat(rate);
      var n = parseFloat(cell.textContent);
      return isNaN(n) || cell.className === "h-" ? null : n;
    }
    function arrange(by) {
      sort = by;
      var down = by.slice(-1) === "-", name = down ? by.slice(0, -1) : by, column = -1;
      heads.forEach(function (b) {
        var own = b.dataset.sort === name;
        if (own) column = b.closest("th").cellIndex;
        b.closest("th").setAttribute("aria-sort", own ? (down ? "descending" : "ascending") : "none");
      });
      if (column < 0) sort = "";
      var list = rows.map(function (r) {
        return { r: r, v: column < 0 ? r.at : column === 0 ? r.tr.dataset.task : value(r, column) };
      });
      list.sort(function (a, b) {
        if (a.v === null || b.v === null) return (a.v === null) - (b.v === null) || a.r.at - b.r.at;
        var d = column === 0 ? order(a.v, b.v) : a.v - b.v;
        return (down ? -d : d) || a.r.at - b.r.at;
      });
      var sorted = document.createDocumentFragment();
      list.forEach(function (x) { sorted.appendChild(x.r.tr); });
      body.appendChild(sorted);
    }
    heads.forEach(function (b) {
      b.addEventListener("click", function () {
        var name = b.dataset.sort;
        arrange(sort === name ? name + "-" : sort === name + "-" ? "" : name);
        queue();
      });
    });
    find.addEventListener("input", queue);
    outcome.addEventListener("change", queue);
    if (every) every.addEventListener("change", queue);
    document.addEventListener("keydown", function (e) {
      if (e.key === "Escape" && e.target === find) { find.value = ""; queue(); }
      if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
      e.preventDefault();
      find.focus();
    });
    function restore() {
      var s = state();
      find.value = s.get("find") || "";
      choose(s.get("outcome") || "");
      if (sort !== (s.get("sort") || "")) arrange(s.get("sort") || "");
      filter();
      if (s.size) get("tasks").scrollIntoView();
    }
    if (get("filter")) get("filter").hidden = false;
    all("#filter [hidden]").forEach(function (e) { e.hidden = false; });
    addEventListener("hashchange", function () { if (state().size) restore(); });
    restore();
  }
  table();

  // Columns with values sort their table; the values of a row are in data-v.
  all("th[data-by]").forEach(function (th) {
    var b = make("button", "", th.textContent), body = th.closest("table").tBodies[0], at = th.cellIndex;
    b.type = "button";
    th.textContent = "";
    th.appendChild(b);
    b.addEventListener("click", function () {
      var down = th.getAttribute("aria-sort") === "ascending";
      all("th[data-by]", th.parentNode).forEach(function (o) { o.removeAttribute("aria-sort"); });
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      function value(tr) { var v = tr.cells[at].dataset.v; return v === undefined ? null : parseFloat(v); }
      Array.from(body.rows).map(function (tr) { return { tr: tr, v: value(tr) }; }).sort(function (a, b) {
        return (a.v === null) - (b.v === null) || (down ? b.v - a.v : a.v - b.v) || 0;
      }).forEach(function (x) { body.appendChild(x.tr); });
    });
  });

  function compare() {
    var episodes = get("episodes"), eps = all("details.ep");
    if (!episodes || eps.length < 2) return;
    var section = make("section"), head = make("h2", "", "Side by side"), box = make("div", "tools");
    var left = make("select"), right = make("select"), said = make("p"), out = make("div"), fold = make("details", "grp");
    section.id = "compare";
    head.id = "h-compare";
    section.setAttribute("aria-labelledby", "h-compare");
    left.id = "left";
    right.id = "right";
    said.id = "differs";
    said.setAttribute("aria-live", "polite");
    out.id = "pairs";
    box.append(labelled("Left", left), labelled("Right", right));
    fold.append(make("summary", "", "Compare two episodes turn by turn"), box, said, out);
    section.append(head, fold);
    episodes.before(section);
    function label(e) {
      return e.querySelector("summary b").textContent + " " + e.dataset.candidate + ", trial " + e.dataset.trial;
    }
    eps.forEach(function (e) {
      [left, right].forEach(function (s) {
        var o = make("option", "", label(e));
        o.value = e.id;
        s.appendChild(o);
      });
    });
    function half(turn, whose, n) {
      var h = make("div", "half");
      h.appendChild(make("span", "whose", whose));
      if (!turn) { h.appendChild(make("p", "dim", "no turn " + n)); return h; }
      Array.prototype.forEach.call(turn.childNodes, function (n) { h.appendChild(n.cloneNode(true)); });
      return h;
    }
    function key(turn) { return turn ? turn.dataset.key : ""; }
    function difference(l, r, n) {
      function what(turn) { return turn ? turn.querySelector("b").textContent : "has ended"; }
      return "First difference at turn " + n + ": " + (what(l) === what(r) ? "both " + what(l) + ", with different arguments." :
        "left " + what(l) + ", right " + what(r) + ".");
    }
    function draw() {
      var a = get(left.value), b = get(right.value);
      if (!a || !b) return;
      var other = a.dataset.agent !== b.dataset.agent, l = all(".turn", a), r = all(".turn", b), first = -1, rows = document.createDocumentFragment();
      for (var i = 0; i < Math.max(l.length, r.length); i++) {
        var row = make("div", "pair sides"), differs = !other && key(l[i]) !== key(r[i]);
        if (differs && first < 0) {
          first = i;
          row.className += " diverges";
          row.appendChild(make("p", "difference", "The first turn that differs"));
        }
        row.appendChild(half(l[i], label(a), i + 1));
        row.appendChild(half(r[i], label(b), i + 1));
        rows.appendChild(row);
      }
      var last = make("div", "pair sides ends");
      if (!other && first < 0 && ending(a) !== ending(b)) {
        last.className += " diverges";
        last.appendChild(make("p", "difference", "The decisions are the same; the outcomes differ."));
      }
      [a, b].forEach(function (e) {
        var h = make("div", "half");
        h.appendChild(make("span", "whose", label(e)));
        h.appendChild(make("p", "dim", e.querySelector("summary small").textContent));
        all(":scope > .checks, :scope > p", e).forEach(function (p) { h.appendChild(p.cloneNode(true)); });
        last.appendChild(h);
      });
      rows.appendChild(last);
      out.textContent = "";
      out.appendChild(rows);
      said.textContent = other ? "Different agents: turns are not comparable one by one." : first < 0 ? "Both make the same decisions, in " + l.length + (l.length === 1 ? " turn" : " turns") +
        (ending(a) !== ending(b) ? ", and end differently." : ", and end in the same way.") :
        difference(l[first], r[first], first + 1);
    }
    function ending(e) {
      var says = e.querySelector(":scope > .say");
      return e.querySelector("summary b").className + (says ? says.textContent : "");
    }
    function change() {
      draw();
      keep({ left: left.value, right: right.value });
    }
    // At first: the first that was not solved, beside the first solved one of the same
    // agent, if there is one. Without a failure all is folded.
    function choose() {
      var s = state(), failed = eps.filter(function (e) { return !e.classList.contains("ok"); })[0];
      var solved = eps.filter(function (e) { return e.classList.contains("ok"); });
      var beside = solved.filter(function (e) { return failed && e.dataset.agent === failed.dataset.agent; })[0] || solved[0];
      fold.open = !!(failed && beside) || !!s.get("left");
      left.value = s.get("left") || (failed || eps[0]).id;
      right.value = s.get("right") || (failed && beside || eps[failed === eps[1] ? 0 : 1]).id;
      if (left.selectedIndex < 0) left.selectedIndex = 0;
      if (right.selectedIndex < 0) right.selectedIndex = 1;
      draw();
      if (s.get("left")) section.scrollIntoView();
    }
    left.addEventListener("change", change);
    right.addEventListener("change", change);
    addEventListener("hashchange", function () { if (state().get("left")) choose(); });
    choose();
  }
  compare();
})();
