/* Hands of hold'em as the matrix of 13 by 13: pairs on the diagonal, suited hands above it; and by made hand and draw. */

import { make, percent, signed } from "./dom.js";
import { colour, mix } from "./matrix.js";

const RANKS = "AKQJT98765432";

/** The figures that colour a cell besides the strategy: the number, its text, and how far it is from even, from −1 to 1. */
const FIGURES = {
  ev: { of: (cell) => cell.value, text: (x) => signed(x, Math.abs(x) < 9.95 ? 1 : 0), from: (x, most) => x / most },
  regret: { of: (cell) => cell.value, text: (x) => signed(x, Math.abs(x) < 9.95 ? 1 : 0), from: (x, most) => x / most },
  equity: { of: (cell) => cell.equity, text: (x) => `${Math.round(100 * x)}`, from: (x) => 2 * x - 1 },
  realised: { of: (cell) => cell.realised, text: (x) => `${Math.round(100 * x)}`, from: (x) => Math.max(-1, Math.min(1, x - 1)) },
};

/** The matrix of a group's ``hands``, and their kinds below it; ``chosen(cell)`` is called with the cell that the user points at, ``filter(name)`` with the kind that the user presses. */
export class HandMatrix {
  constructor(group, show, chosen, filter) {
    Object.assign(this, { group, show, chosen, filter });
    this.table = make("table", { className: "ex-hands", aria: { label: "Hands: pairs on the diagonal, suited hands above it" } });
    this.kinds = make("div", { className: "ex-kinds" });
    this.grid = make("div", {}, this.table, this.legend());
    this.element = make("div", {}, this.grid, this.kinds);
    this.table.addEventListener("pointerover", (event) => this.point(event));
    this.table.addEventListener("focusin", (event) => this.point(event));
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.redraw();
  }

  legend() {
    const moves = this.group.moves.map((move, k) => make("span", {},
      make("i", { className: "ex-dot", style: { background: colour(this.group.colors, k) } }), move));
    return make("p", { className: "ex-legend muted" }, ...moves,
      make("span", {}, "filled as often as hands get here; suited above the diagonal"));
  }

  measure(show) {
    this.show = show;
    this.redraw();
  }

  update(group) {
    this.group = group;
    this.redraw();
  }

  redraw() {
    const cells = new Map(this.group.hands.map((cell) => [13 * cell.row + cell.column, cell]));
    const most = Math.max(...this.group.hands.map((cell) => Math.abs(cell.value ?? 0)), 1e-12);
    const first = this.at ?? Math.min(...cells.keys());
    this.cells = cells;
    this.kinds.replaceChildren(...this.kindTables());
    this.table.replaceChildren(make("tbody", {}, ...Array.from(RANKS, (_, row) => make("tr", {},
      ...Array.from(RANKS, (__, column) => this.cell(cells.get(13 * row + column), row, column, most, first))))));
  }

  /** The tables of made hands and draws. */
  kindTables() {
    const knows = (name) => this.group.kinds.some(({ rows }) => rows.some((row) => (row[name] ?? null) !== null));
    const figures = [["value", "Value", (x) => signed(x, 2)], ["equity", "Equity", (x) => percent(x, 0)], ["realised", "Realised", (x) => percent(x, 0)]]
      .filter(([name]) => knows(name));
    const heads = (title) => [title, "Share", ...figures.map(([, head]) => head), ""];
    return this.group.kinds.map(({ title, rows }) => make("table", { className: "ex-exact" },
      make("thead", {}, make("tr", {}, ...heads(title).map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...rows.map((row) => make("tr", {},
        make("th", { scope: "row" }, make("button", { type: "button", className: "ex-plain", onclick: () => this.filter(row.name) }, row.name)),
        make("td", {}, row.share === null ? "" : percent(row.share)),
        ...figures.map(([name, , text]) => make("td", {}, (row[name] ?? null) === null ? "" : text(row[name]))),
        make("td", { className: "ex-kind", title: this.group.moves.map((move, k) => `${move} ${percent(row.p?.[k])}`).join(", ") }, this.group.moves.length ? mix(this.group.moves, row.p, this.group.colors, true) : ""))))));
  }

  cell(cell, row, column, most, first) {
    const [high, low] = [RANKS[Math.min(row, column)], RANKS[Math.max(row, column)]];
    const name = `${high}${low}${row === column ? "" : row < column ? "s" : "o"}`;
    if (!cell) return make("td", { className: "ex-none" }, make("b", {}, name));
    const figure = FIGURES[this.show], value = figure?.of(cell) ?? null, hasValue = value !== null;
    const known = [["value", cell.value, signed(cell.value, 2)], ["equity", cell.equity, percent(cell.equity)], ["realised", cell.realised, percent(cell.realised, 0)]]
      .filter(([, one]) => one !== null && one !== undefined).map(([word, , text]) => `; ${word} ${text}`).join("");
    const words = `${name}: ${this.group.moves.map((move, k) => `${move} ${percent(cell.p?.[k])}`).join(", ")}${known}`.replace(": ;", ":");
    const apart = hasValue ? figure.from(value, most) : 0;
    const filled = hasValue ? [make("i", { style: {
      background: apart < 0 ? "var(--bad)" : "var(--good)", height: "100%", width: "100%", opacity: String(0.08 + 0.62 * Math.min(1, Math.abs(apart))),
    } })] : this.stripes(cell);
    const place = 13 * row + column;
    const dark = !hasValue && cell.filled > 0.6;
    return make("td", {
      className: dark ? "ex-dark" : "", tabIndex: place === first ? 0 : -1, dataset: { hand: place }, title: words, aria: { label: words },
    }, ...filled, make("b", {}, name), ...(hasValue ? [make("small", {}, figure.text(value))] : []));
  }

  stripes(cell) {
    if (!this.group.moves.length) return [make("i", { style: { background: "var(--muted)", width: "100%", height: `${100 * cell.filled}%`, opacity: "0.55" } })];
    let left = 0;
    return (cell.p ?? []).map((share, k) => {
      const stripe = make("i", { style: {
        background: colour(this.group.colors, k), left: `${100 * left}%`, width: `${100 * share}%`, height: `${100 * cell.filled}%`,
      } });
      left += share;
      return stripe;
    });
  }

  point(event) {
    const place = Number(event.target.closest?.("td[data-hand]")?.dataset.hand ?? NaN);
    if (this.cells.has(place)) this.chosen(this.cells.get(place));
  }

  key(event) {
    const step = { ArrowDown: 13, ArrowUp: -13, ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = Number(event.target.closest("td[data-hand]")?.dataset.hand ?? NaN);
    if (!step || Number.isNaN(at)) return;
    event.preventDefault();
    for (let to = at + step; to >= 0 && to < 169; to += step) {
      if (Math.abs(step) === 1 && Math.floor(to / 13) !== Math.floor(at / 13)) return;
      if (!this.cells.has(to)) continue;
      event.target.tabIndex = -1;
      this.at = to;
      const cell = this.table.querySelector(`td[data-hand="${to}"]`);
      cell.tabIndex = 0;
      cell.focus();
      return;
    }
  }
}
