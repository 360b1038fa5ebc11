/* Pictures of games, drawn from the data that ``infoset.view.pictures`` makes. */

import { draw, hue, make } from "./dom.js";

const RANKS = { T: "10", J: "Jack", Q: "Queen", K: "King", A: "Ace" };
const SUITS = {
  s: ["spades", "♠", "M12 2C9 7 3 10 3 15a4.6 4.6 0 0 0 7.6 3.4L9 22h6l-1.6-3.6A4.6 4.6 0 0 0 21 15c0-5-6-8-9-13z"],
  h: ["hearts", "♥", "M12 21C7 16.5 2.5 12.9 2.5 8.3A4.9 4.9 0 0 1 12 6.5a4.9 4.9 0 0 1 9.5 1.8C21.5 12.9 17 16.5 12 21z"],
  d: ["diamonds", "♦", "M12 2l7.5 10L12 22 4.5 12z"],
  c: ["clubs", "♣", "M12 2a4.4 4.4 0 0 0-3.6 7A4.5 4.5 0 1 0 10.7 16.6L9 22h6l-1.7-5.4A4.5 4.5 0 1 0 15.6 9 4.4 4.4 0 0 0 12 2z"],
};
const SUIT_OF = { ...Object.fromEntries(Object.entries(SUITS).map(([key, [, sign]]) => [sign, key])) };
const DISCS = {
  red: "#d63c2e", yellow: "#f4bd2f", white: "#fdfcf7", black: "#12151c", blue: "#2f6fd0", green: "#35985a",
  orange: "#ee8a2c", purple: "#8252c4", brown: "#8a5a34", pink: "#e57fb0", gray: "#8b93a1", grey: "#8b93a1",
};
/** The colours of cards by their letters, which stand on the cards, too: the word, the fill, and whether ink on it is dark. */
const COLORS = {
  R: ["red", "#c9342a"], Y: ["yellow", "#f4bd2f", true], G: ["green", "#237a45"], W: ["white", "#fdfcf7", true], B: ["blue", "#2a63c0"],
};
const EYE = "M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zM12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6z";
const CHECKERED = 6;
/** The cells of a die's face that hold a pip, of nine, row by row. */
const PIPS = ["", "4", "26", "246", "0268", "02468", "023568", "0234568", "01235678", "012345678"];
const SEVERAL = 3;
const MANY = 5;
const MANY_BACKS = 5;
const MANY_CHIPS = 8;
const MANY_TOKENS = 10;

/** The function that draws each kind; other modules may add theirs: ``painters.pommerman = (picture, options) => element``. */
export const painters = { table, grid, payoffs, facts, path, group };

/**
 * Return an element that shows a picture.  ``players`` are names, for their colours; ``labels`` are the texts of the legal
 * moves; with ``onmove``, a function of a move's number, the parts that name a move can be pressed.
 */
export function drawPicture(picture, { players = [], onmove = null, labels = [] } = {}) {
  const element = make("div", { className: "picture" });
  return updatePicture(element, picture, { players, onmove, labels });
}

/** Show another picture in the same place; the focus stays where it was. */
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

/** Draw boards in a row, and everything else below them. */
function group(picture, options) {
  const drawn = picture.parts.map((part) => paint(part, options));
  const boards = drawn.filter((_, k) => picture.parts[k].kind === "grid");
  const others = drawn.filter((_, k) => picture.parts[k].kind !== "grid");
  const large = boards.filter((board) => !board.classList.contains("small"));
  const small = boards.filter((board) => board.classList.contains("small"));
  const row = make("div", { className: "boards" }, ...large);
  row.style.setProperty("--beside", Math.min(large.length, 2));
  if (small.length) row.append(make("div", { className: "aside" }, ...small));
  const first = picture.parts[0].kind === "grid";
  return make("div", { className: "group" }, ...(first ? [row, ...others] : [...others, ...(boards.length ? [row] : [])]));
}

// --- cards, dice and chips -----------------------------------------------------------------------------------------

function table(picture) {
  const tall = picture.areas.some((here) => here.below); // texts under the cards
  return make("dl", { className: `table${tall ? " tall" : ""}` }, ...picture.areas.flatMap(area));
}

