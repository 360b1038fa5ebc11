/* The cards that may be dealt next in hold'em, coloured by what each changes. */

import { make, percent, signed } from "./dom.js";
import { colour } from "./matrix.js";

const RANKS = "AKQJT98765432";
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

/** The strip of cards; ``players`` are the names, ``chosen(card)`` follows a card. */
export class CardStrip {
  constructor(found, players, chosen) {
    Object.assign(this, { found, players, chosen });
    this.show = found.player;
    this.table = make("table", { className: "ex-cards", aria: { label: "Cards that may be dealt next" } });
    this.tools = make("div", { className: "ex-segments", aria: { role: "group", label: "What the colours show" } });
    this.legend = make("p", { className: "ex-legend muted" });
    this.element = make("div", {}, this.tools, this.table, this.legend);
    this.redraw();
  }

  redraw() {
    const { found, players } = this;
    const choices = [...players.map((name, k) => [k, `${name}'s EV`]), ...(found.p ? [["first", `${players[found.player]}'s first decision`]] : [])];
    this.tools.replaceChildren(...choices.map(([show, name]) => make("button", {
      type: "button", aria: { pressed: show === this.show }, onclick: () => { this.show = show; this.redraw(); },
    }, name)));
    const place = new Map(found.cards.map((card, k) => [card, k]));
    this.changes = this.show === "first" ? [] : found.after[this.show].map((value) => (value === null ? null : value - found.before[this.show]));
    this.most = Math.max(...this.changes.map((change) => Math.abs(change ?? 0)), 1e-12);
    this.table.replaceChildren(make("tbody", {}, ...Object.keys(SUITS).map((suit) => make("tr", {},
      ...Array.from(RANKS, (rank) => this.card(rank, suit, place.get(rank + suit)))))));
    this.legend.replaceChildren(...(this.show === "first"
      ? found.moves.map((move, k) => make("span", {}, make("i", { className: "ex-dot", style: { background: colour(found.colors, k) } }), move))
      : [make("span", {}, `EV ${signed(found.before[this.show], 2)} before the card; each card: what it adds, in chips`)]));
  }

  card(rank, suit, k) {
    const name = make("b", { className: "hd".includes(suit) ? "ex-red" : "" }, rank, make("span", {}, SUITS[suit]));
    if (k === undefined) return make("td", { className: "ex-none" }, name);
    const { found } = this;
    const words = [`${rank}${suit}`, ...this.players.map((player, p) => `${player} EV ${signed(found.after[p][k], 2)}`),
      ...(found.p ? [found.moves.map((move, i) => `${move} ${percent(found.p[k][i], 0)}`).join(", ")] : [])].join("; ");
    let fill = [], small = "";
    if (this.show === "first") {
      let left = 0;
      fill = found.p[k].map((share, i) => {
        const stripe = make("i", { style: { background: colour(found.colors, i), left: `${100 * left}%`, width: `${100 * share}%` } });
        left += share;
        return stripe;
      });
    } else if (this.changes[k] !== null) {
      const change = this.changes[k];
      fill = [make("i", { style: { background: change < 0 ? "var(--bad)" : "var(--good)", left: 0, width: "100%", opacity: String(0.75 * Math.abs(change) / this.most) } })];
      small = signed(change, Math.abs(change) < 9.95 ? 1 : 0);
    }
    return make("td", {}, make("button", { type: "button", title: words, aria: { label: words }, onclick: () => this.chosen(rank + suit) },
      ...fill, name, make("small", {}, small)));
  }
}
