/* The router: the address after # names the view and its parameters, "#/explore?run=0/leduc". */

import { whenBusy } from "./api.js";
import { glyph, make } from "./dom.js";

const VIEWS = {
  "": () => import("./home.js"),
  play: () => import("./play.js"),
  watch: () => import("./watch_view.js"),
  explore: () => import("./explore.js"),
  compete: () => import("./compete.js"),
  curves: () => import("./curves.js"),
};
const THEMES = { light: "M12 3v2M12 19v2M3 12h2M19 12h2M12 8a4 4 0 1 0 .01 0", dark: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10" };

const tray = document.getElementById("tray");
let main = document.getElementById("main");
let shown = 0, leave = () => {};

/** Return the current place: ``{view, parameters}``. */
export function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path.split("/")[0], parameters: new URLSearchParams(query ?? "") };
}

/** Go to a view; with ``replace``, change the address without a history entry and without showing the view again. */
export function go(view, parameters = {}, replace = false) {
  const query = new URLSearchParams(parameters).toString();
  const hash = `#/${view}${query ? `?${query}` : ""}`;
  if (replace) history.replaceState(null, "", hash);
  else location.hash = hash;
}

/** Return a test of whether the current view is still shown: late results use it before they show or go anywhere. */
export function here() {
  const number = shown;
  return () => number === shown;
}

/** Keep an element below all views, whichever is shown. */
export function keep(element) {
  tray.append(element);
}

/** Announce a text to screen readers. */
export function say(text) {
  document.getElementById("news").textContent = text;
}

/** Return a line with an error or a missing thing, to be shown in the view. */
export function complaint(text, ...more) {
  return make("p", { className: "complaint", aria: { role: "alert" } }, text, ...more);
}

const wait = make("p", { className: "busy", aria: { role: "status" } }, "Many ask the server at once; trying again …");
whenBusy((whether) => { whether ? keep(wait) : wait.remove(); });

async function show() {
  const { view, parameters } = place();
  if (parameters.has("token")) {
    sessionStorage.setItem("token", parameters.get("token"));
    parameters.delete("token");
    go(view, parameters, true);
  }
  for (const link of document.querySelectorAll("#nav a")) {
    link.toggleAttribute("aria-current", false);
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
  }
  leave();
  leave = () => {};
  const number = ++shown, before = main;
  main = before.cloneNode(false); // the previous view keeps its own element, and cannot draw into this one
  before.replaceWith(main);
  main.className = `view-${view || "home"}`; // the style sheet of one view must not affect the others
  document.title = `${view ? `${view[0].toUpperCase()}${view.slice(1)} · ` : ""}infoset`;
  const load = VIEWS[view];
  if (!load) {
    main.append(complaint(`There is no view ${view}.`));
    return;
  }
  const mine = main;
  try {
    const module = await load();
    if (number !== shown) return;
    const left = (await module.show(mine, parameters)) ?? (() => {});
    if (number === shown) leave = left;
    else left();
  } catch (error) {
    mine.replaceChildren(complaint(error.message));
  }
}

function chooseTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("theme", theme);
  document.getElementById("theme").replaceChildren(glyph(THEMES[theme]));
  document.dispatchEvent(new CustomEvent("themechange"));
}

const dark = matchMedia("(prefers-color-scheme: dark)");
chooseTheme(localStorage.getItem("theme") ?? (dark.matches ? "dark" : "light"));
document.getElementById("theme").onclick = () => {
  chooseTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
};
addEventListener("hashchange", show);
show();
