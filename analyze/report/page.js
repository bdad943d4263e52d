"use strict";
// Draws the charts of the page, shows the story of a socket, and filters tables by words and by the
// time that the charts are zoomed to. The address of the page keeps all three. All text goes in as text:
// names in a recording are anybody's.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const drawn = []; // {el, make}: how each chart is made, to make it anew
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const line = (i) => color("c" + (i % 8 + 1));

  const powers = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const short = (v) => {
    if (v == null) return "";
    for (const [p, s] of powers) if (Math.abs(v) >= p) return +(v / p).toPrecision(3) + s;
    return String(+v.toPrecision(3));
  };
  const spans = [[1e9, " s"], [1e6, " ms"], [1e3, " us"]];
  const span = (ns) => {
    for (const [p, s] of spans) if (ns >= p) return +(ns / p).toPrecision(3) + s;
    return Math.round(ns) + " ns";
  };
  const seconds = (v) => v == null ? "" : +v.toFixed(6) + " s";

  const axis = (more) => Object.assign({
    stroke: color("dim"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line"), width: 1 },
    font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
  }, more);
  const timeAxis = () => axis({ values: (_, vs) => vs.map((v) => +v.toFixed(6) + " s"), space: 70 });

  // A chart is as wide as its place, and is made anew when that or the colours change.
  const chart = (el, height, make) => {
    const entry = { el, height, make, plot: null, width: 0 };
    drawn.push(entry);
    draw(entry);
    sizes.observe(el);
    return entry;
  };
  const draw = (entry) => {
    const width = Math.floor(entry.el.clientWidth);
    if (entry.plot) entry.plot.destroy();
    entry.plot = null;
    entry.width = width;
    if (width < 50 || !entry.make) return;
    const { opts, values } = entry.make();
    opts.width = width;
    opts.height = entry.height;
    entry.plot = new uPlot(opts, values, entry.el);
    entry.zooms = opts.zooms;
    if (opts.zooms && state.time) entry.plot.setScale("x", { min: state.time[0], max: state.time[1] });
  };

  // What the reader chose: it is in the part of the address behind #, after the section.
  const by = (id) => document.getElementById(id);
  const state = { section: "", words: "", time: null, sock: null };
  const read = () => {
    const [section, rest] = location.hash.slice(1).split("?");
    const given = new URLSearchParams(rest || "");
    const time = (given.get("t") || "").split("-").map(Number);
    Object.assign(state, { section, words: given.get("q") || "", sock: given.get("sock"), time: time.length === 2 && time[0] < time[1] ? time : null });
  };
  const keep = () => {
    const given = new URLSearchParams();
    if (state.words) given.set("q", state.words);
    if (state.time) given.set("t", state.time.map((t) => +t.toFixed(6)).join("-"));
    if (state.sock != null) given.set("sock", state.sock);
    const rest = given.toString();
    history.replaceState(null, "", "#" + state.section + (rest ? "?" + rest : ""));
  };
  const outside = (from, to) => !!state.time && (to < state.time[0] || from > state.time[1]);
  // A row is hidden if a word is not in it, or if what it is about is not in the time shown.
  const hides = (row) => {
    const text = row.textContent.toLowerCase();
    if (state.words.toLowerCase().split(/\s+/).some((w) => !text.includes(w))) return true;
    const s = row.dataset.sock == null ? null : data.sockets[row.dataset.sock];
    if (s) return outside(s.from, s.to);
    return row.dataset.at >= 0 && outside(+row.dataset.at, +(row.dataset.to || row.dataset.at));
  };
  const filter = () => {
    const rows = [...document.querySelectorAll("[data-row]")];
    for (const row of rows) row.hidden = hides(row);
    for (const row of document.querySelectorAll("#story-lines tr[data-t]")) row.hidden = outside(+row.dataset.t, +row.dataset.t);
    const chosen = state.words || state.time;
    const words = state.time ? ", " + state.time.map(seconds).join(" to ") : "";
    by("shown").textContent = chosen ? rows.filter((r) => !r.hidden).length + " of " + rows.length + " rows" + words : "";
    by("all").hidden = !chosen;
    by("search").value = state.words;
  };
  const choose = (what) => {
    Object.assign(state, what);
    keep();
    filter();
  };
  // zoom shows the same time in all charts over time; null is all of it.
  const zoom = (time) => {
    for (const d of drawn) {
      if (!d.plot || !d.zooms) continue;
      const x = d.plot.data[0];
      d.plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      d.plot.setScale("x", time ? { min: time[0], max: time[1] } : { min: x[0], max: x[x.length - 1] });
    }
    choose({ time });
  };
  // One drag selects in all charts at once: the first of them tells, the others follow.
  let told = false;
  const selected = (u) => {
    const { left, width } = u.select;
    if (width < 3 || told) return;
    told = true;
    setTimeout(() => { told = false; });
    zoom([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
  };
  const sizes = new ResizeObserver((all) => {
    for (const e of all) {
      const entry = drawn.find((d) => d.el === e.target);
      if (entry && Math.floor(entry.el.clientWidth) !== entry.width) requestAnimationFrame(() => draw(entry));
    }
  });
  dark.addEventListener("change", () => drawn.forEach(draw));

  const sync = { key: "time" };
  const lines = (series, perSecond) => () => {
    const n = series[0].values.length;
    const x = Array.from({ length: n }, (_, i) => data.begin + i * data.seconds);
    return {
      opts: {
        zooms: true,
        cursor: { sync, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => zoom(null) } },
        scales: { x: { time: false } },
        hooks: { setSelect: [selected] },
        axes: [timeAxis(), axis({ values: (_, vs) => vs.map(short), size: 56 })],
        series: [{ label: "time", value: (_, v) => seconds(v) }].concat(series.map((s, i) => ({
          label: s.name, stroke: line(i), width: 1.5, points: { show: false }, value: (_, v) => short(v),
        }))),
      },
      values: [x].concat(series.map((s) => perSecond ? s.values.map((v) => v == null ? null : v / data.seconds) : s.values)),
    };
  };
  read();
  for (const el of document.querySelectorAll("[data-chart]")) {
    const name = el.dataset.chart;
    const series = (data[name] || []).filter((s) => s.values.some((v) => v > 0));
    if (!series.length) {
      el.remove();
      continue;
    }
    // Rare things are counts: one in a short time is not many in a second.
    chart(el, name === "own" ? 200 : 240, lines(series, name === "events" || name === "bytes"));
  }

  for (const el of document.querySelectorAll("[data-part]")) el.style.flexGrow = el.dataset.part;
  for (const el of document.querySelectorAll(".bar, .kinds")) el.hidden = false;

  // Rows of histograms are powers of two: row r is from 2^(r-1) to 2^r, row 0 is zero.
  const bound = (h, r) => span((r <= 0 ? 0 : Math.pow(2, r - 1)) * (h.unit === "us" ? 1000 : 1));
  const between = (h, r) => r <= 0 ? "less than " + bound(h, 1) : bound(h, r) + " to " + bound(h, r + 1);
  const histogram = (h) => () => ({
    opts: {
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false, range: [h.low - 0.6, h.low + h.rows.length - 0.4] }, y: { range: (_, lo, hi) => [0, Math.max(hi * 1.05, 1)] } },
      axes: [
        axis({ values: (_, vs) => vs.map((v) => Number.isInteger(v) ? bound(h, v) : ""), space: 58, incrs: [1, 2, 3, 4, 6, 8, 12, 16, 32] }),
        axis({ values: (_, vs) => vs.map((v) => Number.isInteger(v) ? short(v) : ""), size: 56 }),
      ],
      series: [{ label: "took", value: (_, v) => v == null ? "" : between(h, v) },
        { label: "count", stroke: line(0), fill: line(0), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.85, 80] }), value: (_, v) => short(v) }],
    },
    values: [h.rows.map((_, i) => h.low + i), h.rows],
  });
  const heat = (h) => () => {
    const columns = 96, high = h.low + h.rows.length, at = (column) => data.begin + column * h.seconds;
    const most = Math.log2(1 + h.cells.reduce((m, v, i) => i % 3 === 2 ? Math.max(m, v) : m, 1));
    const from = color("heat-low").split(",").map(Number), to = color("heat-high").split(",").map(Number);
    const shade = (n) => "rgb(" + from.map((f, i) => Math.round(f + (to[i] - f) * Math.log2(1 + n) / most)).join(",") + ")";
    const paint = (u) => {
      const ctx = u.ctx;
      ctx.save();
      for (let i = 0; i < h.cells.length; i += 3) {
        const [c, r, n] = [h.cells[i], h.cells[i + 1], h.cells[i + 2]];
        const x0 = u.valToPos(at(c), "x", true), x1 = u.valToPos(at(c + 1), "x", true);
        const y0 = u.valToPos(r, "y", true), y1 = u.valToPos(r + 1, "y", true);
        ctx.fillStyle = shade(n);
        ctx.fillRect(Math.round(x0), Math.round(y1), Math.max(Math.round(x1) - Math.round(x0), 2), Math.max(Math.round(y0) - Math.round(y1) - 1, 2));
      }
      ctx.restore();
    };
    const x = Array.from({ length: columns }, (_, i) => at(i));
    const sums = new Array(columns).fill(null);
    for (let i = 0; i < h.cells.length; i += 3) sums[h.cells[i]] += h.cells[i + 2];
    return {
      opts: {
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { x: { time: false, range: [at(0), at(columns)] }, y: { range: [h.low, high] } },
        axes: [timeAxis(), axis({ values: (_, vs) => vs.map((v) => Number.isInteger(v) ? bound(h, v) : ""), incrs: [1, 2, 3, 4, 6, 8, 12, 16, 32], size: 64, space: 24 })],
        series: [{ label: "time", value: (_, v) => seconds(v) }, { label: "in this column", scale: "n", paths: () => null, points: { show: false }, value: (_, v) => v == null ? "none" : short(v) }],
        hooks: { draw: [paint] },
      },
      values: [x, sums],
    };
  };
  for (const h of data.heats) {
    if (!h.rows) continue;
    for (const [kind, make] of [["hist", histogram], ["heat", heat]]) {
      const el = document.querySelector("[data-" + kind + '="' + h.id + '"]');
      if (el) chart(el, 230, make(h));
    }
  }

  // The windows of a socket: the band is from the lowest to the highest of each bucket.
  const course = (c) => () => ({
    opts: {
      cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false }, y: { range: (_, lo, hi) => [0, Math.max(hi * 1.08, 1)] }, bytes: { range: (_, lo, hi) => [0, Math.max(hi * 1.08, 1)] } },
      axes: [timeAxis(), axis({ label: "segments", values: (_, vs) => vs.map(short), size: 50, labelSize: 18 }),
        axis({ label: "bytes", scale: "bytes", side: 1, values: (_, vs) => vs.map(short), size: 56, labelSize: 18, grid: { show: false } })],
      series: [{ label: "time", value: (_, v) => seconds(v) },
        { label: "lowest", class: "band", stroke: "transparent", width: 0, points: { show: false } },
        { label: "highest", class: "band", stroke: "transparent", width: 0, points: { show: false } },
        { label: "congestion window", stroke: line(0), width: 2, points: { show: c.x.length < 3 } },
        { label: "slow start threshold", stroke: line(1), width: 1.5, dash: [6, 4], points: { show: false }, value: (_, v) => v == null ? "not set" : v },
        { label: "send buffer", scale: "bytes", stroke: line(2), width: 1, points: { show: false }, value: (_, v) => short(v) }],
      bands: [{ series: [2, 1], fill: "color-mix(in srgb, " + line(0) + " 22%, transparent)" }],
      hooks: { draw: [(u) => marks(u, c.marks)] },
    },
    values: [c.x, c.low, c.high, c.last, c.threshold, c.buffer],
  });
  const marks = (u, at) => {
    if (!at) return;
    const { top, height } = u.bbox, ctx = u.ctx, size = 5 * devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = line(3);
    ctx.globalAlpha = 0.75;
    for (const t of at) {
      const x = Math.round(u.valToPos(t, "x", true));
      if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
      ctx.beginPath();
      ctx.moveTo(x - size, top);
      ctx.lineTo(x + size, top);
      ctx.lineTo(x, top + 1.6 * size);
      ctx.fill();
    }
    ctx.restore();
  };

  const cell = (text, cls) => {
    const td = document.createElement("td");
    td.textContent = text;
    if (cls) td.className = cls;
    return td;
  };
  let picture = null;
  const show = (i) => {
    const s = data.sockets[i];
    for (const b of document.querySelectorAll("button.sock")) b.setAttribute("aria-current", String(b.dataset.i === String(i)));
    by("story").hidden = false;
    by("story-name").textContent = (s.label ? s.label + ": " : "") + s.name;
    by("story-cmd").textContent = s.cmd;
    by("course-cmd").textContent = s.win_cmd;
    by("story-facts").replaceChildren(...s.facts.filter((f) => f[1]).map(([name, value]) => {
      const pair = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = value;
      pair.append(dt, dd);
      return pair;
    }));
    const rows = (s.story || []).map(([t, who, event, what]) => {
      const tr = document.createElement("tr");
      tr.dataset.t = t;
      tr.append(cell(t.toFixed(6), "n"), cell(who), cell(event), cell(what));
      return tr;
    });
    if (s.cut > 0) {
      const tr = document.createElement("tr"), td = cell("… " + s.cut + " lines left out; the command below has all of them", "dim");
      td.colSpan = 4;
      tr.append(td);
      rows.splice(s.cut_at, 0, tr);
    }
    by("story-lines").tBodies[0].replaceChildren(...rows);
    by("story-note").textContent = !rows.length ? "Its story was not kept: others had more to tell. The command below has it."
      : s.late ? "The beginning is missing: others had more to tell then. The command below has it." : "";
    const c = s.course;
    by("no-course").hidden = !!c;
    by("course").hidden = !c;
    by("course-cmd").parentElement.hidden = !c;
    by("course-note").textContent = !c ? "" : "Every point stands for " + seconds(c.each) + "; the band is from the lowest to the highest value in it. " +
      (c.marks ? "A mark is a retransmitted buffer" + (c.unmarked ? ", " + c.unmarked + " further ones have none." : ".") : "Nothing was retransmitted.");
    if (picture) {
      picture.make = c ? course(c) : null;
      draw(picture);
    } else {
      picture = chart(by("course"), 320, c ? course(c) : null);
    }
  };
  document.addEventListener("click", (e) => {
    const b = e.target.closest("button.sock");
    if (!b) return;
    show(Number(b.dataset.i));
    choose({ sock: b.dataset.i });
    by("story").scrollIntoView({ block: "start" });
    by("story").focus({ preventScroll: true });
  });
  by("search").addEventListener("input", (e) => choose({ words: e.target.value.trim() }));
  by("all").addEventListener("click", () => {
    choose({ words: "" });
    zoom(null);
  });
  for (const a of document.querySelectorAll("nav a")) {
    a.addEventListener("click", (e) => {
      e.preventDefault();
      choose({ section: a.hash.slice(1) });
      by(state.section).scrollIntoView();
    });
  }
  const sockets = data.sockets || [];
  const first = sockets.findIndex((s) => s.course && s.course.marks);
  const other = first >= 0 ? first : sockets.findIndex((s) => s.course);
  const follow = () => {
    read();
    if (sockets.length) show(sockets[state.sock] ? Number(state.sock) : Math.max(other, 0));
    zoom(state.time);
    if (state.section && by(state.section)) by(state.section).scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  follow();
})();
