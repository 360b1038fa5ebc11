/* Curves of several runs in one chart, updated while they train. */

import { get } from "./api.js";
import { go, place, say } from "./app.js";
import { alone, chart } from "./chart.js";
import { agentTitle, draw, gameTitle, hue, lasting, make, typing } from "./dom.js";
import { counted, figure, MEASURES, measure, nothing, way, when } from "./listing.js";

const FRESH = 30; // seconds since its last change for which a run counts as running
const OFTEN = 1000, SELDOM = 5000; // milliseconds between two requests for a run
const FIRST = 4; // runs that are shown where none was chosen
const MOST = 12;
const X = { iteration: "Iterations", seconds: "Seconds" };

export async function show(main, parameters) {
  const found = await get("items", { kind: "run", limit: 200 });
  if (!found.total && !parameters.has("item")) {
    main.append(make("div", { className: "view-head" }, make("h1", {}, "Curves")),
      nothing("No run lies in the folders yet. Each of these leaves one, and its curve is shown here while it grows:",
        "infoset solve leduc_poker --method pcfr+", "infoset solve leduc_poker --method mccfr --seconds 60"));
    return null;
  }
  const view = new Curves(main, found, parameters);
  await view.begin();
  return () => view.leave();
}

class Curves {
  constructor(main, { items, now, total }, parameters) {
    Object.assign(this, { main, items, now, total, gone: false, timer: 0, at: null });
    const sound = items.filter((item) => !item.problem);
    const asked = parameters.getAll("item");
    this.unasked = !asked.length;
    const names = asked.length ? asked : sound.map((item) => item.name);
    this.runs = names.slice(0, MOST).map((name, k) => ({ name, colour: k }));
    this.y = parameters.get("y") ?? "";
    this.x = parameters.get("x") in X ? parameters.get("x") : "iteration";
    this.logX = parameters.get("logx") !== "0";
    this.logY = parameters.get("logy") !== "0";
  }

  async begin() {
    this.build();
    await Promise.all(this.runs.map((run) => this.look(run)));
    if (this.unasked) this.choose();
    this.redraw();
    this.sizes = new ResizeObserver(() => this.paint());
    this.sizes.observe(this.frame);
    this.tick();
  }

  /** Choose the runs where none was asked for: the newest game that has a curve with more than one point. */
  choose() {
    const drawn = (run) => {
      const ys = run.columns?.[this.y || measure(run.columns)] ?? [], xs = run.columns?.[this.x] ?? [];
      return xs.filter((x, k) => (x > 0 || !this.logX) && (ys[k] > 0 || !this.logY)).length;
    };
    const curved = this.runs.filter((run) => run.columns && drawn(run) > 1);
    const game = (curved[0] ?? this.runs[0])?.game;
    const shown = (curved.length ? curved : this.runs).filter((run) => run.game === game).slice(0, FIRST);
    this.runs = shown.map((run, k) => ({ ...run, colour: k }));
  }

  leave() {
    this.gone = true;
    clearTimeout(this.timer);
    this.sizes?.disconnect();
  }

  /* Requests */

  /** Return whether there was anything new about a run. */
  async look(run) {
    run.looked = Date.now();
    try {
      const found = await get("curve", { item: run.name, version: run.version ?? "" });
      const changed = found.version !== run.version || run.lost;
      Object.assign(run, found, { lost: "" });
      return changed;
    } catch (error) {
      const changed = run.lost !== error.message;
      run.lost = error.message;
      return changed;
    }
  }

  async tick() {
    if (!document.hidden) {
      const due = this.runs.filter((run) => Date.now() - run.looked >= (run.age < FRESH && !run.lost ? OFTEN : SELDOM) - 50);
      const changed = await Promise.all(due.map((run) => this.look(run)));
      if (this.gone) return;
      if (changed.some(Boolean)) this.redraw();
      else for (const run of this.runs) this.dress(run);
    }
    if (!this.gone) this.timer = setTimeout(() => this.tick(), OFTEN);
  }

  /** Write what is shown into the address. */
  note() {
    const { parameters } = place();
    const token = parameters.get("token");
    const shown = [...this.runs.map(({ name }) => ["item", name]), ["y", this.y], ["x", this.x], ["logx", Number(this.logX)], ["logy", Number(this.logY)]];
    go("curves", token ? [...shown, ["token", token]] : shown, true);
  }

