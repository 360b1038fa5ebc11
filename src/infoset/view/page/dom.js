/* Elements, numbers and keys: the basic functions of the other modules. */

const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Replace each character that hides or reorders text by "?", since names, moves and errors come from other people. */
const printable = (child) => typeof child === "string" ? child.replace(COMMANDS, "?") : child;

/** Make an element: ``make("button", {onclick, className: "main", dataset: {…}}, "text", child)``; never HTML from text. */
export function make(tag, properties = {}, ...children) {
  const { dataset, style, aria, ...rest } = properties;
  const element = Object.assign(document.createElement(tag), rest);
  Object.assign(element.dataset, dataset);
  for (const [name, value] of Object.entries(style ?? {})) element.style.setProperty(name, value);
  for (const [name, value] of Object.entries(aria ?? {})) {
    element.setAttribute(name === "role" ? name : `aria-${name}`, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map(printable));
  return element;
}

/** Make an SVG element with its attributes. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.map(printable));
  return element;
}

/** Make an icon for a button: one path in a box of 24 by 24. */
export function glyph(path) {
  return draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: path, fill: "none" }));
}

/** Return the focused element in the same tree: a widget has a shadow tree of its own. */
export const focused = (element) => element.getRootNode().activeElement;

/** Offer a file made of pieces for saving. */
export function save(name, pieces, type) {
  const url = URL.createObjectURL(new Blob(pieces, { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Return a payoff or value in the usual notation: ``+1``, ``−0.056``. */
export function signed(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const short = String(Math.abs(Number(value.toFixed(digits))));
  return Number(value.toFixed(digits)) === 0 ? "0" : `${value < 0 ? "−" : "+"}${short}`;
}

/** Return a share as a percentage. */
export function percent(value, digits = 1) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`;
}

/** Return a duration in readable units. */
export function lasting(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1e-3) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toPrecision(3)} ms`;
  return seconds < 60 ? `${seconds.toPrecision(3)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** Return a game's readable name: ``leduc_poker`` is Leduc poker, ``pommerman:OneVsOne-v0`` Pommerman: One Vs One v0. */
export function gameTitle(name) {
  const [, family, rest] = /^(?:([a-z]+):)?(.*)$/s.exec(name);
  if (rest.includes("/")) return lastPart(rest);
  const [, called, numbers] = /^([^(]*)(.*)$/s.exec(rest);
  if (family === "pommerman") {
    const spaced = called.replace(/^Pomme/, "").replace(/([a-z])([A-Z])|([A-Z])([A-Z][a-z])/g, "$1$3 $2$4");
    return `Pommerman: ${spaced.replace("-", " ")}${numbers}`;
  }
  return `${called.replaceAll("_", " ").replace(/^./, (sign) => sign.toUpperCase())}${numbers && ` ${numbers}`}`;
}

const lastPart = (path) => path.replace(/\/+$/, "").split("/").at(-1) || path;

/** Return an agent's name with the last part of its path: ``policy(path=/home/x/runs/leduc)`` becomes leduc; callers show the full name on hovering. */
export function agentTitle(name) {
  const kept = /^policy\(path=([^,()]*)\)$/.exec(name)?.[1] ?? name;
  return kept.includes("://") ? kept : kept.replace(/(^|[=,(:\s'"])(?:[\w.~+-]*\/)+(?=[\w.~+-])/g, "$1");
}

/** Return the names of ``agentTitle``, but in full where two agents would have the same. */
export function agentTitles(names) {
  const short = names.map(agentTitle);
  return short.map((name, k) => (short.some((other, j) => other === name && names[j] !== names[k]) ? names[k] : name));
}

/** Return the colour of a player or of move number k. */
export const hue = (k) => `var(--hue${k % 8})`;

/** Return whether a pressed key belongs to the focused element rather than to the page. */
export const typing = (event) => event.ctrlKey || event.metaKey || event.altKey
  || event.target.closest?.("input:not([type=range]), select, textarea") !== null;
