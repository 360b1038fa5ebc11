/* Rows of information sets by moves: a table that builds only its visible rows. */

import { focused, make, percent, signed } from "./dom.js";

const ROW = 36, PAGE = 100, AROUND = 12, MOST = 400000;

/** The measures that can be shown: the number for a row and move k, its bar, and its text. */
export const MEASURES = {
  strategy: { name: "Strategy", of: (row, k) => row.p?.[k] ?? null, text: (x) => percent(x), last: "Reach" },
  ev: { name: "Value", of: (row, k) => row.ev?.[k] ?? null, text: (x) => signed(x, 3), last: "Set value", needs: true },
  regret: { name: "Regret", of: (row, k) => row.regret?.[k] ?? null, text: (x) => signed(x, 3), last: "Set value", needs: true },
  reach: {
    name: "Reach", last: "Reach", text: (x) => percent(x, 2),
    of: (row, k) => (row.reach === null || !row.p ? null : row.reach * row.p[k]),
  },
  equity: { name: "Equity", of: (row, k) => row.p?.[k] ?? null, text: (x) => percent(x), last: "Reach", hands: true },
  realised: { name: "Realised", of: (row, k) => row.p?.[k] ?? null, text: (x) => percent(x), last: "Reach", hands: true },
  difference: {
    name: "Difference", last: "Apart", text: (x) => (x === null ? "–" : `${signed(100 * x, 1)} %`),
    of: (row, k) => (row.p && row.q ? row.q[k] - row.p[k] : null), compares: true,
  },
};

/** The columns of hands besides those of their actions: the figures of a row, where they are known. */
const HAND_COLUMNS = [
  ["EV", (row) => signed(row.value, 2)], ["Equity", (row) => percent(row.equity, 0)], ["Realised", (row) => percent(row.realised, 0)],
];

/** Return the total variation distance of two strategies in a row. */
export const apart = (row) => (row.p && row.q ? row.p.reduce((sum, p, k) => sum + Math.abs(p - row.q[k]), 0) / 2 : null);

/** Return the colour of move k, by the names that come with its group: it is the same everywhere. */
export const colour = (colors, k) => `var(--${colors[k]})`;

function lastOf(measure, row, range) {
  if (measure.last === "Set value" && !range) return signed(row.value, 3);
  if (measure.last === "Apart") return percent(apart(row));
  return row.reach === null || row.reach === undefined ? "–" : percent(row.reach, row.reach < 0.01 ? 3 : 1);
}

/** Draw probabilities as one bar with all colours. */
export function mix(moves, probabilities, colors, thin = false) {
  const bar = make("div", { className: thin ? "ex-mix ex-thin" : "ex-mix", aria: { hidden: "true" } });
  moves.forEach((move, k) => {
    const share = probabilities?.[k] ?? 0;
    if (share <= 0) return;
    const label = thin || share < 0.09 ? "" : `${move} ${percent(share)}`;
    bar.append(make("span", { title: move, style: { background: colour(colors, k), width: `${100 * share}%` } }, label));
  });
  return bar;
}

/** Return the strategy of all rows together, weighted by reach. */
export function overall(group, rows) {
  const known = rows.filter((row) => row.p);
  const weights = known.map((row) => row.reach ?? 1);
  const total = weights.reduce((sum, w) => sum + w, 0);
  if (!known.length) return null;
  const even = total <= 0;
  return group.moves.map((_, k) => known.reduce((sum, row, i) => sum + row.p[k] * (even ? 1 : weights[i]), 0) / (even ? known.length : total));
}

function barOf(measure, value, most) {
  const style = {};
  if (value === null || Number.isNaN(value)) return [];
  if (measure === MEASURES.strategy || measure === MEASURES.reach || measure.hands) {
    style.width = `${Math.min(100, 100 * value / (most || 1))}%`;
    return [make("i", { style }), make("i", { className: "ex-edge", style: value > 0.0005 ? {} : { display: "none" } })];
  }
  const size = most > 0 ? 50 * Math.abs(value) / most : 0;
  style.width = `${size}%`;
  style.left = value < 0 ? `${50 - size}%` : "50%";
  style["--of"] = value < 0 ? "var(--bad)" : "var(--good)";
  return [make("i", { style })];
}

