/* Waiting for a solution: the place in the queue, cancelling, trying again; and results that arrive after the view was left. */

import { get, post } from "./api.js";
import { go, keep, say } from "./app.js";
import { make } from "./dom.js";

const latest = new Map(); // by the request: the last one to wait for it
const FIRST = 60, LONGEST = 1500; // milliseconds between two questions; the interval grows by half each time

/** Ask for a solution, and show the progress in ``box`` while ``here()`` holds.
 *
 * Returns the task once it is solved; null once the view was left: then a line below all views follows it, with a button
 * that calls ``open(task)``.
 */
export async function solved(asked, name, box, here, open) {
  const wait = new Waiting(asked, name);
  latest.get(wait.key)?.notice?.remove(); // the earlier view was left, and the same is asked again
  latest.set(wait.key, wait);
  box.replaceChildren(wait.element);
  let task = await wait.ask(here);
  while (here() && task.failed && await wait.tried(here)) task = await wait.ask(here);
  if (here()) return task;
  if (!task.failed) wait.leave(open);
  return null;
}

class Waiting {
  constructor(asked, name) {
    Object.assign(this, { asked, name, key: JSON.stringify(asked) });
    this.line = make("p", { className: "ex-progress", aria: { role: "status" } });
    this.stop = make("button", { type: "button", className: "ex-small", onclick: () => this.cancel() }, "Cancel");
    this.again = make("button", { type: "button", className: "ex-small" }, "Try again");
    this.buttons = make("div", { className: "ex-buttons" }, this.stop, this.again);
    this.element = make("div", {}, this.line, this.buttons);
  }

  /** Ask, and follow the task while ``here()`` holds; return the task in its last state. */
  async ask(here) {
    Object.assign(this, { task: null, cancelled: false });
    this.line.textContent = "Asking …";
    this.stop.hidden = false;
    this.again.hidden = true;
    return this.follow(here, async () => {
      this.task = await post("explore/solve", this.asked);
      if (this.cancelled) await this.cancel();
    });
  }

  async follow(here, begin = () => {}) {
    try {
      await begin();
      for (let pause = FIRST; !this.task.over && here(); pause = Math.min(1.5 * pause, LONGEST)) {
        this.line.textContent = `${this.task.line.replace(/^./, (sign) => sign.toUpperCase())} …`;
        await new Promise((done) => { setTimeout(done, pause); });
        if (!this.task.over) this.task = await get("explore/task", { task: this.task.task });
      }
    } catch (error) {
      this.task = { over: true, failed: error.message };
    }
    if (this.task.failed) this.line.textContent = `${this.task.failed.replace(/^./, (sign) => sign.toUpperCase()).replace(/([^.?!])$/, "$1.")}`;
    return this.task;
  }

  async cancel() {
    this.cancelled = true;
    if (this.task) this.task = await post("explore/cancel", { task: this.task.task }).catch(() => this.task);
  }

  /** Return whether the user chose to try again before leaving the view. */
  tried(here) {
    this.stop.hidden = true;
    this.again.hidden = false;
    return new Promise((done) => {
      this.again.onclick = () => done(true);
      const look = () => (here() ? setTimeout(look, 500) : done(false));
      look();
    });
  }

  /** Go on in a line below all views, since the view was left. */
  async leave(open) {
    if (latest.get(this.key) !== this) return; // a later view waits for the same
    const notice = this.notice = left(this.name, this.element);
    const task = await this.follow(() => true);
    if (task.failed === "cancelled") notice.remove();
    else if (task.failed) this.buttons.replaceChildren(shutting(notice));
    else offer(notice, this.name, this.line, this.buttons, () => open(task));
  }
}

function left(name, ...content) {
  const notice = make("section", { className: "panel left-behind", aria: { label: name } }, make("b", {}, name), ...content);
  keep(notice);
  return notice;
}

const shutting = (notice) => make("button", { type: "button", className: "ex-small", onclick: () => notice.remove(), aria: { label: "Close" } }, "×");

function offer(notice, name, line, buttons, open) {
  line.textContent = "Ready.";
  buttons.replaceChildren(make("button", { type: "button", className: "main ex-small", onclick: () => { notice.remove(); open(); } }, "Show it"), shutting(notice));
  say(`${name} is ready`);
}

/** Offer a result in a line below all views, since the view or place that asked for it was left. */
export function ready(name, view, parameters) {
  const line = make("p", { className: "ex-progress" }), buttons = make("div", { className: "ex-buttons" });
  offer(left(name, line, buttons), name, line, buttons, () => go(view, parameters));
}
