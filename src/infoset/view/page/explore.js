/* Explore: a strategy, node by node; locked strategies; two strategies side by side. */

import { address, sourceIn } from "./address.js";
import { get, mayWrite, saving } from "./api.js";
import { complaint, go, here, say } from "./app.js";
import { CardStrip } from "./cards.js";
import { gameTitle, make, percent, save, signed, typing } from "./dom.js";
import { landing } from "./explore_home.js";
import { HandMatrix } from "./hands.js";
import { LockPanel } from "./lock.js";
import { MEASURES, Matrix, colour, mix, overall, pictured } from "./matrix.js";
import { drawPicture } from "./pictures.js";
import { rulesPanel } from "./rules.js";
import { wayTree } from "./tree.js";
import { solved } from "./waiting.js";

const ROWS = 100;

/** Return the equity of a hand or class, and the part of it that is realised, where they are known. */
const shares = ({ equity, realised }) => [["Equity", equity, 1], ["Realised", realised, 0]].filter(([, value]) => (value ?? null) !== null)
  .flatMap(([name, value, digits]) => [make("dt", {}, name), make("dd", {}, percent(value, digits))]);

export async function show(main, parameters) {
  const source = sourceIn(parameters);
  if (!source) return landing(main);
  const view = new Explorer(main, source, parameters);
  await view.open();
  return () => view.close();
}

class Explorer {
  constructor(main, source, parameters) {
    Object.assign(this, { main, source });
    this.other = parameters.get("with") ? `item:${parameters.get("with")}` : parameters.get("to") ?? "";
    this.way = parameters.get("way") ?? "public";
    this.at = parameters.get("at") ?? "";
    this.measure = parameters.get("show") ?? "strategy";
    this.find = "";
    this.here = here();
    this.gone = false;
    this.hands = new Map();
    this.asked = 0;
    this.keys = (event) => this.key(event);
    this.root = main.getRootNode(); // in a notebook only this view hears its keys
    this.root.addEventListener("keydown", this.keys);
  }

  /** Whether another view is shown by now. */
  get closed() {
    return this.gone || !this.here();
  }

  close() {
    this.gone = true;
    this.root.removeEventListener("keydown", this.keys);
  }

  async open() {
    this.about = await get("explore/open", { source: this.source });
    if (!this.about.solved) {
      await this.solveFirst();
      if (this.closed) return;
      this.about = await get("explore/open", { source: this.source });
    }
    if (this.closed) return;
    this.build();
    await this.load();
    this.followValues();
    if (this.other) this.followOther();
  }

  /** Solve a game here that was named alone. */
  async solveFirst() {
    const name = this.source.slice("game:".length);
    if (!mayWrite()) throw new Error(`${name} is not solved here; open the link with the token that the server printed`);
    const box = make("div", {});
    const panel = make("section", { className: "panel ex-card" }, make("h1", {}, `Solving ${gameTitle(name)}`), box);
    this.main.append(panel);
    await solved({ source: this.source }, gameTitle(name), box, () => !this.closed, (task) => go("explore", address(task.source)));
    panel.remove();
  }

  /** The current place and display, which changes when the user chooses something else. */
  get looked() {
    return JSON.stringify([this.way, this.at, this.measure, this.other]);
  }