/** A table of one group: ``more(first)`` returns further rows, ``chosen(row, k, how)`` is called on a selection. */
export class Matrix {
  constructor(group, show, { more, chosen, name }) {
    Object.assign(this, { group, more, chosen, show });
    this.total = Math.min(group.total, MOST);
    this.pages = new Map([[0, Promise.resolve(group.rows)]]);
    this.rows = new Map(group.rows.map((row, k) => [k, row]));
    this.at = [0, 0];
    this.body = make("tbody");
    this.head = make("tr");
    this.table = make("table", { className: "ex-matrix", aria: { rowcount: group.total + 1, label: name } },
      make("thead", {}, this.head), this.body);
    this.element = make("div", { className: "ex-rows" }, this.table);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.table.addEventListener("pointerover", (event) => this.point(event, "hover"));
    this.table.addEventListener("focusin", (event) => this.point(event, "focus"));
    this.table.addEventListener("click", (event) => this.point(event, "click"));
    this.table.addEventListener("dblclick", (event) => this.point(event, "down"));
    this.redraw();
  }

  /** Show another measure. */
  measure(show) {
    this.show = show;
    this.redraw();
  }

  /** Update the same rows with further figures. */
  update(group) {
    this.group = group;
    this.pages = new Map([[0, Promise.resolve(group.rows)]]);
    this.rows = new Map(group.rows.map((row, k) => [k, row]));
    this.redraw();
  }

  redraw() {
    const measure = MEASURES[this.show];
    this.head.replaceChildren(
      make("th", { scope: "col" }, this.group.range ? "Hand" : "Knows"), make("th", { scope: "col", className: "ex-mixed" }, this.group.moves.length ? "Mix" : ""),
      ...this.group.moves.map((move, k) => make("th", { scope: "col", title: move },
        make("span", { className: "ex-dot", style: { background: colour(this.group.colors, k) } }), move)),
      ...(this.group.range ? HAND_COLUMNS.map(([name]) => make("th", { scope: "col", className: "ex-last" }, name)) : []),
      make("th", { scope: "col", className: "ex-last" }, this.group.range && measure.last === "Set value" ? "Reach" : measure.last),
    );
    this.drawn = null;
    this.draw();
  }

  async page(number) {
    if (!this.pages.has(number)) this.pages.set(number, this.more(number * PAGE));
    const rows = await this.pages.get(number);
    rows.forEach((row, k) => this.rows.set(number * PAGE + k, row));
  }

  /** Draw the rows around the visible part; empty space stands for the others. */
  draw() {
    const height = this.element.clientHeight || 600;
    const few = this.total <= PAGE;
    const begin = few ? 0 : Math.max(0, Math.floor(this.element.scrollTop / ROW) - AROUND);
    const end = few ? this.total : Math.min(this.total, begin + Math.ceil(height / ROW) + 2 * AROUND);
    const missing = [];
    for (let page = Math.floor(begin / PAGE); page <= Math.floor(Math.max(begin, end - 1) / PAGE); page++) {
      if (!this.rows.has(page * PAGE)) missing.push(page);
    }
    if (missing.length) Promise.all(missing.map((page) => this.page(page))).then(() => { this.drawn = null; this.draw(); }, () => {});
    if (this.drawn && this.drawn[0] === begin && this.drawn[1] === end) return;
    this.drawn = [begin, end];
    const most = this.most();
    const space = (count) => make("tr", { aria: { hidden: "true" }, style: { height: `${count * ROW}px` } });
    const kept = this.table.contains(focused(this.table));
    this.body.replaceChildren(
      ...(begin ? [space(begin)] : []),
      ...Array.from({ length: end - begin }, (_, k) => this.line(begin + k, most)),
      ...(end < this.total ? [space(this.total - end)] : []),
    );
    if (kept) this.cell(...this.at)?.focus({ preventScroll: true });
  }