function area(here) {
  const owner = typeof here.player === "number";
  const title = make("dt", { className: owner ? "seat" : "" }, here.title);
  if (owner) title.style.setProperty("--hue", hue(here.player));
  const things = here.cards.map((name, k) => thing(here, name, k));
  const count = things.length + here.hidden;
  const crowd = count > MANY ? " many" : count > SEVERAL ? " several" : "";
  const shown = make("dd", { className: `hand${crowd}` }, ...things, ...backs(here.hidden, here.as), ...chips(here.chips), ...(here.tokens ?? []).map(tokens));
  return [title, shown, make("dd", { className: "note" }, here.note)];
}

/** Draw one card or die of an area, with its mark and the texts below it. */
function thing({ as, below, marked }, name, k) {
  const drawn = (FACES[as] ?? card)(name);
  const told = (below?.[k] ?? []).filter(Boolean);
  const label = [drawn.getAttribute("aria-label"), marked?.includes(k) && "marked", told.length && `known: ${told.join(", ")}`];
  drawn.setAttribute("aria-label", label.filter(Boolean).join("; "));
  drawn.classList.toggle("marked", Boolean(marked?.includes(k)));
  if (!below) return drawn;
  return make("span", { className: "told" }, drawn, ...below[k].map((line) =>
    make("span", { className: "below", aria: { hidden: "true" } }, ...[...line].map((sign) => inColor(make("i", {}, sign), sign)))));
}

const FACES = { die, colored, stack, pile };

/** Give an element the colour of a letter; any other character leaves it as it is. */
function inColor(element, letter) {
  const [, fill, dark] = COLORS[letter] ?? [];
  if (!fill) return element;
  element.style.setProperty("--paper", fill);
  element.style.setProperty("--ink", dark ? "#1d2433" : "#ffffff");
  element.classList.add("filled");
  return element;
}

/** Draw a card with the letter of its colour and its rank, as ``R4``; ``?`` lies face down. */
function colored(name) {
  if (name === "?") return make("span", { className: "card back", aria: { role: "img", label: "a face-down card" } });
  const [letter, rank] = [name[0], name.slice(1)];
  return inColor(make("span", { className: "card", aria: { role: "img", label: `${COLORS[letter]?.[0] ?? letter} ${rank}` } },
    make("span", { className: "corner" }, letter), make("span", { className: "centre" }, rank)), letter);
}

/** Draw the cards of a colour up to a rank, as ``R4``, the highest on top; ``R0`` is an empty place. */
function stack(name) {
  const rank = Number(name.slice(1)), drawn = colored(name);
  drawn.classList.add("stack");
  drawn.classList.toggle("empty", !rank);
  if (!rank) drawn.setAttribute("aria-label", `${COLORS[name[0]]?.[0] ?? name[0]}: no card`);
  const edges = Array.from({ length: Math.max(0, rank - 1) }, (_, k) => [`0 ${-4 * k - 1}px 0 var(--edge)`, `0 ${-4 * k - 4}px 0 var(--paper)`]);
  if (edges.length) drawn.style.boxShadow = [...edges.flat(), `0 ${3 - 4 * rank}px 0 var(--edge)`].join(", ");
  return drawn;
}

/** Draw all cards of a colour, as ``R114``: the letter and the ranks. */
function pile(name) {
  const [letter, ...ranks] = name;
  return make("span", { className: "pile", aria: { role: "img", label: `${COLORS[letter]?.[0] ?? letter} ${ranks.join(", ")}` } },
    inColor(make("b", {}, letter), letter), ...ranks.map((rank) => make("span", {}, rank)));
}

/** Draw tokens that can be counted; those that are spent are pale. */
function tokens({ name, left, most, sign }) {
  const row = make("span", { className: "tokens", aria: { role: "img", label: `${left} of ${most} ${name}` } });
  if (most <= MANY_TOKENS) {
    for (let k = 0; k < most; k += 1) row.append(make("i", { className: k < left ? "" : "spent" }, sign));
  }
  row.append(make("span", { className: "times number" }, `${name} ${left}`));
  return row;
}

/** Draw a card by its name: rank and suit (``Kh``), or any other text. */
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