  build() {
    const { about } = this;
    const by = about.made_by.method ? `${about.made_by.method}${about.made_by.iterations ? `, ${about.made_by.iterations.toLocaleString("en")} iteration${about.made_by.iterations === 1 ? "" : "s"}` : ""}` : "";
    const where = this.source.startsWith("item:") ? this.source.slice(5).replace(/^\d+\//, "") : "solved here";
    const rows = about.rows ? `${about.rows.reduce((a, b) => a + b, 0).toLocaleString("en")} information sets` : "";
    this.title = about.title || (about.game ? gameTitle(about.game) : where);
    this.wayBar = make("div", { className: "ex-way", aria: { role: "group", label: "What happened" } });
    this.body = make("div", {}, make("p", { className: "ex-empty", role: "status" }, "One moment …"));
    this.trouble = make("div", {});
    this.figures = make("table", { className: "ex-exact ex-figures" });
    this.valueLine = make("p", { className: "ex-progress", role: "status" });
    this.detail = make("div", {}, make("p", { className: "muted" }, "Point at a row for exact numbers."));
    this.treeBox = make("div", { className: "ex-tree" });
    this.measures = make("div", { className: "ex-segments", aria: { role: "group", label: "What is shown" } });
    this.search = make("input", {
      type: "search", placeholder: "Find a key  /", aria: { label: "Find keys that hold this text" },
      oninput: () => { clearTimeout(this.typed); this.typed = setTimeout(() => { this.find = this.search.value; this.load(); }, 160); },
    });
    this.ways = make("select", { aria: { label: "Whose way is followed" }, onchange: () => this.goWay(this.ways.value) },
      make("option", { value: "public" }, "What everybody knows"),
      ...(about.rows ? about.players.map((name, k) => make("option", { value: String(k) }, `${name}'s own keys`)) : []));
    this.ways.value = this.way;
    this.ways.hidden = !about.rows;
    this.lockPanel = new LockPanel(this);
    this.csv = make("a", { className: "ex-small", ...saving("explore/csv", { source: this.source }, "strategy.csv") }, "CSV");
    const compare = make("a", { className: "ex-small", href: "#", onclick: (event) => { event.preventDefault(); this.chooseOther(); } }, "Compare…");
    this.compareBox = make("div", { hidden: true, className: "panel ex-card" });
    this.main.append(make("div", { className: "explore" },
      make("header", { className: "ex-head" },
        make("h1", { title: about.game || where }, this.title), make("span", { className: "muted" }, [where, by, rows].filter(Boolean).join(" · ")),
        make("div", { className: "ex-tools" }, compare,
          this.csv,
          make("button", { className: "ex-small", type: "button", onclick: () => this.saveSvg() }, "SVG"))),
      this.compareBox, this.wayBar, this.trouble,
      ...(about.payoffs ? [make("section", { className: "panel ex-card", aria: { label: "Payoffs" } }, drawPicture(about.payoffs, { players: about.players }))] : []),
      make("div", { className: "ex-body" },
        make("div", { className: "ex-main" },
          make("section", { className: "panel", aria: { label: "Strategy" } },
            make("div", { className: "ex-bar" }, this.measures, this.search, this.ways), this.body),
          make("div", { className: "ex-below" },
            make("section", { className: "panel ex-card" }, make("h2", {}, "Tree"), this.treeBox),
            make("section", { className: "panel ex-card" }, make("h2", {}, "The whole game"), this.figures, this.valueLine))),
        make("aside", {},
          make("section", { className: "panel ex-card", aria: { label: "Information set" } }, this.detail),
          this.lockPanel.element, about.game ? rulesPanel(this.source) : ""))));
    this.drawMeasures();
  }

  who = (by) => (by >= 0 ? this.about.players[by] : by === -1 ? "chance" : "all");

  drawMeasures() {
    const ranges = this.node?.groups.some((group) => group.range);
    const shown = Object.entries(MEASURES).filter(([key, m]) => (!m.compares || this.other) && (ranges ? key !== "regret" : !m.hands));
    this.measures.replaceChildren(...shown.map(([key, m]) => make("button", {
      type: "button", onclick: () => this.setMeasure(key), aria: { pressed: key === this.measure },
      title: m.needs && !this.evaluation ? "Waits for the game's tree" : "",
    }, m.name)));
  }

  setMeasure(key) {
    this.measure = key;
    this.drawMeasures();
    this.remember();
    if (key === "difference") this.showDifferences();
    else this.differences?.remove();
    for (const matrix of [...this.matrices, ...this.hands.values()]) matrix.measure(key);
  }

  remember() {
    go("explore", address(this.source, this.kept(this.other)), true);
  }

  /** Return the parameters of the address that describe the view, besides the source. */
  kept(other) {
    const more = {};
    if (other.startsWith("item:")) more.with = other.slice(5);
    else if (other) more.to = other;
    if (this.way !== "public") more.way = this.way;
    if (this.at) more.at = this.at;
    if (this.measure !== "strategy") more.show = this.measure;
    return more;
  }

  view(more = {}) {
    const asked = { source: this.source, way: this.way, at: this.at, rows: ROWS, ...more };
    if (this.other) asked.other = this.other;
    if (this.find) asked.find = this.find;
    return asked;
  }

  /** Load and show the information sets at the current place. */
  async load(focus = false) {
    const number = ++this.asked;
    let found;
    try {
      found = await get("explore/node", this.view());
    } catch (error) {
      if (number !== this.asked || this.closed) return;
      this.trouble.replaceChildren(complaint(error.message));
      if (!this.node) this.body.replaceChildren();
      if (!this.node && this.way === "public" && this.about.rows) {
        this.way = this.ways.value = "0";
        this.note = `${error.message.slice(0, 160)}${error.message.length > 160 ? "…" : "."} The keys of each player can be read.`;
        await this.load(focus);
      }
      return;
    }
    if (number !== this.asked || this.closed) return;
    if (found.waits) {
      this.trouble.replaceChildren(make("p", { className: "ex-progress", role: "status" }, `Getting ready: ${found.waits} …`));
      setTimeout(() => { if (number === this.asked && !this.closed) this.load(focus); }, 200);
      return;
    }
    if (!this.node || found.stamp === this.node.stamp) this.trouble.replaceChildren(...(this.note ? [complaint(this.note)] : []));
    else this.trouble.replaceChildren(complaint("The file has changed: this is the new one."));
    const same = this.node?.at === found.at && this.drawn === `${this.way} ${this.find}`
      && this.node.groups.map((group) => group.total).join() === found.groups.map((group) => group.total).join();
    this.node = found;
    this.at = found.at;
    this.drawn = `${this.way} ${this.find}`;
    this.remember();
    this.drawMeasures();
    if (found.groups.some((group) => group.range)) Object.assign(this.csv, saving("explore/csv", { source: this.source, at: this.at }, "hands.csv"));
    this.drawWay();
    if (same) this.freshen(found);
    else this.drawGroups(focus);
    this.drawTree();
  }

  follow(depth, branch) {
    const { steps } = this.node;
    const taken = steps.slice(0, depth).map((step) => step.chosen);
    if (branch !== null) taken.push(branch);
    this.at = taken.join(this.way === "public" ? "." : " ");
    this.load(true);
  }

  goWay(way) {
    this.way = way;
    this.at = this.note = "";
    this.node = null;
    this.load();
  }

  /** Go to one information set, on its player's own path. */
  goKey(player, key) {
    this.way = this.ways.value = String(player);
    this.at = key;
    this.setMeasure("strategy");
    this.load(true);
  }

  up() {
    const taken = this.node.steps.filter((step) => step.chosen !== null);
    let depth = taken.length - 1;
    while (depth > 0 && taken[depth].branches.length === 1) depth--;
    if (depth >= 0) this.follow(depth, null);
  }

  drawWay() {
    const { steps } = this.node;
    const last = steps.length - 1;
    this.wayBar.replaceChildren(...steps.map((step, depth) => this.step(step, depth, depth === last)));
    if (this.node.ends) this.wayBar.append(make("div", { className: "ex-step" }, make("legend", {}, "the end")));
    this.wayBar.scrollLeft = this.wayBar.scrollWidth;
  }

  step(step, depth, last) {
    const part = (branch) => (branch.reach === null || !step.reach ? (branch.rows ?? 0).toLocaleString("en") : percent(branch.reach / step.reach, 0));
    const legend = make("legend", {}, make("span", {}, this.way === "public" ? this.who(step.by) : depth ? "then" : this.who(Number(this.way))),
      make("span", {}, step.reach === null ? "" : percent(step.reach, step.reach < 0.01 ? 2 : 0)));
    const box = make("fieldset", { className: last && !this.node.ends ? "ex-step ex-here" : "ex-step" }, legend);
    const many = step.branches.length > 3;
    if (many) {
      box.append(make("select", { aria: { label: `${this.who(step.by)}: what happened` }, onchange: (event) => this.follow(depth, step.branches[event.target.selectedIndex - 1]?.at ?? null) },
        make("option", { selected: step.chosen === null }, "…"),
        ...step.branches.map((branch) => make("option", { selected: branch.at === step.chosen }, `${branch.label}  ${part(branch)}`))));
    } else {
      box.append(...step.branches.map((branch) => make("button", {
        type: "button", onclick: () => this.follow(depth, branch.at), aria: { pressed: branch.at === step.chosen },
      }, make("span", {}, branch.label), make("span", {}, part(branch)))));
    }
    return box;
  }

  drawGroups(focus) {
    const { groups, ends } = this.node;
    this.matrices = [];
    this.hands = new Map();
    this.body.replaceChildren();
    if (groups.some((group) => group.hands)) this.searchHands();
    if (this.measure === "difference") this.showDifferences();
    if (!groups.length || groups.every((group) => !group.total)) {
      const step = this.node.steps.at(-1);
      const why = ends ? "The game ends here." : this.find ? this.node.refused || `Nothing here matches “${this.find}”.`
        : step?.by === -1 ? "Chance acts next: choose its outcome above." : "Nobody has a choice here.";
      this.body.append(make("p", { className: "ex-empty" }, why));
    }
    if (groups.some((group) => group.range)) this.body.append(...this.ranges(groups.filter((group) => group.total)));
    else for (const group of groups) if (group.total) this.body.append(this.group(group));
    if (focus) this.matrices[0]?.focus();
    const first = groups.find((group) => group.total);
    if (first) this.point(first, first.rows[0], 0);
    say(groups.map((group) => `${this.who(group.player)}: ${group.total} information sets, moves ${group.moves.join(", ")}`).join("; ") || "nobody moves here");
  }

  /** Update the same rows with further figures: nothing moves, and the focus stays. */
  freshen({ groups }) {
    const shown = groups.filter((group) => group.total);
    this.matrices.forEach((matrix, k) => matrix.update(shown[k]));
    for (const group of shown) if (group.hands) this.hands.get(group.group)?.update(group);
    const { pointed } = this, group = pointed && shown.find((one) => one.group === pointed.group.group);
    const row = group?.rows.find((one) => one.key === pointed.row.key);
    if (row) this.point(group, row, pointed.k);
    if (this.measure === "difference") this.showDifferences();
  }

  /** Hands are searched by a filter, not by their keys. */
  searchHands() {
    this.search.placeholder = "Hands: top pair | set, suit:h  /";
    this.search.title = "AKs, TT+, suited, suit:h, set, flush draw, bet 50 > 20% …; a comma is “and”, | is “or”";
    this.search.setAttribute("aria-label", "Filter of hands");
  }

  filterBy(text) {
    this.search.value = this.find = text;
    this.load();
    this.search.focus();
  }

  /** Return both players' ranges side by side, the cards that may come next, and the tables of hands below. */
  ranges(groups) {
    const step = this.node.steps.at(-1), parts = groups.map((group) => this.range(group));
    const found = parts.map(({ top }) => top), below = parts.map(({ below: tables }) => tables);
    if (!step || step.by !== -1 || step.chosen !== null) return [make("div", { className: "ex-ranges" }, ...found), ...below];
    const box = make("section", { className: "ex-group" }, make("h2", {}, "Next card"), make("p", { className: "ex-progress", role: "status" }, "Comparing the cards …"));
    this.fillCards(box, step);
    return [box, make("div", { className: "ex-ranges" }, ...found), ...below];
  }

  async fillCards(box, step) {
    const { at } = this;
    let found;
    try {
      found = await get("explore/cards", { source: this.source, at });
    } catch (error) {
      box.lastChild.textContent = error.message;
      return;
    }
    if (this.closed || this.at !== at) return;
    const strip = new CardStrip(found, this.about.players, (card) => this.follow(this.node.steps.length - 1, step.branches.find((branch) => branch.label === card).at));
    box.lastChild.replaceWith(strip.element);
  }

  /** Return the matrix of a player's range, and the tables of its hands. */
  range(group) {
    const { range } = group, acts = group.moves.length > 0;
    const hands = new HandMatrix(group, this.measure, (cell) => this.pointHands(group, cell), (name) => this.filterBy(name));
    const matrix = this.rows(group, `${this.who(group.player)}'s hands`);
    hands.table.setAttribute("aria-label", `${this.who(group.player)}'s hands: pairs on the diagonal, suited hands above it`);
    this.hands.set(group.group, hands);
    this.matrices.push(matrix);
    const figures = [["EV", signed(range.value, 2)], ["equity", percent(range.equity)], ["realised", percent(range.realised, 0)], ["combinations", range.combinations.toLocaleString("en", { maximumFractionDigits: 1 })]];
    const top = make("section", { className: "ex-group" },
      make("h2", {}, `${this.who(group.player)} ${acts ? "to move" : this.node.steps.at(-1)?.chosen === null && this.node.steps.at(-1).by >= 0 ? "looks on" : "holds"}`,
        make("small", {}, group.total.toLocaleString("en"), group.total === 1 ? " hand" : " hands")),
      make("p", { className: "ex-range" }, ...figures.map(([name, text]) => make("span", {}, make("span", { className: "muted" }, `${name} `), text))),
      acts ? mix(group.moves, range.p, group.colors) : this.node.groups.some((one) => one.moves.length) ? make("div", { className: "ex-mix ex-gap" }) : "",
      acts ? make("p", { className: "unseen" }, group.moves.map((move, k) => `${move} ${percent(range.p?.[k])}`).join(", ")) : "",
      hands.grid);
    const tables = [hands.kinds, matrix.element];
    const below = acts || group === this.node.groups[0] ? make("section", { className: "ex-group" }, ...tables)
      : make("details", { className: "ex-group", ontoggle: () => matrix.draw() }, make("summary", {}, make("h2", {}, `${this.who(group.player)}'s hands`)), ...tables);
    requestAnimationFrame(() => matrix.draw());
    return { top, below };
  }

  rows(group, name) {
    return new Matrix(group, this.measure, {
      name,
      more: async (first) => (await get("explore/node", this.view({ first, group: group.group }))).groups[0].rows,
      chosen: (row, k, how) => { this.point(group, row, k); if (how === "down") this.down(group, k); },
    });
  }

  group(group) {
    const all = overall(group, group.rows);
    const matrix = this.rows(group, `${this.who(group.player)} to move`);
    this.matrices.push(matrix);
    const box = make("section", { className: "ex-group" },
      make("h2", {}, `${this.who(group.player)} to move`, make("small", {}, `${group.total.toLocaleString("en")} information set${group.total === 1 ? "" : "s"}`)));
    if (all) box.append(mix(group.moves, all, group.colors), make("p", { className: "unseen" }, group.moves.map((move, k) => `${move} ${percent(all[k])}`).join(", ")));
    box.append(matrix.element);
    requestAnimationFrame(() => matrix.draw());
    return box;
  }

  /** Show the figures of a class of hands. */
  pointHands(group, cell) {
    this.detail.replaceChildren(
      make("h2", { className: "ex-key" }, `${this.who(group.player)}: ${cell.name}`),
      make("table", { className: "ex-exact", hidden: !group.moves.length },
        make("thead", {}, make("tr", {}, ...["Action", "Probability", ...(cell.ev ? ["Value"] : [])].map((name) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, ...group.moves.map((move, i) => make("tr", {}, make("th", { scope: "row", title: move, style: { "border-left": `4px solid ${colour(group.colors, i)}`, "padding-left": "7px" } }, move),
          make("td", {}, percent(cell.p?.[i], 2)), ...(cell.ev ? [make("td", {}, signed(cell.ev[i], 3))] : []))))),
      make("dl", { className: "ex-facts", style: { "margin-top": "8px" } },
        ...(cell.value === null ? [] : [make("dt", {}, "Value"), make("dd", {}, signed(cell.value, 4))]),
        ...shares(cell),
        make("dt", {}, "Hands"), make("dd", {}, cell.hands.join(" "))));
  }

  /** Follow a move to the next place. */
  down(group, k) {
    const step = this.node.steps.at(-1), move = group.moves[k];
    if (step.chosen !== null) return;
    const branch = step.branches.find((b) => b.label === move && (this.way !== "public" || b.by === group.player))
      ?? step.branches.find((b) => b.label.startsWith(`[${move}]`));
    if (branch) this.follow(this.node.steps.length - 1, branch.at);
    else say(`${move} leads on in several ways: choose above`);
  }

  point(group, row, k) {
    this.pointed = { group, row, k };
    const digits = group.range ? 2 : 5;
    const columns = [["Probability", (i) => percent(row.p?.[i], 2)]];
    if (this.other) columns.push(["Other", (i) => percent(row.q?.[i], 2)]);
    if (row.ev) columns.push(["Value", (i) => signed(row.ev[i], digits)], ["Regret", (i) => signed(row.regret[i], digits)]);
    this.detail.replaceChildren(
      make("h2", { className: "ex-key" }, `${this.who(group.player)}: ${group.range ? row.label : row.key}`),
      make("table", { className: "ex-exact", hidden: !group.moves.length },
        make("thead", {}, make("tr", {}, make("th", {}, "Action"), ...columns.map(([name]) => make("th", { scope: "col" }, name)))),
        make("tbody", {}, ...group.moves.map((move, i) => make("tr", {}, make("th", { scope: "row", title: move, style: { "border-left": `4px solid ${colour(group.colors, i)}`, "padding-left": "7px" } }, move),
          ...columns.map(([, of]) => make("td", {}, of(i))))))),
      make("dl", { className: "ex-facts", style: { "margin-top": "8px" } },
        ...(row.value === undefined ? [] : [make("dt", {}, "Value"), make("dd", {}, signed(row.value, group.range ? 3 : 6))]),
        ...shares(row),
        make("dt", {}, "Reached"), make("dd", {}, row.reach === null || row.reach === undefined ? "–" : percent(row.reach, 4)),
        ...(row.p ? [] : [make("dt", {}, "The policy"), make("dd", {}, "says nothing here: all moves alike")])));
    this.lockPanel.point(group, row);
  }

  drawTree() {
    this.treeBox.replaceChildren(wayTree(this.node.steps, this.who, (depth, branch) => this.follow(depth, branch.at), 318));
    this.treeBox.querySelector("g.ex-here:last-of-type")?.scrollIntoView?.({ block: "nearest" });
  }

  /** Wait for the exact values of a source and return them; null where there will be none. */
  async valuesOf(source, told) {
    while (!this.closed) {
      const found = await get("explore/values", { source });
      told(found.failed ? `No values: ${found.failed}` : found.line ? `Values: ${found.line} …` : "");
      if (found.failed || found.evaluation) return found.evaluation;
      await new Promise((done) => { setTimeout(done, 250); });
    }
    return null;
  }

  async followValues() {
    this.drawFigures();
    try {
      this.evaluation = await this.valuesOf(this.source, (text) => { this.valueLine.textContent = text; });
    } catch (error) {
      this.valueLine.textContent = error.message;
    }
    if (this.closed || !this.evaluation) return;
    this.drawFigures();
    this.drawMeasures();
    if (this.node && !this.node.valued) await this.load();
    if (this.measure === "difference") this.showDifferences();
  }

  async followOther() {
    this.otherEvaluation = null;
    const { other } = this;
    if (!other) return this.drawFigures();
    try {
      const found = await this.valuesOf(other, () => {});
      if (this.other !== other || this.closed) return;
      this.otherEvaluation = found;
      if (found) this.load();
    } catch (error) {
      this.trouble.replaceChildren(complaint(error.message));
    }
    this.drawFigures();
  }

  drawFigures() {
    const all = [this.evaluation, ...(this.other ? [this.otherEvaluation] : [])], { players, lock } = this.about;
    const held = (name) => Object.keys(lock[name] ?? {}).length > 0;
    const lines = players.flatMap((name, k) => [
      [`${name} is paid`, (e) => signed(e.values[k], 6)],
      [held(name) ? `${name} could gain if free` : `${name} could gain`, (e) => signed(e.free_gains[k], 6)],
    ]);
    lines.push([Object.keys(lock).length ? "Exploitability of the rest" : "Exploitability", (e) => e.exploitability.toPrecision(4)],
      ["Information sets", (e) => e.infosets.toLocaleString("en")], ["Histories", (e) => e.histories.toLocaleString("en")]);
    this.figures.replaceChildren(
      make("thead", { hidden: !this.other }, make("tr", {}, make("th", {}, ""), make("th", { scope: "col" }, "This"), make("th", { scope: "col" }, "Other"))),
      make("tbody", {}, ...lines.map(([name, of]) => make("tr", {}, make("th", { scope: "row" }, name), ...all.map((e) => make("td", {}, e ? of(e) : "–"))))));
  }

  async chooseOther() {
    const artifacts = (await get("artifacts")).filter((item) => item.kind === "run" || item.kind === "policy");
    const select = make("select", { aria: { label: "Compare with" } }, make("option", { value: "" }, "no other"),
      ...artifacts.map((item) => make("option", { value: `item:${item.name}`, selected: this.other === `item:${item.name}` }, item.name)));
    select.onchange = () => this.compareWith(select.value);
    this.compareBox.replaceChildren(make("label", {}, "Compare with ", select));
    this.compareBox.hidden = !this.compareBox.hidden;
    if (!this.compareBox.hidden) select.focus();
  }

  compareWith(other) {
    this.other = other;
    if (!other && this.measure === "difference") this.measure = "strategy";
    else if (other) this.measure = "difference";
    this.drawMeasures();
    this.load();
    this.followOther();
  }

  /** Show where the two strategies differ most, above the rows of the place. */
  async showDifferences() {
    if (!this.other) return;
    let found;
    try {
      found = await get("explore/differences", { source: this.source, other: this.other });
    } catch (error) {
      this.trouble.replaceChildren(complaint(error.message));
      return;
    }
    if (this.closed || this.measure !== "difference") return;
    this.differences?.remove();
    const rows = found.rows.slice(0, 12).filter((row) => row.apart > 1e-9);
    this.differences = make("section", { className: "ex-group" },
      make("h2", {}, "Largest differences", make("small", {}, found.weighed ? "by how likely the place is" : "reaches are not known yet"),
        make("small", {}, `mean ${percent(found.mean, 2)}, largest ${percent(found.largest, 2)}${found.missing ? `; ${found.missing.toLocaleString("en")} rows stand in one alone` : ""}`)),
      rows.length ? make("table", { className: "ex-matrix" },
        make("thead", {}, make("tr", {}, ...["Player", "Knows", "This", "Other"].map((name) => make("th", { scope: "col" }, name)), make("th", { className: "ex-last" }, "Apart"))),
        make("tbody", {}, ...rows.map((row) => make("tr", {},
          make("td", {}, this.who(row.player)), make("th", { scope: "row", title: row.key }, this.about.rows
            ? make("button", { className: "ex-plain", type: "button", onclick: () => this.goKey(row.player, row.key) }, row.key) : row.key),
          make("td", { style: { width: "24%" } }, mix(row.moves, row.p, row.colors, true)), make("td", { style: { width: "24%" } }, mix(row.moves, row.q, row.colors, true)),
          make("td", { className: "ex-last" }, percent(row.apart)))))) : make("p", { className: "ex-empty" }, "They play the same everywhere."));
    this.body.prepend(this.differences);
  }

  saveSvg() {
    const picture = pictured(this.matrices.map((m) => ({ group: m.group, rows: [...m.rows.entries()].sort((a, b) => a[0] - b[0]).map((e) => e[1]).slice(0, 60) })),
      this.measure, `${this.title}: ${MEASURES[this.measure].name.toLowerCase()} ${this.wayWords()}`, this.main);
    save("strategy.svg", [picture], "image/svg+xml");
  }

  /** Return the labels of the branches taken. */
  wayLabels() {
    return this.node.steps.filter((step) => step.chosen !== null).map((step) => step.branches.find((branch) => branch.at === step.chosen)?.label);
  }

  wayWords() {
    const words = this.wayLabels();
    return words.length ? `after ${words.join(", ")}` : "at the start";
  }

  key(event) {
    if (event.key === "/" && !typing(event)) {
      event.preventDefault();
      this.search.focus();
    } else if (event.key === "Escape" && event.target === this.search) {
      this.search.value = this.find = "";
      this.load(true);
    } else if (event.key === "Backspace" && !typing(event) && this.node) {
      event.preventDefault();
      this.up();
    }
  }
}
