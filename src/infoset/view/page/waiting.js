/* Waiting for what is solved: the place in the queue, cancelling, trying again; and what is ready once its view was left. */

import { get, post } from "./api.js";
import { go, keep, say } from "./app.js";
import { make } from "./dom.js";

const latest = new Map(); // by what is asked for: who asked for it last
const FIRST = 60, LONGEST = 1500; // milliseconds between two questions, which grow by half

/** Ask for a solution, and show in ``box`` how far that is while ``here()`` holds.
 *
 * Returns the task once it is solved; null once the view was left: then a line below all views goes on with it, whose
 * button does ``open(task)``.
 */
export async function solved(asked, name, box, here, open) {
  const wait = new Waiting(asked, name);
  latest.get(wait.key)?.notice?.remove(); // it was left, and is asked for again
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

  /** Ask, and follow it while ``here()`` holds; the task as it stands then. */
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

  /** Whether somebody chose to try again, before the view was left. */
  tried(here) {
    this.stop.hidden = true;
    this.again.hidden = false;
    return new Promise((done) => {
      this.again.onclick = () => done(true);
      const look = () => (here() ? setTimeout(look, 500) : done(false));
      look();
    });
  }

  /** Its view was left: go on in a line below whatever is shown. */
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

/** Offer in a line below all views what was asked for in a view, or at a place of it, that was left since. */
export function ready(name, view, parameters) {
  const line = make("p", { className: "ex-progress" }), buttons = make("div", { className: "ex-buttons" });
  offer(left(name, line, buttons), name, line, buttons, () => go(view, parameters));
}
