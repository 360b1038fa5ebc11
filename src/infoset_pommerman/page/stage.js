/* The player's stage for Pommerman: the board, the agents' supplies, the events. */

import { glyph, make } from "../dom.js";
import { Board, PLAIN, drawPortrait, drawSmall } from "./board.js";
import { BOMB, DOWN, Film, LEFT, RIGHT, RIGID, STOP, UP } from "./film.js";

const MOVES = {
  [STOP]: ["waits", "M7 12h10"],
  [UP]: ["goes up", "M12 19V5M6 11l6-6 6 6"],
  [DOWN]: ["goes down", "M12 5v14M6 13l6 6 6-6"],
  [LEFT]: ["goes left", "M19 12H5M11 6l-6 6 6 6"],
  [RIGHT]: ["goes right", "M5 12h14M13 6l6 6-6 6"],
  [BOMB]: ["lays a bomb", "M12 8a6 6 0 1 0 .01 0M15 8l3-4"],
};
const THINGS = {
  wood: "Wood", extra_bomb: "Another bomb", incr_range: "A longer blast", kick: "A boot to kick with",
};

/** See ``PictureStage`` for the interface of a stage. */
export class PommermanStage {
  constructor(recording) {
    this.film = new Film(recording);
    this.title = "Pommerman";
    this.game = recording.game.replace(/^pommerman:/, "");
    this.everything = "Whole board";
    this.moving = true; // agents breathe
    this.speed = 6;
    this.speeds = [1, 2, 4, 6, 10, 20, 40];
    this.toggles = [
      { name: "ranges", key: "b", label: "Blasts", title: "What the bombs will burn",
        lines: ["M12 2v7M12 15v7M2 12h7M15 12h7", "M12 10a2 2 0 1 0 .01 0"] },
      { name: "hides", key: "x", label: "Hidden", title: "What the wood hides",
        lines: ["M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7z", "M12 9.5a2.5 2.5 0 1 0 .01 0"] },
    ];
    this.canvas = make("canvas", { className: "board", aria: { role: "img", label: "The board" } });
    this.element = make("div", { className: "pommerman" }, this.canvas);
    this.board = new Board(this.canvas, this.film);
    this.look = { ...PLAIN };
    this.heads = [];
    this.icons = [];
  }

  get last() {
    return this.film.last;
  }

  step(index) {
    return this.film.frame(index).step;
  }

  push(raw, events = []) {
    this.film.push(raw);
    this.film.tell(events);
  }

  end(result) {
    Object.assign(this.film, result);
  }

  tint(agent) {
    return this.film.colors.day[`agent${agent}`];
  }

  /* The board */

  dress(night) {
    this.colors = this.film.colors[night ? "night" : "day"];
    this.board.dress(this.colors);
    for (const [name, icon] of this.icons) drawSmall(icon, [name], this.film, this.colors);
    for (const head of this.heads) this.drawHead(head);
  }

  fit() {
    this.board.fit(this.element.clientWidth, devicePixelRatio || 1);
  }

  paint(time, now, look) {
    Object.assign(this.look, look);
    this.board.paint(time, now, this.look);
  }

  say(text, view) {
    const whose = view === null ? "" : ` as ${this.film.players[view]} sees it`;
    this.canvas.setAttribute("aria-label", `The board${whose}. ${text}`);
  }

  /** Return the text about the cell under the pointer, and its position in CSS pixels from the canvas's corner. */
  point(x, y, index) {
    const cell = this.board.cellAt(x - this.canvas.offsetLeft, y - this.canvas.offsetTop);
    this.look.hover = cell;
    if (cell < 0) return null;
    const [left, top] = this.board.placeOf(cell);
    return { text: this.describe(cell, this.film.frame(index)), left: left + this.canvas.offsetLeft, top: top + this.canvas.offsetTop };
  }

  leave() {
    this.look.hover = -1;
  }

  describe(cell, frame) {
    const { film, look } = this;
    if (look.view !== null && !film.sees(look.view, cell, frame)) {
      return `${film.players[look.view]} does not see this`;
    }
    const here = [], named = (value) => value === RIGID ? "A wall" : THINGS[film.art.standing[value]];
    frame.agents.forEach((agent, k) => {
      if (agent.alive && agent.cell === cell) here.push(`${film.players[k]} (${film.agents[k]})`);
    });
    for (const { bomb, left } of film.fuses(frame, look.view).filter(({ bomb }) => bomb.cell === cell)) {
      const whose = bomb.owner === null ? "A bomb" : `${film.players[bomb.owner]}'s bomb`;
      const chain = left < bomb.life ? `, set off in ${left} by another one` : "";
      here.push(`${whose}: ${bomb.life} step${bomb.life === 1 ? "" : "s"} left${chain}, strength ${bomb.strength}`);
    }
    if (frame.flames.some((flame) => flame.cell === cell)) here.push("Flames");
    if (frame.ground[cell]) here.push(named(frame.ground[cell]));
    if (look.hides && look.view === null && frame.hidden[cell]) here.push(`hidden: ${named(frame.hidden[cell])}`);
    return here.join("\n");
  }