  most() {
    const measure = MEASURES[this.show];
    if (measure === MEASURES.strategy || measure.compares || measure.hands) return 1;
    let most = 0;
    for (const row of this.rows.values()) {
      this.group.moves.forEach((_, k) => { most = Math.max(most, Math.abs(measure.of(row, k) ?? 0)); });
    }
    return most;
  }

  line(number, most) {
    const row = this.rows.get(number), measure = MEASURES[this.show];
    const line = make("tr", { dataset: { row: number }, aria: { rowindex: number + 2 } });
    if (!row) {
      line.append(make("th", { scope: "row", className: "muted" }, "…"));
      return line;
    }
    line.append(
      make("th", { scope: "row", title: row.key, className: row.locked ? "ex-locked" : "" }, row.label),
      make("td", { className: "ex-mixed" }, this.group.moves.length ? mix(this.group.moves, row.p, this.group.colors, true) : ""),
    );
    const values = this.group.moves.map((_, k) => measure.of(row, k));
    const best = Math.max(...values.filter((x) => x !== null && !Number.isNaN(x)));
    this.group.moves.forEach((move, k) => {
      const value = values[k], text = measure.text(value);
      const faint = value === null || (measure === MEASURES.strategy ? value < 0.0005 : measure.needs && value < best - 0.0005);
      const cell = make("div", { className: faint ? "ex-cell ex-faint" : "ex-cell", style: { "--of": colour(this.group.colors, k) } },
        ...barOf(measure, value, most), make("b", {}, text));
      const here = number === this.at[0] && k === this.at[1];
      line.append(make("td", {
        tabIndex: here ? 0 : -1, dataset: { move: k },
        aria: { label: `${row.label}, ${move}: ${text}` },
      }, cell));
    });
    if (this.group.range) line.append(...HAND_COLUMNS.map(([, of]) => make("td", { className: "ex-last" }, of(row))));
    line.append(make("td", { className: "ex-last" }, lastOf(measure, row, this.group.range)));
    return line;
  }

  cell(number, move) {
    return this.body.querySelector(`tr[data-row="${number}"] td[data-move="${move}"]`);
  }

  focus() {
    this.cell(...this.at)?.focus({ preventScroll: true });
  }

  point(event, how) {
    const line = event.target.closest?.("tr[data-row]");
    if (!line) return;
    const number = Number(line.dataset.row), row = this.rows.get(number);
    const move = Number(event.target.closest("td[data-move]")?.dataset.move ?? this.at[1]);
    if (how !== "hover") this.put(number, move, how === "click");
    if (row) this.chosen(row, move, how);
  }

  put(number, move, focus) {
    this.cell(...this.at)?.setAttribute("tabindex", "-1");
    this.at = [number, move];
    const cell = this.cell(number, move);
    cell?.setAttribute("tabindex", "0");
    for (const line of this.body.querySelectorAll("tr.ex-on")) line.classList.remove("ex-on");
    cell?.closest("tr").classList.add("ex-on");
    if (focus) cell?.focus({ preventScroll: true });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [number, move] = this.at;
    const to = {
      ArrowDown: [number + 1, move], ArrowUp: [number - 1, move], ArrowLeft: [number, move - 1], ArrowRight: [number, move + 1],
      Home: [0, move], End: [this.total - 1, move], PageDown: [number + 10, move], PageUp: [number - 10, move],
    }[event.key];
    if (event.key === "Enter" && this.rows.has(number)) {
      event.preventDefault();
      this.chosen(this.rows.get(number), move, "down");
    }
    if (!to) return;
    const row = Math.min(this.total - 1, Math.max(0, to[0])), k = to[1];
    if (k < 0 || k >= this.group.moves.length || (row === number && k === move)) return;
    event.preventDefault();
    const top = row * ROW, view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    if (top + 2 * ROW > view.scrollTop + view.clientHeight) view.scrollTop = top + 2 * ROW - view.clientHeight;
    this.draw();
    this.put(row, k, true);
  }
}

