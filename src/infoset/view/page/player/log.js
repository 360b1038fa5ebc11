/* The events, one per line; a click leads to the event's step. */

import { make } from "../dom.js";

export class Log {
  constructor(player) {
    this.player = player;
    this.list = make("ol", {});
    this.element = make("section", { className: "log panel", ariaLabel: "What happened" },
      make("h2", { textContent: "What happened" }), this.list);
    this.build();
  }

  build() {
    const { player } = this, { stage, recording } = player;
    const end = { frame: stage.last, kind: "end", player: null, text: recording.outcome, views: null };
    const lines = [...stage.lines(), ...player.options.live ? [] : [end]].sort((a, b) => a.frame - b.frame);
    this.lines = lines.map((line) => ({ ...line, element: this.line(line) }));
    this.list.replaceChildren(...this.lines.map(({ element }) => element));
    this.latest = null;
  }

  line({ frame, kind, player: who, text, note = "" }) {
    const { player } = this;
    const button = make("button", { type: "button", onclick: () => player.go(frame) },
      make("time", { textContent: player.stage.step(frame) }), make("i"), make("span", { textContent: text }),
      note ? make("small", { className: "number", textContent: note }) : null);
    return make("li", { className: kind, style: who === null ? {} : { "--tint": player.stage.tint(who) } }, button);
  }

  /** Return the texts about a frame in a view. */
  texts(at, view) {
    const told = ({ frame, kind, views }) => frame === at && kind !== "end" && (views?.includes(view) ?? true);
    return this.lines.filter(told).map(({ text }) => `${text}.`);
  }

  refresh() {
    const { at, eyes: { view }, playing, calm } = this.player;
    let latest = null;
    for (const { element, frame, views } of this.lines) {
      element.hidden = views !== null && !views.includes(view);
      element.classList.toggle("later", frame > at);
      element.classList.toggle("now", frame === at);
      if (frame <= at && !element.hidden) latest = element;
    }
    if (latest === this.latest) return;
    this.latest = latest;
    const top = latest ? latest.offsetTop - this.list.clientHeight * 0.6 : 0;
    this.list.scrollTo({ top, behavior: calm.matches || !playing ? "auto" : "smooth" });
  }
}