/** Draw face-down cards; many of them become a stack with their number. */
function backs(count, as) {
  if (!count) return [];
  const noun = as === "die" ? (count === 1 ? "hidden die" : "hidden dice") : `face-down card${count === 1 ? "" : "s"}`;
  const shown = Math.min(count, as === "die" ? 9 : MANY_BACKS);
  const stack = make("span", { className: "backs", aria: { role: "img", label: `${count} ${noun}` } });
  for (let k = 0; k < shown; k += 1) stack.append(as === "die" ? make("span", { className: "die back" }, "?") : make("span", { className: "card back" }));
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
  const { rows, columns, title, hexagons } = picture;
  const checkered = !hexagons && rows.length === columns.length && rows.length >= CHECKERED;
  const board = make("table", { className: ["board", picture.small && "small", checkered && "checkered", hexagons && "hexagons", hexagons < 0 && "leftward"].filter(Boolean).join(" ") });
  board.style.setProperty("--columns", columns.length + (hexagons ? (rows.length - 1) / 2 : 0));
  board.style.setProperty("--shifts", rows.length - 1);
  if (title) board.append(make("caption", {}, title));
  board.append(make("thead", {}, make("tr", {}, make("td"), ...columns.map((name) => make("th", { scope: "col" }, name)))));
  board.append(make("tbody"));
  squares(board, picture, options);
  return board;
}

/** Fill the cells; ``from`` is the cell at which a move between cells was begun. */
function squares(board, picture, options, from = null) {
  const slides = options.onmove ? picture.slides ?? {} : {};
  const begin = (place) => {
    squares(board, picture, options, place === from ? null : place);
    board.querySelector(`[data-place="${place}"]`).focus();
  };
  const lines = picture.rows.map((name, r) => make("tr", {}, make("th", { scope: "row" }, name),
    ...picture.columns.map((column, c) => {
      const place = `${r},${c}`;
      const move = slides[from]?.[place] ?? picture.moves?.[place];
      const press = options.onmove && move !== undefined ? () => options.onmove(move) : slides[place] && (() => begin(place));
      return square(picture.cells[r][c], options, {
        place, press, chosen: place === from, target: slides[from]?.[place] !== undefined,
        label: (move === undefined ? "" : options.labels[move]) || `${name} ${column}`,
      });
    })));
  lines.forEach((line, r) => {
    line.style.setProperty("--row", r);
    line.style.setProperty("--shift", picture.hexagons < 0 ? lines.length - 1 - r : r);
  });
  board.tBodies[0].replaceChildren(...lines);
}

function square(content, { players }, { place, press, chosen, target, label }) {
  const shape = piece(content, players);
  const marks = [content === "?" && "unknown", chosen && "chosen", target && "target"].filter(Boolean).join(" ");
  if (!press) return make("td", { className: marks }, shape);
  const said = [label, content].filter((text) => text && text !== "?").join(", ");
  return make("td", { className: marks }, make("button", {
    type: "button", title: label, dataset: { place }, aria: { label: said, ...(chosen && { pressed: "true" }) }, onclick: press,
  }, shape));
}

/** Draw the content of a cell: crosses and noughts, discs of a colour, a mark, or words. */
function piece(content, players) {
  if (!content) return null;
  const word = content.toLowerCase();
  const shape = /^(x|o)(player)?$/.exec(word)?.[1] ?? (word in DISCS ? "disc" : word === "●" ? "mark" : "");
  const seat = players.indexOf(content);
  if (!shape) return words(content, seat);
  const span = make("span", { className: `piece ${shape}`, aria: { role: "img", label: shape === "mark" ? "marked" : content } });
  if (seat >= 0) span.style.setProperty("--hue", hue(seat));
  if (shape === "disc") span.style.setProperty("--disc", DISCS[word]);
  if (shape === "x") span.append(draw("svg", { viewBox: "0 0 24 24" }, draw("path", { d: "M5 5 19 19M19 5 5 19" })));
  if (shape === "o") span.append(draw("svg", { viewBox: "0 0 24 24" }, draw("circle", { cx: 12, cy: 12, r: 7.5 })));
  return span;
}

/** Draw words as large as the cell allows; numbers stay on one line. */
function words(content, seat) {
  const lines = /[\d,]/.test(content) && content.length < 12 ? [content] : content.split(" ");
  const span = make("span", { className: "piece words" }, ...lines.map((line) => make("span", {}, line)));
  span.style.setProperty("--signs", Math.max(...lines.map((line) => [...line].length)));
  if (seat >= 0) span.style.setProperty("--hue", hue(seat));
  return span;
}

// --- tables of payoffs -----------------------------------------------------------------------------------------------