  /* The parts around the board */

  portrait(agent) {
    const head = { canvas: make("canvas"), agent, alive: true };
    this.heads.push(head);
    return head.canvas;
  }

  drawHead({ canvas, agent, alive }) {
    drawPortrait(canvas, agent, alive, this.film, this.colors);
  }

  /** Update the portraits, which show whether an agent is alive, except on the banner. */
  refreshHeads(index) {
    const { agents } = this.film.frame(index);
    for (const head of this.heads) {
      const alive = head.canvas.closest(".banner") !== null || Boolean(agents[head.agent].alive);
      if (alive === head.alive) continue;
      head.alive = alive;
      this.drawHead(head);
    }
  }

  /** Return the agent's supplies for its card. */
  status(agent) {
    const icon = (name) => {
      const canvas = make("canvas");
      this.icons.push([name, canvas]);
      return canvas;
    };
    const ammo = make("b"), blast = make("b"), kick = make("span", { title: "Can kick bombs" }, icon("kick"));
    const stock = make("span", { className: "stock" },
      make("span", { title: "Bombs at hand" }, icon("extra_bomb"), ammo),
      make("span", { title: "Blast strength" }, icon("incr_range"), blast), kick);
    const fate = make("span", { className: "stock" });
    const refresh = (index, view) => this.refreshStatus({ ammo, blast, kick, stock, fate }, agent, index, view);
    return { elements: [stock, fate], refresh };
  }

  /** Update the cards; in an agent's view they show only what that agent knows. */
  refreshStatus({ ammo, blast, kick, stock, fate }, k, index, view) {
    const { film } = this, frame = film.frame(index), agent = frame.agents[k], name = film.players[k];
    const own = view === null || view === k, seen = own || film.sees(view, agent.cell, frame);
    const heard = view === null || film.team(view).includes(k);
    ammo.textContent = own ? agent.ammo : "?";
    blast.textContent = own ? agent.blast : "?";
    kick.classList.toggle("off", !own || !agent.kick);
    const death = film.events.find(({ kind, agent: who, frame: at }) => kind === "death" && who === k && at <= index);
    stock.hidden = !agent.alive;
    fate.hidden = Boolean(agent.alive);
    fate.textContent = death ? `step ${this.step(death.frame)}: ${death.text.slice(name.length + 1)}` : "";
    const moved = agent.alive && seen && (frame.moves[k] ?? null) !== null;
    const [words, path] = moved ? MOVES[frame.moves[k]] : ["", ""];
    const said = heard && frame.words[k]?.some(Boolean) ? frame.words[k].join(" ") : "";
    const bubble = make("span", { className: "said", title: "On the radio", textContent: said });
    const has = own ? `${agent.ammo} bombs, blast strength ${agent.blast}${agent.kick ? ", can kick" : ""}` : "alive";
    return {
      move: [...said ? [bubble] : [], ...path ? [glyph(path)] : []],
      title: words,
      out: !agent.alive,
      label: [agent.alive ? has : "dead", words, said && `says ${said}`].filter(Boolean).join(", "),
    };
  }

  /** Return the lines of the log, which are the same in every view. */
  lines() {
    return this.film.events.map((event) => ({ ...event, player: event.agent, views: null }));
  }

  /** Return blasts as bars, deaths as dots in the colour of the dead, closing walls as lines. */
  marks() {
    const blasts = this.film.frames.flatMap((frame, k) => frame.blasts.length
      ? [{ frame: k, kind: "bar", color: "var(--blast)", high: Math.min(17, 4 + 3 * frame.blasts.length) }] : []);
    const others = this.film.events.flatMap(({ frame, kind, agent }) => {
      if (kind === "walls") return [{ frame, kind: "line", color: "var(--muted)" }];
      return kind === "death" ? [{ frame, kind: "dot", color: this.tint(agent) }] : [];
    });
    return [...blasts, ...others];
  }
}