  async toggle(name, on) {
    if (on) {
      const free = [...Array(MOST).keys()].find((k) => !this.runs.some((run) => run.colour === k));
      if (free === undefined) return;
      const run = { name, colour: free };
      this.runs.push(run);
      await this.look(run);
    } else this.runs = this.runs.filter((run) => run.name !== name);
    this.note();
    this.redraw();
  }

  /* The elements of the view */

  build() {
    this.measures = make("select", { aria: { label: "What is drawn" }, onchange: () => this.set({ y: this.measures.value }) });
    this.across = make("select", { aria: { label: "Against what" }, onchange: () => this.set({ x: this.across.value }) },
      ...Object.entries(X).map(([value, text]) => make("option", { value, selected: value === this.x }, `by ${text.toLowerCase()}`)));
    const logs = ["logX", "logY"].map((name) => make("label", { className: "check" },
      make("input", { type: "checkbox", checked: this[name], onchange: (event) => this.set({ [name]: event.target.checked }) }), `log ${name.at(-1).toLowerCase()}`));
    const save = (word, work) => make("button", { type: "button", onclick: work }, word);
    this.frame = make("div", {
      className: "frame", tabIndex: 0, aria: { role: "application", label: "Curves; arrow keys go from point to point and from run to run" },
      onpointermove: (event) => this.point(event), onpointerleave: () => this.mark(null), onkeydown: (event) => this.key(event), onblur: () => this.mark(null),
    });
    this.tip = make("div", { className: "tip panel", hidden: true });
    this.legend = make("ul", { className: "legend" });
    this.filter = make("input", { type: "search", placeholder: "Find a run…", aria: { label: "Find a run" }, oninput: () => this.list() });
    this.main.append(
      make("div", { className: "view-head" }, make("h1", {}, "Curves"), make("span", { className: "muted" }, counted(this.total, "run"))),
      make("div", { className: "curves" },
        make("section", { className: "panel plot" },
          make("div", { className: "tools" }, this.measures, this.across, ...logs,
            make("span", { className: "space" }), save("SVG", () => this.saveSvg()), save("CSV", () => this.saveCsv())),
          make("div", { className: "stand" }, this.frame, this.tip)),
        make("section", { className: "panel side", aria: { label: "Runs" } }, this.filter, this.legend)));
  }

  set(news) {
    Object.assign(this, news);
    this.note();
    this.redraw();
  }

  redraw() {
    const names = [...new Set(this.runs.flatMap((run) => Object.keys(run.columns ?? {})))].filter((name) => !(name in X));
    if (!names.includes(this.y)) this.y = names.length ? measure(Object.fromEntries(names.map((name) => [name, true]))) ?? names[0] : this.y;
    const order = [...Object.keys(MEASURES).filter((name) => names.includes(name)), ...names.filter((name) => !(name in MEASURES))];
    this.measures.replaceChildren(...order.map((value) => make("option", { value, selected: value === this.y }, titleOf(value))));
    this.list();
    this.paint();
  }

  list() {
    const text = this.filter.value.toLowerCase();
    const kept = document.activeElement?.dataset.run;
    const chosen = this.runs.map((run) => this.items.find((item) => item.name === run.name) ?? { name: run.name, title: run.title ?? run.name.split("/").at(-1), game: run.game ?? "", about: run.about ?? {}, problem: "" });
    const rest = this.items.filter((item) => !chosen.includes(item) && `${item.title} ${item.game} ${item.about.method ?? ""}`.toLowerCase().includes(text));
    this.legend.replaceChildren(...[...chosen, ...rest].map((item) => this.entry(item)));
    if (kept) [...this.legend.querySelectorAll("input")].find((input) => input.dataset.run === kept)?.focus({ preventScroll: true });
  }