/** Draw a one-shot game: rows of the first player, columns of the second, a table for each choice of a third. */
function payoffs(picture, { onmove, labels }) {
  const { players, strategies, tables, chosen, mover, equilibria } = picture;
  const name = (player, k) => {
    const made = onmove && player === mover
      ? make("button", { type: "button", dataset: { place: `strategy ${k}` }, onclick: () => onmove(k) }, labels[k] ?? strategies[player][k])
      : make("span", {}, strategies[player][k]);
    made.style.setProperty("--hue", hue(player));
    made.classList.add("strategy");
    made.classList.toggle("chosen", chosen[player] === k);
    return made;
  };
  const owner = (player) => {
    const title = make("span", { className: "seat" }, players[player]);
    title.style.setProperty("--hue", hue(player));
    return title;
  };
  const drawn = tables.map(({ cells }, layer) => {
    const table = make("table", { className: "payoffs" });
    if (players.length > 2) table.append(make("caption", {}, owner(2), " ", name(2, layer)));
    table.append(make("thead", {},
      make("tr", {}, make("td"), make("th", { scope: "colgroup", colSpan: strategies[1].length }, owner(1))),
      make("tr", {}, make("th", { className: "corner" }, owner(0)), ...strategies[1].map((_, k) => make("th", { scope: "col" }, name(1, k))))));
    table.append(make("tbody", {}, ...cells.map((line, r) => make("tr", {}, make("th", { scope: "row" }, name(0, r)),
      ...line.map((cell, c) => {
        const here = [r, c, layer].every((k, player) => player >= players.length || chosen[player] === k);
        return payoffCell(cell, players, here);
      })))));
    return table;
  });
  const said = make("div", { className: "equilibria" },
    make("p", { className: "muted" }, "Underlined: a best response to the others' choices. Shaded: all are, an equilibrium."),
    ...(equilibria.length ? [make("h3", {}, equilibria[0]), make("ul", {}, ...equilibria.slice(1).map((line) => make("li", {}, line)))] : []));
  return make("div", { className: "payoff-tables" }, make("div", { className: "boards" }, ...drawn), said);
}

function payoffCell({ paid, best }, players, here) {
  const parts = paid.flatMap((text, player) => {
    const part = make(best[player] ? "b" : "span", { className: best[player] ? "best" : "" }, text);
    part.style.setProperty("--hue", hue(player));
    return player ? [make("i", {}, ","), part] : [part];
  });
  const words = players.map((who, player) => `${who} ${paid[player]}${best[player] ? ", a best response" : ""}`).join("; ");
  const marks = [best.every(Boolean) && "equilibrium", here && "here"].filter(Boolean).join(" ");
  return make("td", { className: marks, title: words }, ...parts);
}

// --- facts and paths -----------------------------------------------------------------------------------------------

function facts(picture) {
  return make("dl", { className: "facts" }, ...picture.relations.flatMap(({ name, rows }) => [
    make("dt", {}, name),
    make("dd", {}, ...rows.map((row) => make("span", { className: `fact${row[0] === "?" ? " unknown" : ""}` },
      row.join(" ") || "yes"))),
  ]));
}

function path(picture, { players, onmove, labels }) {
  const steps = picture.steps.map(({ who, move, at }) => {
    const seat = players.indexOf(who);
    const step = make("li", { className: seat >= 0 ? "seat" : who ? "chance" : "told", title: at ?? "" },
      who ? make("span", { className: "who" }, who) : draw("svg", { viewBox: "0 0 24 24", role: "img", "aria-label": "seen:" },
        draw("path", { d: EYE })), make("span", {}, move));
    if (seat >= 0) step.style.setProperty("--hue", hue(seat));
    return step;
  });
  const moves = picture.moves.map((move, k) => make("li", { className: "offer" }, onmove
    ? make("button", { type: "button", dataset: { place: `move ${k}` }, onclick: () => onmove(k) }, labels[k] ?? move)
    : make("span", {}, move)));
  const parts = [make("ol", { className: "steps" }, ...steps)];
  if (picture.note) parts.push(make(picture.note.includes("\n") ? "pre" : "p", { className: "note" }, picture.note));
  if (moves.length) parts.push(make("ul", { className: "steps offers", aria: { label: "moves" } }, ...moves));
  return make("div", { className: "path" }, ...parts);
}
