/* The controls below the stage: the timeline with its marks, the buttons, the speed. */

import { draw, glyph, make } from "../dom.js";

const BASE = 28; // the upper edge of the track in the timeline

export class Deck {
  constructor(player) {
    this.player = player;
    const { keys, stage } = player;
    this.marks = draw("svg", { class: "marks", "aria-hidden": "true" });
    this.scrub = make("input", {
      type: "range", className: "scrub", min: 0, step: 1, value: 0, ariaLabel: "Step of the game",
      oninput: () => player.go(Number(this.scrub.value)),
    });
    const button = (name, path, title, onclick) => make("button",
      { type: "button", className: name, title, ariaLabel: title.replace(/ \(.*/, ""), onclick }, glyph(path));
    const play = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" },
      draw("path", { class: "go", d: "M8 5v14l11-7z" }), draw("path", { class: "hold", d: "M8 5v14M16 5v14" }));
    this.play = make("button", { type: "button", className: "main play", onclick: keys.k }, play);
    this.clock = make("output", { className: "clock number", ariaLive: "off" });
    this.toggles = stage.toggles.map((toggle) => ({ ...toggle, button: toggleButton(toggle, player) }));
    this.buttons = make("div", { className: "buttons" },
      button("first", "M6 5v14M19 6v12l-9-6z", "First step (Home)", keys.Home),
      button("back", "M16 6v12l-9-6z", "A step back (←)", keys.ArrowLeft),
      this.play,
      button("forth", "M8 6v12l9-6z", "A step on (→)", keys.ArrowRight),
      button("last", "M18 5v14M5 6v12l9-6z", "Last step (End)", keys.End),
      this.clock, make("span", { className: "gap" }), ...this.toggles.map(({ button: made }) => made), this.speeds());
    this.element = make("div", { className: "deck" },
      make("div", { className: "timeline" }, this.marks, this.scrub), this.buttons);
    this.build();
  }

  speeds() {
    const { player } = this;
    const values = [...new Set([...player.stage.speeds, player.speed])].sort((a, b) => a - b);
    this.speed = make("select", { ariaLabel: "Steps a second" },
      ...values.map((value) => make("option", { value, textContent: `${value}/s` })));
    this.speed.value = player.speed;
    this.speed.addEventListener("change", () => { player.speed = Number(this.speed.value); });
    return make("label", { className: "speed" }, make("span", { textContent: "Speed" }), this.speed);
  }

  quicken(way) {
    const { options, selectedIndex } = this.speed;
    if (!options[selectedIndex + way]) return;
    this.speed.selectedIndex += way;
    this.player.speed = Number(this.speed.value);
  }

  /** Draw the marks, and set the length of the timeline. */
  build() {
    const { last } = this.player.stage, at = (frame) => `${100 * frame / Math.max(1, last)}%`;
    this.scrub.max = last;
    const track = draw("rect", { class: "track", x: 0, y: BASE, width: "100%", height: 5, rx: 2.5 });
    this.marks.replaceChildren(track, ...this.player.stage.marks().map((mark) => drawMark(mark, at(mark.frame))));
  }

  refresh() {
    const { stage, at, playing, eyes } = this.player, step = stage.step(at), last = stage.step(stage.last);
    this.scrub.value = at;
    this.scrub.setAttribute("aria-valuetext", `step ${step} of ${last}`);
    this.clock.replaceChildren(make("b", { textContent: step }), ` / ${last}`);
    this.play.ariaLabel = this.play.title = playing ? "Pause (space)" : "Play (space)";
    for (const { name, button } of this.toggles) button.ariaPressed = Boolean(eyes[name]);
  }
}

function toggleButton({ name, key, label, title, lines }, player) {
  const picture = draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, ...lines.map((d) => draw("path", { d, fill: "none" })));
  const properties = { type: "button", title: `${title} (${key.toUpperCase()})`, ariaLabel: title, ariaPressed: "false" };
  return make("button", { className: `toggle ${name}`, ...properties, onclick: () => player.toggle(name) },
    picture, make("span", { textContent: label }));
}

/** Draw one mark on the timeline: a ``bar`` above the track, a ``line`` across it, or a ``dot``. */
function drawMark({ kind, color, high = 8, low = 0 }, x) {
  const mark = {
    bar: () => draw("rect", { x, y: BASE - high - low, width: 1.5, height: high, transform: "translate(-0.75)" }),
    line: () => draw("rect", { x, y: BASE - 20, width: 2, height: 25, transform: "translate(-1)" }),
    dot: () => draw("circle", { class: "dot", cx: x, cy: BASE - 21, r: 5 }),
  }[kind]();
  mark.style.setProperty("fill", color);
  return mark;
}
