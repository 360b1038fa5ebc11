/* The player's stage for every game that is shown in pictures. */

import { hue, lasting, make, signed } from "../dom.js";
import { drawPicture } from "../pictures.js";

const FAULTS = { illegal: "an illegal move", late: "a late move", error: "an error" };

/**
 * The interface of a stage for the player: its ``element``, ``title`` and ``game``, the name of the view that shows
 * ``everything``, whether it is always ``moving``, ``speed``, ``speeds`` and ``toggles``; ``last``, the number of the last frame, and the
 * ``step`` of one; ``fit``, ``dress`` and ``paint``; and, for the parts around it, ``tint``, ``portrait``, ``status``,
 * ``lines`` and ``marks``.
 */
export class PictureStage {
  constructor(recording) {
    this.recording = recording;
    this.frames = [...recording.frames];
    this.title = recording.title ?? recording.game;
    this.game = recording.title === undefined ? "" : recording.game;
    this.everything = "Everything";
    this.moving = false;
    this.speed = 1;
    this.speeds = [0.5, 1, 2, 4, 10];
    this.toggles = [];
    this.element = make("div", { className: "pictures", tabIndex: 0, aria: { role: "group", label: "The game" } });
    this.shown = [];
  }

  get last() {
    return this.frames.length - 1;
  }

  step(index) {
    return index;
  }

  push(frame) {
    this.frames.push(frame);
  }

  end() {}

  tint(player) {
    return hue(player);
  }

  dress() {}

  fit() {}

  paint(time, now, { view }) {
    const index = Math.floor(time);
    if (this.shown[0] === index && this.shown[1] === view) return;
    this.shown = [index, view];
    const { whole, seen } = this.frames[index];
    const { players } = this.recording;
    this.element.replaceChildren(drawPicture(view === null ? whole : seen[view], { players, labels: true }));
  }

  say(text, view) {
    const whose = view === null ? "" : ` as ${this.recording.players[view]} knows it`;
    this.element.setAttribute("aria-label", `The game${whose}. ${text}`);
  }

  point() {
    return null;
  }

  leave() {}

  portrait(player) {
    const sign = this.recording.players[player].match(/^p(\d+)$/i)?.[1] ?? [...this.recording.players[player]][0] ?? "?";
    return make("span", { className: "coin", textContent: sign.toUpperCase(), style: { "--tint": this.tint(player) } });
  }

  refreshHeads() {}

  /** Return the last move of a player and its thinking time. */
  status(player) {
    const moved = make("span", { className: "latest" }), time = make("span", { className: "muted number" });
    const stock = make("span", { className: "stock" }, moved, time);
    return { elements: [stock], refresh: (index, view) => this.refreshStatus({ moved, time }, player, index, view) };
  }

  refreshStatus({ moved, time }, k, index, view) {
    const own = view === null || view === k, { returns } = this.recording, played = this.frames.slice(0, index + 1);
    const latest = own ? played.findLast((frame) => frame.moves[k] !== null) : undefined;
    const spent = played.reduce((sum, frame) => sum + (frame.seconds[k] ?? 0), 0);
    moved.textContent = latest ? latest.moves[k] : "–";
    time.textContent = spent ? `${lasting(spent)} in all` : "";
    const now = own && this.frames[index].moves[k] !== null;
    const pay = index === this.last && returns ? signed(returns[k]) : "";
    return {
      move: [make("b", { className: "number pay", textContent: pay })],
      title: pay && "Payoff",
      out: false,
      label: [now ? `plays ${latest.moves[k]}` : "", pay && `payoff ${pay}`].filter(Boolean).join(", "),
    };
  }

  /** Return everything that was played; and, for each player's view, the events that this player observed. */
  lines() {
    return this.frames.flatMap((frame, number) => linesOf(frame, number, this.recording.players));
  }

  /** Return moves as bars in the colours of their players, chance in grey; faults as dots. */
  marks() {
    return this.frames.flatMap((frame, number) => {
      const made = frame.moves.flatMap((move, k) => move === null ? [] : [k]);
      const bars = made.map((k, place) => ({ frame: number, kind: "bar", color: this.tint(k), high: 12, low: 4 * place }));
      if (!made.length && number) bars.push({ frame: number, kind: "bar", color: "var(--muted)", high: 6 });
      return [...bars, ...frame.faults.map(() => ({ frame: number, kind: "dot", color: "var(--bad)" }))];
    });
  }
}

function linesOf(frame, number, players) {
  const lines = [], line = (kind, player, text, more) => lines.push({ frame: number, kind, player, text, ...more });
  const everything = { views: [null] };
  frame.moves.forEach((move, k) => {
    if (move === null) return;
    line("move", k, `${players[k]}: ${move}`, { ...everything, note: frame.seconds[k] === null ? "" : lasting(frame.seconds[k]) });
  });
  if (frame.chance_outcome !== null) line("chance", null, `chance: ${frame.chance_outcome}`, everything);
  frame.descriptions.forEach((text, k) => {
    if (text !== null) line("told", k, text, { views: [k] });
  });
  for (const [player, kind, detail] of frame.faults) {
    line("fault", player, `${players[player]}: ${FAULTS[kind]}${detail ? ` (${detail})` : ""}`, { views: [null, player] });
  }
  return lines;
}
