/* Locked strategies of players, and solving around them. */

import { address } from "./address.js";
import { mayWrite } from "./api.js";
import { go } from "./app.js";
import { focused, make, percent } from "./dom.js";
import { colour } from "./matrix.js";
import { ready, solved } from "./waiting.js";

/** Sliders for the selected row, the list of locks, and the button that solves. */
export class LockPanel {
  constructor(explorer) {
    this.explorer = explorer;
    this.kept = JSON.parse(JSON.stringify(explorer.about.lock ?? {}));
    this.hands = []; // locks of several hands of hold'em, by node and filter
    this.sliders = make("div", {});
    this.list = make("ul", { className: "ex-locks" });
    this.progress = make("div", {});
    this.element = make("details", { className: "panel ex-card", open: Object.keys(this.kept).length > 0 },
      make("summary", {}, make("h2", { style: { display: "inline" } }, "Lock and solve again")),
      this.sliders, this.form());
    this.drawList();
  }

  form() {
    const { about } = this.explorer;
    this.button = make("button", { className: "main", type: "submit", disabled: !mayWrite() }, "Solve again");
    const whole = about.players.map((name) => {
      const select = make("select", { onchange: () => this.keepPlayer(name, select.value) },
        ...[["", "free"], ["uniform", "all moves alike"], ["source", "as shown here"]].map(([value, text]) => make("option", { value }, text)));
      return [make("label", {}, name, make("span", { className: "unseen" }, " keeps to")), select];
    });
    for (const [label, field] of [...whole]) label.htmlFor = field.id = `lock-${Math.random().toString(36).slice(2)}`;
    this.options = about.form.map(({ name, help, choices, value, least, most }) => {
      const about = { id: `lock-${name}`, title: help };
      return choices
        ? make("select", about, ...choices.map((word) => make("option", { value: word, selected: word === value }, word)))
        : make("input", { ...about, type: "number", value, min: least ?? "", max: most ?? "", step: "any" });
    });
    const fields = about.form.map(({ label }, k) => [make("label", { htmlFor: this.options[k].id }, label), this.options[k]]);
    return make("form", { onsubmit: (event) => { event.preventDefault(); this.solve(); } },
      this.list,
      make("div", { className: "ex-fields" }, ...whole.flat(), ...fields.flat()),
      make("div", { className: "ex-buttons" }, this.button,
        make("button", { type: "button", onclick: () => { this.kept = {}; this.hands = []; this.drawList(); this.drawSliders(); } }, "Reset")),
      mayWrite() ? this.progress : make("p", { className: "muted" }, "Needs the link with the token that the server printed."));
  }

  point(group, row) {
    if (this.element.contains(focused(this.element)) && this.at) return;
    this.at = { group, row, name: this.explorer.about.players[group.player] };
    this.drawSliders();
  }

  drawSliders() {
    if (!this.at) return;
    const { group, row, name } = this.at;
    const kept = this.kept[name]?.[row.key];
    const probabilities = group.moves.map((move, k) => (kept && typeof kept === "object" ? kept[move] ?? 0 : row.p?.[k] ?? 1 / group.moves.length));
    const fields = [];
    const put = (changed, value) => {
      const rest = probabilities.reduce((sum, p, k) => (k === changed ? sum : sum + p), 0);
      const left = 1 - value;
      probabilities.forEach((p, k) => {
        if (k === changed) probabilities[k] = value;
        else probabilities[k] = rest > 0 ? p * left / rest : left / (probabilities.length - 1);
      });
      const active = focused(this.element);
      fields.forEach(([slide, type], k) => {
        if (active !== slide || k !== changed) slide.value = probabilities[k];
        if (active !== type || k !== changed) type.value = Number((100 * probabilities[k]).toFixed(3));
      });
    };
    const lines = group.moves.map((move, k) => {
      const slide = make("input", { type: "range", min: 0, max: 1, step: 0.001, value: probabilities[k], style: { "--of": colour(group.colors, k) }, aria: { label: `chance of ${move}` } });
      const type = make("input", { type: "number", min: 0, max: 100, step: "any", value: Number((100 * probabilities[k]).toFixed(3)), aria: { label: `chance of ${move} in percent` } });
      slide.oninput = () => put(k, Number(slide.value));
      type.oninput = () => put(k, Math.min(1, Math.max(0, Number(type.value) / 100)));
      fields.push([slide, type]);
      return [make("span", {}, move), slide, type];
    });
    this.sliders.replaceChildren(
      make("p", { className: "ex-key" }, `${name}: ${row.key}`),
      make("div", { className: "ex-lock-row" }, ...lines.flat()),
      make("div", { className: "ex-buttons" },
        group.range ? make("button", { type: "button", className: "ex-small", onclick: () => this.keepHands(name, group, probabilities) },
          this.explorer.find ? `Lock the ${group.total.toLocaleString("en")} hands shown` : `Lock all ${group.total.toLocaleString("en")} hands`) : null,
        make("button", { type: "button", className: "ex-small", onclick: () => this.keep(name, row.key, group.moves, probabilities) }, group.range ? "Lock this hand" : "Lock these probabilities"),
        kept ? make("button", { type: "button", className: "ex-small", onclick: () => this.free(name, row.key) }, "Free") : null));
  }

