/* The notebook's version of app.js: views replace one another in the same place, with a way back. */

import { make } from "../dom.js";

const been = [];
let frame = null, back = null, news = null, tray = null, show = null, shown = 0, leave = () => {};

/** Show ``what(main, parameters)`` in ``app``, and later places in the same way.  Returns a function that closes it. */
export function begin(app, what, parameters) {
  show = what;
  back = make("button", {
    type: "button", hidden: true, style: { "margin-bottom": "12px" }, onclick: () => { been.pop(); open(); },
  }, "← Back");
  frame = make("div", {});
  news = make("p", { className: "unseen", aria: { live: "polite" } });
  tray = make("div", { className: "view-explore" });
  app.append(back, frame, tray, news);
  go("explore", parameters);
  return () => { shown++; leave(); };
}

/** Show another place; with ``replace`` only record the current one. */
export function go(view, parameters = {}, replace = false) {
  if (replace) been.pop();
  been.push(parameters);
  if (!replace) open();
}

/** Return a test of whether the current view is still shown. */
export function here() {
  const number = shown;
  return () => number === shown;
}

/** Keep an element below whatever is shown. */
export function keep(element) {
  tray.append(element);
}

/** Announce a text to screen readers. */
export function say(text) {
  news.textContent = text;
}

/** Return a line with an error or a missing thing, to be shown in the view. */
export function complaint(text, ...more) {
  return make("p", { className: "complaint", aria: { role: "alert" } }, text, ...more);
}

async function open() {
  const number = ++shown, main = make("div", { className: "view-explore" });
  leave();
  leave = () => {};
  back.hidden = been.length < 2;
  frame.replaceChildren(main);
  try {
    const left = await show(main, new URLSearchParams(been.at(-1)));
    if (number === shown) leave = left;
    else left();
  } catch (error) {
    if (number === shown) main.replaceChildren(complaint(error.message));
  }
}
