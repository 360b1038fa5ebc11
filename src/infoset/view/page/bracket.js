/* A competition's meetings as a picture: a column per stage, winners' stages above losers'; a card links to its games. */

import { agentTitles, draw, make } from "./dom.js";

const WIDTH = 196, HEIGHT = 56, GAP = 26, BETWEEN = 28, TOP = 22, LETTERS = 18;

const short = (text) => (text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text);

/** ``where`` gives the address of a meeting by its number. */
export function bracket({ meetings, teams }, where) {
  const names = agentTitles(teams);
  const met = meetings.filter((meeting) => !meeting.teams.includes(-1));
  const places = placed(met);
  const right = Math.max(WIDTH, ...[...places.values()].map(([x]) => x + WIDTH));
  const bottom = Math.max(HEIGHT, ...[...places.values()].map(([, y]) => y + HEIGHT));
  const svg = draw("svg", { viewBox: `0 0 ${right + 4} ${bottom + 8}`, width: right + 4, height: bottom + 8, class: "bracket", role: "group", "aria-label": "Bracket" });
  for (const [from, to] of ways(met)) svg.append(line(places.get(from), places.get(to)));
  for (const meeting of met) svg.append(card(meeting, places.get(meeting.number), teams, names, where));
  const alone = meetings.filter(({ stage, teams: pair }) => stage.startsWith("round") && pair.includes(-1) && Math.max(...pair) >= 0);
  const notes = alone.map(({ stage, teams: pair }) => make("p", { className: "muted" }, `${stage}: ${names[Math.max(...pair)]} meets nobody.`));
  return make("div", { className: "panel scroll bracketing" }, svg, ...notes);
}

/** Return each card's position, by the number of its meeting. */
function placed(met) {
  const kind = ({ stage }) => (stage.startsWith("losers") ? "lower" : stage.startsWith("final") ? "final" : "upper");
  const { upper = [], lower = [], final = [] } = Object.groupBy(met, kind);
  const [found, middle] = columns(upper, TOP);
  const [more] = columns(lower, middle + 34);
  for (const [number, place] of more) found.set(number, place);
  const all = [...found.values()];
  const x = Math.max(-BETWEEN, ...all.map((place) => place[0] + WIDTH)) + BETWEEN;
  const y = all.length ? all.reduce((sum, place) => sum + place[1], 0) / all.length : TOP;
  final.forEach((meeting, k) => found.set(meeting.number, [x + k * (WIDTH + BETWEEN), y]));
  return found;
}

function columns(met, top) {
  const stages = Object.values(Object.groupBy(met, ({ stage }) => stage));
  const tall = Math.max(0, ...stages.map((stage) => stage.length)) * (HEIGHT + GAP);
  const found = new Map();
  stages.forEach((stage, column) => stage.forEach((meeting, row) => {
    found.set(meeting.number, [column * (WIDTH + BETWEEN), top + (tall / stage.length) * (row + 0.5) - HEIGHT / 2]);
  }));
  return [found, top + tall];
}

/** Return pairs of each meeting and the next one of its winner; rounds of a Swiss tournament have none. */
function ways(met) {
  return met.flatMap(({ number, winner, stage }, k) => {
    const after = winner >= 0 && !stage.startsWith("round") && met.slice(k + 1).find(({ teams }) => teams.includes(winner));
    return after ? [[number, after.number]] : [];
  });
}

function line([x, y], [toX, toY]) {
  const half = toX - BETWEEN / 2;
  return draw("path", { d: `M${x + WIDTH} ${y + HEIGHT / 2} H${half} V${toY + HEIGHT / 2} H${toX}`, class: "way-on" });
}

function card({ number, stage, teams: pair, wins, ties, winner }, [x, y], teams, names, where) {
  const name = (team) => (team >= 0 ? teams[team] : "to be known");
  const about = `${stage}: ${name(pair[0])} ${wins[0]}, ${name(pair[1])} ${wins[1]}${ties ? `, ${ties} tied` : ""}`;
  const group = draw("g", { transform: `translate(${x} ${y})` });
  group.append(draw("title"), draw("rect", { width: WIDTH, height: HEIGHT, rx: 9 }),
    draw("text", { y: -6, class: "stage" }, `${stage}${ties ? `, ${ties} tied` : ""}`));
  group.firstChild.textContent = about;
  pair.forEach((team, row) => {
    const state = winner < 0 ? "" : team === winner ? "through" : "out";
    group.append(
      draw("text", { x: 12, y: 22 + 23 * row, class: `name ${team < 0 ? "out" : state}` }, team < 0 ? name(team) : short(names[team])),
      draw("text", { x: WIDTH - 12, y: 22 + 23 * row, class: `wins ${state}`, "text-anchor": "end" }, String(wins[row])));
  });
  return pair.every((team) => team >= 0) && wins[0] + wins[1] + ties
    ? draw("a", { href: where(number), "aria-label": about }, group) : group;
}
