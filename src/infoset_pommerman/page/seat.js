/* The board of Pommerman as a player sees it: the picture of each tick, animated from the one before. */

import { make } from "../dom.js";
import { isNight, onTheme } from "../theme.js";
import { PommermanStage } from "./stage.js";

/** The board for one seat; ``setting`` holds its sprites and sizes, ``pace`` the ticks per second. */
export class SeatBoard {
  constructor(setting, seat, pace) {
    this.stage = new PommermanStage({ ...setting, frames: [] });
    this.seat = seat;
    this.pace = pace;
    this.came = 0;
    this.bar = make("p", { className: "stock", aria: { role: "status", live: "off" } });
    this.element = make("div", { className: "seat-board" }, this.stage.element, this.bar);
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.sizes = new ResizeObserver(() => this.stage.fit());
    this.sizes.observe(this.element);
    this.endTheme = onTheme(() => this.dress());
    requestAnimationFrame(() => this.begin());
  }

  begin() {
    this.dress();
    this.stage.fit();
    const tick = (now) => {
      if (this.stage.last >= 0) this.paint(now);
      this.ticking = requestAnimationFrame(tick);
    };
    this.ticking = requestAnimationFrame(tick);
  }

  dress() {
    this.stage.dress(isNight(this.element));
  }

  /** Add the picture of the next tick. */
  push(picture) {
    if (picture.kind !== "pommerman" || !picture.a) return;
    const { film } = this.stage;
    if (film.last >= 0 && film.frame(film.last).step >= picture.step) film.frames.length = 0; // another game
    film.push(picture);
    if (film.frames.length > 8) film.frames.splice(0, film.frames.length - 4); // past frames are not needed
    this.came = performance.now();
    const [alive, , ammo, blast, kick] = picture.a[this.seat];
    this.bar.textContent = alive
      ? `Bombs ${ammo ?? "?"} · blast ${blast ?? "?"}${kick ? " · kicks" : ""} · step ${picture.step}` : "You are out.";
  }

  paint(now) {
    const { last } = this.stage;
    const share = this.still.matches ? 1 : Math.min(1, (now - this.came) / 1000 * this.pace);
    const time = last ? last - 1 + share : 0;
    this.stage.paint(time, this.still.matches ? 0 : now / 1000, { view: this.seat });
  }

  close() {
    cancelAnimationFrame(this.ticking);
    this.sizes.disconnect();
    this.endTheme();
  }
}