/** The legends of a picture's bars. */
const LEGENDS = {
  strategy: "Bars: how likely each move is. Reach: how often the information set is come to.",
  ev: "Bars: the value of each move to its player, right of the middle above zero. Set value: the value of the information set.",
  regret: "Bars: what each move would gain, right of the middle where it is better than what is played.",
  reach: "Bars: how often each move is made in a game. Reach: how often the information set is come to.",
  difference: "Bars: the other strategy's chance minus this one's. Apart: the total variation between both.",
};

/** Draw the rows of a group as a self-contained picture, in the colours and font of ``place``. */
export function pictured(groups, show, title, place) {
  const measure = MEASURES[show], css = getComputedStyle(place);
  const paint = (name) => {
    const probe = make("span", { style: { color: `var(${name})` } });
    place.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const ground = paint("--panel"), text = paint("--text"), faint = paint("--muted"), sunken = paint("--sunken");
  const escape = (x) => String(x).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[^\t\n\x20-\ufffd]/g, "?");
  const parts = [], wide = 900;
  let y = 34;
  const write = (x, at, words, more = "") => parts.push(`<text x="${x}" y="${at}" fill="${text}" ${more}>${escape(words)}</text>`);
  write(16, 24, title, 'font-size="16" font-weight="700"');
  parts.push(`<text x="16" y="42" fill="${faint}" font-size="12">${escape(LEGENDS[show])}</text>`);
  y += 16;
  for (const { group, rows } of groups) {
    const step = (wide - 250) / group.moves.length;
    y += 14;
    group.moves.forEach((move, k) => {
      parts.push(`<rect x="${170 + k * step}" y="${y}" width="9" height="9" rx="3" fill="${paint(`--${group.colors[k]}`)}"/>`);
      write(184 + k * step, y + 9, move, 'font-size="12"');
    });
    parts.push(`<text x="${wide - 16}" y="${y + 9}" fill="${faint}" font-size="12" text-anchor="end">${measure.last}</text>`);
    y += 16;
    const most = Math.max(...rows.flatMap((row) => group.moves.map((_, k) => Math.abs(measure.of(row, k) ?? 0))), 1e-12);
    for (const row of rows) {
      write(16, y + 16, row.label.length > 22 ? `${row.label.slice(0, 21)}…` : row.label, 'font-size="13" font-weight="600"');
      group.moves.forEach((move, k) => {
        const value = measure.of(row, k), x = 170 + k * step, w = step - 6;
        parts.push(`<rect x="${x}" y="${y}" width="${w}" height="22" rx="5" fill="${sunken}"/>`);
        if (value !== null && !Number.isNaN(value)) {
          const plain = show === "strategy" || show === "reach" || measure.hands;
          const size = plain ? w * value / (show === "reach" ? most : 1) : w * Math.abs(value) / most / 2;
          const left = plain ? x : value < 0 ? x + w / 2 - size : x + w / 2;
          const fill = plain ? paint(`--${group.colors[k]}`) : paint(value < 0 ? "--bad" : "--good");
          parts.push(`<rect x="${left}" y="${y}" width="${Math.max(size, 0)}" height="22" rx="5" fill="${fill}" fill-opacity="0.4"/>`);
        }
        write(x + w - 8, y + 15.5, measure.text(value), 'font-size="12" text-anchor="end"');
      });
      parts.push(`<text x="${wide - 16}" y="${y + 16}" fill="${faint}" font-size="12" text-anchor="end">${escape(lastOf(measure, row, group.range))}</text>`);
      y += 26;
    }
  }
  const family = escape(css.fontFamily || "sans-serif");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${y + 12}" width="${wide}" height="${y + 12}" font-family="${family}">`
    + `<rect width="100%" height="100%" fill="${ground}"/>${parts.join("")}</svg>`;
}