  keep(name, key, moves, probabilities) {
    const before = this.kept[name];
    this.kept[name] = { ...(typeof before === "object" ? before : {}), [key]: Object.fromEntries(moves.map((move, k) => [move, probabilities[k]])) };
    this.drawList();
    this.drawSliders();
  }

  /** Lock all hands that the filter shows at this node of hold'em. */
  keepHands(player, group, probabilities) {
    const { explorer } = this, after = explorer.wayLabels().join(", ") || "start", hands = explorer.find.trim();
    this.hands = this.hands.filter((one) => one.player !== player || one.after !== after || one.hands !== hands);
    this.hands.push({ player, after, hands, actions: Object.fromEntries(group.moves.map((move, k) => [move, probabilities[k]])) });
    this.drawList();
  }

  keepPlayer(name, what) {
    if (what) this.kept[name] = what;
    else delete this.kept[name];
    this.drawList();
  }

  free(name, key) {
    if (typeof this.kept[name] === "object") delete this.kept[name][key];
    if (!Object.keys(this.kept[name] ?? {}).length) delete this.kept[name];
    this.drawList();
    this.drawSliders();
  }

  drawList() {
    const line = (text, free) => make("li", {}, make("span", { title: text }, text),
      make("button", { type: "button", className: "ex-small", onclick: free, aria: { label: `free ${text}` } }, "×"));
    const mixed = (row) => Object.entries(row).map(([move, p]) => `${move} ${percent(p, 0)}`).join(", ");
    const lines = Object.entries(this.kept).flatMap(([name, what]) => {
      if (typeof what === "string") return [line(`${name}: ${what === "uniform" ? "all moves alike" : "as shown here"}`, () => this.keepPlayer(name, ""))];
      const keys = Object.entries(what);
      if (keys.length > 30) return [line(`${name}: ${keys.length.toLocaleString("en")} information sets`, () => this.keepPlayer(name, ""))];
      return keys.map(([key, row]) => line(`${name}: ${key} — ${mixed(row)}`, () => this.free(name, key)));
    });
    const ofHands = this.hands.map((one) => line(`${one.player} after ${one.after}: ${one.hands || "all hands"} — ${mixed(one.actions)}`, () => {
      this.hands = this.hands.filter((other) => other !== one);
      this.drawList();
    }));
    this.list.replaceChildren(...lines, ...ofHands);
  }

  /** Solve around the locks: show the answer if the user has waited for it, otherwise offer it in a line. */
  async solve() {
    const { explorer } = this, { looked } = explorer, kept = explorer.kept(explorer.source);
    const options = Object.fromEntries(explorer.about.form.map(({ name, choices }, k) => {
      const { value } = this.options[k];
      return [name, choices ? value : value === "" ? null : Number(value)];
    }));
    const asked = { source: explorer.source, ...options, lock: JSON.parse(JSON.stringify(this.kept)) };
    if (this.hands.length) asked.hands = this.hands.map((one) => ({ ...one }));
    const name = `${explorer.title}, ${Object.keys(this.kept).length || this.hands.length ? "around what is locked" : `by ${options.method}`}`;
    const show = (task) => go("explore", address(task.source, kept));
    const mine = this.asked = Symbol("the last that was asked here");
    const done = await solved(asked, name, this.progress, () => !explorer.closed && this.asked === mine, show);
    if (!done) return;
    this.progress.replaceChildren();
    if (explorer.looked === looked) show(done);
    else ready(name, "explore", address(done.source, kept));
  }
}
