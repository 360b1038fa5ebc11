/* Pictures: what is to be seen of a game, from the data that ``infoset.view.pictures`` makes. */

import { draw, hue, make } from "./dom.js";

const RANKS = { T: "10", J: "Jack", Q: "Queen", K: "King", A: "Ace" };
const SUITS = {
  s: ["spades", "♠", "M12 2C9 7 3 10 3 15a4.6 4.6 0 0 0 7.6 3.4L9 22h6l-1.6-3.6A4.6 4.6 0 0 0 21 15c0-5-6-8-9-13z"],
  h: ["hearts", "♥", "M12 21C7 16.5 2.5 12.9 2.5 8.3A4.9 4.9 0 0 1 12 6.5a4.9 4.9 0 0 1 9.5 1.8C21.5 12.9 17 16.5 12 21z"],
  d: ["diamonds", "♦", "M12 2l7.5 10L12 22 4.5 12z"],
  c: ["clubs", "♣", "M12 2a4.4 4.4 0 0 0-3.6 7A4.5 4.5 0 1 0 10.7 16.6L9 22h6l-1.7-5.4A4.5 4.5 0 1 0 15.6 9 4.4 4.4 0 0 0 12 2z"],
};
const SUIT_OF = { ...Object.fromEntries(Object.entries(SUITS).map(([key, [, sign]]) => [sign, key])) };
const DISCS = ["red", "yellow", "white", "black", "blue", "green", "orange", "purple", "brown", "pink", "gray", "grey"];
/** Which of the nine places of a face have a pip, row by row. */
const PIPS = ["", "4", "26", "246", "0268", "02468", "023568", "0234568", "01235678", "012345678"];
const MANY_BACKS = 3;
const MANY_CHIPS = 8;

/** What draws each kind; other modules may add theirs: ``painters.pommerman = (picture, options) => element``. */
export const painters = { table, grid, facts, path, group };

/**
 * An element that shows a picture.  ``players`` are names, for their colours; ``labels`` are the words of the legal
 * moves; with ``onmove``, a function of a move's number, what names a move can be pressed.
 */
export function drawPicture(picture, { players = [], onmove = null, labels = [] } = {}) {
  const element = make("div", { className: "picture" });
  return updatePicture(element, picture, { players, onmove, labels });
}

/** Show another picture in the same place; what had the focus keeps it. */
export function updatePicture(element, picture, { players = [], onmove = null, labels = [] } = {}) {
  const focus = element.contains(document.activeElement) ? document.activeElement.dataset.place : undefined;
  element.replaceChildren(paint(picture, { players, onmove, labels }));
  if (focus !== undefined) element.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus();
  return element;
}

function paint(picture, options) {
  const painter = painters[picture.kind];
  return painter ? painter(picture, options) : make("p", { className: "muted" }, "Nothing to be seen.");
}

function group(picture, options) {
  return make("div", { className: "picture-group" }, ...picture.parts.map((part) => paint(part, options)));
}

// --- cards, dice and chips -----------------------------------------------------------------------------------------

function table(picture) {
  return make("dl", { className: "table" }, ...picture.areas.flatMap(area));
}

function area(here) {
  const owner = typeof here.player === "number";
  const title = make("dt", { className: owner ? "seat" : "" }, here.title);
  if (owner) title.style.setProperty("--hue", hue(here.player));
  const things = here.cards.map((name) => (here.as === "die" ? die(name) : card(name)));
  const shown = make("dd", { className: "hand" }, ...things, ...backs(here.hidden, here.as), ...chips(here.chips));
  return [title, shown, make("dd", { className: "note" }, here.note)];
}

/** A card as it is called: rank and suit (``Kh``), or whatever is written on it. */
function card(name) {
  const [, rank, mark] = /^(10|[2-9TJQKA])([shdc♠♥♦♣])?$/u.exec(name) ?? [];
  const suit = SUITS[SUIT_OF[mark] ?? mark];
  const short = rank === "T" ? "10" : rank ?? name;
  const label = suit ? `${RANKS[rank] ?? rank} of ${suit[0]}` : RANKS[rank] ?? name;
  const long = [...short].length > 3;
  const face = make("span", { className: `card${long ? " long" : ""}`, aria: { role: "img", label } });
  if (suit) {
    face.classList.toggle("red", "hd".includes(SUIT_OF[mark] ?? mark));
    face.append(
      make("span", { className: "corner" }, short),
      draw("svg", { viewBox: "0 0 24 24" }, draw("path", { d: suit[2] })),
    );
  } else face.append(make("span", { className: "centre" }, short));
  return face;
}

/** Face-down cards; many of them as a stack with their number. */
function backs(count, as) {
  if (!count) return [];
  const noun = as === "die" ? (count === 1 ? "hidden die" : "hidden dice") : `face-down card${count === 1 ? "" : "s"}`;
  const shown = Math.min(count, as === "die" ? 9 : MANY_BACKS + 2);
  const stack = make("span", { className: "backs", aria: { role: "img", label: `${count} ${noun}` } });
  for (let k = 0; k < shown; k += 1) stack.append(make("span", { className: as === "die" ? "die back" : "card back" }));
  if (count > shown) stack.append(make("span", { className: "times" }, `× ${count}`));
  return [stack];
}