  entry(item) {
    const run = this.runs.find(({ name }) => name === item.name);
    const box = make("input", { type: "checkbox", checked: Boolean(run), disabled: Boolean(item.problem) && !run, dataset: { run: item.name }, onchange: (event) => this.toggle(item.name, event.target.checked) });
    const about = [item.about.method, item.game && agentTitle(item.title), item.problem].filter(Boolean).join(" · ");
    const entry = make("li", { className: run ? "chosen" : "", style: run ? { "--own": hue(run.colour) } : {} },
      make("label", {}, box, make("span", { className: "swatch", aria: { hidden: "true" } }),
        make("span", { className: "names" }, make("strong", { title: [item.game, item.title].filter(Boolean).join(" · ") }, item.game ? gameTitle(item.game) : item.title), make("span", { className: "muted" }, about))));
    if (run) {
      run.line = make("div", { className: "state-line muted" });
      run.value = make("span", { className: "number value" });
      entry.append(run.value, run.line);
      this.dress(run);
    } else if (item.changed) entry.append(make("span", { className: "muted ago" }, when(item.changed, this.now)));
    return entry;
  }

  /** Update the entry of a shown run: its value, and its link. */
  dress(run) {
    if (!run.line) return;
    const points = this.points(run);
    run.value.textContent = points.length ? figure(points.at(-1)[1]) : "–";
    const iterations = run.columns?.iteration?.at(-1), seconds = run.columns?.seconds?.at(-1);
    const busy = run.age < FRESH && !run.lost;
    const text = run.lost || run.problem || [counted(iterations ?? 0, run.about?.learns ? "epoch" : "iteration"), seconds === undefined ? "" : lasting(seconds)].filter(Boolean).join(", ");
    run.line.className = `state-line muted ${busy ? "running" : ""} ${run.lost || run.problem ? "lost" : ""}`;
    run.line.replaceChildren(make("span", {}, text));
    if (run.policy && !run.lost) run.line.append(make("a", { href: way("explore", { item: run.name }) }, "Explore"));
  }

  /** Return the points of a run that can be drawn. */
  points(run) {
    const xs = run.columns?.[this.x] ?? [], ys = run.columns?.[this.y] ?? [];
    return xs.flatMap((x, k) => {
      const y = ys[k] ?? null;
      return x === null || y === null || (this.logX && x <= 0) || (this.logY && y <= 0) ? [] : [[x, y]];
    });
  }

  paint() {
    const width = Math.max(280, this.frame.clientWidth), height = Math.round(Math.min(560, Math.max(280, 0.58 * width)));
    this.lines = this.runs.map((run) => ({ run, points: this.points(run), colour: hue(run.colour), dash: run.colour > 7 ? "6 4" : "" }));
    this.drawn = chart(this.lines, { width, height, logX: this.logX, logY: this.logY, xTitle: X[this.x], yTitle: titleOf(this.y) });
    this.drawn.svg.setAttribute("role", "img");
    this.drawn.svg.setAttribute("aria-label", this.lines.map(({ run, points }) => `${run.title ?? run.name}: ${figure(points.at(-1)?.[1])}`).join("; "));
    if (this.lines.every(({ points }) => !points.length)) this.drawn.svg.append(this.hollow(width, height));
    else if (this.lines.every(({ points }) => points.length < 2)) {
      this.drawn.svg.append(draw("text", { x: width / 2, y: 40, "text-anchor": "middle", class: "hollow" }));
      this.drawn.svg.lastChild.textContent = "One point and no curve: solved in one step, or not looked at again yet.";
    }
    this.frame.replaceChildren(this.drawn.svg);
    this.mark(this.at);
  }

  hollow(width, height) {
    const text = draw("text", { x: width / 2, y: height / 2, "text-anchor": "middle", class: "hollow" });
    const positive = this.runs.some((run) => (run.columns?.[this.y] ?? []).some((value) => value !== null));
    text.textContent = !this.runs.length ? "Choose a run." : positive ? "Nothing here is positive; switch off the logarithm." : "No point yet.";
    return text;
  }

  /* Exact numbers */

  point(event) {
    const box = this.frame.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null;
    this.lines.forEach(({ points }, line) => points.forEach(([a, b], k) => {
      const far = Math.abs(this.drawn.x(a) - x) + 0.3 * Math.abs(this.drawn.y(b) - y);
      if (!best || far < best.far) best = { line, k, far };
    }));
    this.mark(best);
  }