function die(name) {
  const face = Number(name);
  if (!(face in PIPS) || !face) return card(name);
  const pips = [...PIPS[face]].map((place) =>
    draw("circle", { cx: 12 + 12 * (place % 3), cy: 12 + 12 * Math.floor(place / 3), r: 4.2 }));
  return make("span", { className: "die", aria: { role: "img", label: `a die showing ${face}` } },
    draw("svg", { viewBox: "0 0 48 48" }, ...pips));
}

function chips(count) {
  if (count === undefined || count === null) return [];
  const stack = make("span", { className: "chips", aria: { role: "img", label: `${count} chip${count === 1 ? "" : "s"}` } });
  for (let k = 0; k < Math.min(count, MANY_CHIPS); k += 1) stack.append(make("span", { className: "chip" }));
  stack.append(make("span", { className: "times number" }, String(count)));
  return [stack];
}

// --- boards --------------------------------------------------------------------------------------------------------

function grid(picture, options) {
  const { rows, columns, cells, title } = picture;
  const head = make("tr", {}, make("td"), ...columns.map((name) => make("th", { scope: "col" }, name)));
  const board = make("table", { className: "board" }, make("thead", {}, head));
  board.style.setProperty("--columns", columns.length);
  const body = make("tbody");
  rows.forEach((name, r) => {
    const line = make("tr", {}, make("th", { scope: "row" }, name));
    columns.forEach((column, c) => line.append(square(picture, r, c, `${name} ${column}`, options)));
    body.append(line);
  });
  board.append(body);
  if (title) board.prepend(make("caption", {}, title));
  return make("div", { className: "board-room" }, board);
}

function square(picture, r, c, name, { players, onmove, labels }) {
  const content = picture.cells[r][c];
  const move = picture.moves?.[`${r},${c}`];
  const shape = piece(content, players);
  const classes = `${(r + c) % 2 ? "odd" : ""}${content === "?" ? " unknown" : ""}`;
  if (move === undefined || !onmove) return make("td", { className: classes }, shape);
  const label = [labels[move] ?? name, content === "?" ? "" : content].filter(Boolean).join(", ");
  return make("td", { className: classes }, make("button", {
    type: "button", title: labels[move] ?? "", dataset: { place: `${r},${c}` }, aria: { label }, onclick: () => onmove(move),
  }, shape));
}

/** What stands in a cell: crosses and noughts, discs of a colour, or the words. */
function piece(content, players) {
  if (!content) return null;
  const seat = players.indexOf(content);
  const word = content.toLowerCase();
  const shape = /^(x|o)(player)?$/.exec(word)?.[1] ?? (DISCS.includes(word) ? "disc" : "");
  const span = make("span", { className: shape ? `piece ${shape}` : "piece words", aria: { label: content } });
  if (shape) span.setAttribute("role", "img");
  if (seat >= 0) span.style.setProperty("--hue", hue(seat));
  if (shape === "x") span.append(draw("svg", { viewBox: "0 0 24 24" }, draw("path", { d: "M5 5 19 19M19 5 5 19" })));
  else if (shape === "o") span.append(draw("svg", { viewBox: "0 0 24 24" }, draw("circle", { cx: 12, cy: 12, r: 7.5 })));
  else if (shape === "disc") span.style.setProperty("--disc", word);
  else {
    span.append(content);
    span.style.setProperty("--signs", Math.max(...content.split(/\s+/).map((part) => [...part].length), 1));
  }
  return span;
}

// --- facts and paths -----------------------------------------------------------------------------------------------

function facts(picture) {
  return make("dl", { className: "facts" }, ...picture.relations.flatMap(({ name, rows }) => [
    make("dt", {}, name),
    make("dd", {}, ...rows.map((row) => make("span", { className: "fact" }, row.join(" ") || "yes"))),
  ]));
}

function path(picture, { players, onmove, labels }) {
  const steps = picture.steps.map(({ who, move }) => {
    const seat = players.indexOf(who);
    const step = make("li", { className: seat < 0 ? who && "chance" : "seat" },
      who ? make("span", { className: "who" }, who) : null, make("span", {}, move));
    if (seat >= 0) step.style.setProperty("--hue", hue(seat));
    return step;
  });
  const moves = picture.moves.map((move, k) => make("li", { className: "offer" }, onmove
    ? make("button", { type: "button", dataset: { place: `move ${k}` }, onclick: () => onmove(k) }, labels[k] ?? move)
    : make("span", {}, move)));
  const parts = [make("ol", { className: "path" }, ...steps, ...moves)];
  if (picture.note) parts.push(make("pre", { className: "told" }, picture.note));
  return make("div", { className: "walk" }, ...parts);
}