  key(event) {
    if (typing(event) || !["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "Escape"].includes(event.key)) return;
    event.preventDefault();
    const shown = this.lines.map((_, line) => line).filter((line) => this.lines[line].points.length);
    if (event.key === "Escape" || !shown.length) return void this.mark(null);
    let { line, k } = this.at ?? { line: shown[0], k: -1 };
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const x = this.at ? this.lines[line].points[k][0] : 0;
      line = shown[(shown.indexOf(line) + (event.key === "ArrowDown" ? 1 : shown.length - 1)) % shown.length];
      k = nearest(this.lines[line].points, x);
    } else {
      const last = this.lines[line].points.length - 1;
      k = { Home: 0, End: last, ArrowLeft: Math.max(0, k - 1), ArrowRight: Math.min(last, k + 1) }[event.key];
    }
    this.mark({ line, k });
    const [x, y] = this.lines[line].points[k];
    say(`${this.lines[line].run.title}: ${titleOf(this.y)} ${figure(y)} at ${x.toLocaleString("en")} ${X[this.x].toLowerCase()}`);
  }

  /** Mark one point, and show the values of all runs there. */
  mark(at) {
    this.drawn.svg.querySelector(".mark")?.remove();
    const point = at && this.lines[at.line]?.points[at.k];
    this.at = point ? { line: at.line, k: at.k } : null;
    this.tip.hidden = !point;
    if (!point) return;
    const { x, y, top, bottom } = this.drawn;
    const across = x(point[0]);
    const group = draw("g", { class: "mark" }, draw("line", { x1: across, x2: across, y1: top, y2: bottom }));
    const rows = this.lines.flatMap(({ run, points, colour }, line) => {
      const near = points[line === at.line ? at.k : nearest(points, point[0])];
      if (!near) return [];
      group.append(draw("circle", { cx: x(near[0]), cy: y(near[1]), r: line === at.line ? 6 : 4, color: colour }));
      return [{ run, near, colour, own: line === at.line }];
    });
    this.drawn.svg.append(group);
    rows.sort((a, b) => b.near[1] - a.near[1]);
    this.tip.replaceChildren(
      make("p", { className: "muted number" }, `${point[0].toLocaleString("en", { maximumSignificantDigits: 5 })} ${X[this.x].toLowerCase()}`),
      ...rows.map(({ run, near, colour, own }) => make("p", { className: own ? "own" : "" },
        make("span", { className: "swatch", style: { background: colour } }), make("span", { className: "who" }, [run.about?.method, agentTitle(run.title ?? "")].filter(Boolean).join(" · ")),
        make("span", { className: "number" }, near[1].toPrecision(5).replace("-", "−")))));
    const width = this.tip.offsetWidth, right = across + 16 + width < this.frame.clientWidth;
    this.tip.style.left = `${Math.max(0, right ? across + 16 : across - 16 - width)}px`;
    this.tip.style.top = `${Math.max(4, Math.min(y(point[1]) - 20, bottom - this.tip.offsetHeight))}px`;
  }

  /* Files */

  saveSvg() {
    this.mark(null);
    keep("curves.svg", "image/svg+xml", alone(this.drawn.svg));
  }

  saveCsv() {
    const quoted = (text) => `"${String(text).replace(/^(?=[=+@\t-])/, "'").replaceAll('"', '""')}"`;
    const names = [...new Set(this.runs.flatMap((run) => Object.keys(run.columns ?? {})))];
    const rows = this.runs.flatMap((run) => (run.columns?.iteration ?? []).map((_, k) => [quoted(run.title), quoted(run.game), quoted(run.about?.method ?? ""), ...names.map((name) => run.columns[name]?.[k] ?? "")].join(",")));
    keep("curves.csv", "text/csv", [["run", "game", "method", ...names].join(","), ...rows, ""].join("\n"));
  }
}

const titleOf = (name) => MEASURES[name] ?? (name ? `${name[0].toUpperCase()}${name.slice(1).replaceAll("_", " ")}` : "").replace(/^Value (\d)$/, "Value of player $1");

function nearest(points, x) {
  let best = 0;
  points.forEach(([value], k) => { if (Math.abs(value - x) < Math.abs(points[best][0] - x)) best = k; });
  return best;
}

function keep(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
