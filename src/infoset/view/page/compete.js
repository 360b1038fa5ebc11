/* Tournaments: the ranking with its intervals, who beats whom, brackets; every number links to its games. */

import { get } from "./api.js";
import { complaint, go, say } from "./app.js";
import { bracket } from "./bracket.js";
import { agentTitle, agentTitles, gameTitle, make } from "./dom.js";
import { counted, nothing, pager, seats, way, when } from "./listing.js";

const WATCHED = 2000; // milliseconds between two requests for a tournament
const MOST_CELLS = 60; // teams of a cross table
const LIMIT = 40;
const UNKNOWN = 25; // the skill of an agent about which nothing is known
const MADE = 'infoset tournament kuhn_poker random "scripted(actions=[bet,bet])" --games 100 --db runs/kuhn.db';

export async function show(main, parameters) {
  if (!parameters.has("item")) return list(main);
  return ["a", "b", "meeting"].some((name) => parameters.has(name)) ? games(main, parameters) : standings(main, parameters.get("item"));
}

async function list(main) {
  const found = await get("items", { kind: "tournament", limit: 200 });
  main.append(make("div", { className: "view-head" }, make("h1", {}, "Compete"),
    make("span", { className: "muted" }, counted(found.total, "tournament"))));
  if (!found.total) {
    main.append(nothing("No tournament lies in the folders yet. This plays one, and keeps every game:", MADE));
    return;
  }
  const rows = found.items.map((item) => make("tr", {},
    make("th", { scope: "row" }, make("a", { href: way("compete", { item: item.name }) }, item.title)),
    make("td", { className: "muted right" }, when(item.changed, found.now)),
    item.problem ? make("td", { className: "muted wide", colSpan: 3 }, item.problem) : make("td", { className: "wide", title: item.game }, gameTitle(item.game)),
    ...(item.problem ? [] : [make("td", {}, counted(item.about.teams, "team")), make("td", { className: "muted" }, item.about.format || "round robin")])));
  main.append(make("div", { className: "panel scroll" }, make("table", { className: "list stacked" },
    make("thead", {}, make("tr", {}, ...["Tournament", "Played", "Game", "Teams", "Format"].map((word) => make("th", { scope: "col", className: word === "Played" ? "right" : "" }, word)))),
    make("tbody", {}, ...rows))));
}

/* The standings, redrawn while games are played */

async function standings(main, item) {
  let version = null, timer = 0, gone = false;
  const place = make("div");
  const news = make("p", { className: "muted", hidden: true });
  main.append(place, news);

  async function draw() {
    const found = await get("standings", { item });
    const kept = document.activeElement?.dataset.cell;
    version = found.version;
    place.replaceChildren(...parts(found, item));
    if (kept) place.querySelector(`[data-cell="${kept}"]`)?.focus({ preventScroll: true });
    return found;
  }

  async function look() {
    try {
      if (!document.hidden && (await get("standings/version", { item })).version !== version) {
        const found = await draw();
        say(`${counted(found.games, "game")} played; ${found.rows[0].team} leads`);
      }
      news.hidden = true;
    } catch (error) {
      news.hidden = false;
      news.textContent = error.message;
    }
    if (!gone) timer = setTimeout(look, WATCHED);
  }

  await draw();
  timer = setTimeout(look, WATCHED);
  return () => {
    gone = true;
    clearTimeout(timer);
  };
}

function parts(found, item) {
  const shown = [head(found), table(found)];
  if (found.meetings.length) shown.push(titled("Bracket", bracket(found, (meeting) => way("compete", { item, meeting }))));
  shown.push(titled("Who beats whom", cross(found, item)));
  if (found.skills.length) shown.push(titled("Skill of agents", skills(found.skills)));
  if (found.faults.length) shown.push(titled("Faults", faults(found.faults, item)));
  return shown.filter(Boolean);
}

const titled = (text, ...children) => make("section", { className: "part" }, make("h2", {}, text), ...children);

function head(found) {
  const form = found.format || "round robin";
  const bits = [gameTitle(found.game), form, `seed ${found.seed}`, found.note];
  const count = make("span", { className: `state ${found.running ? "running" : ""}` },
    found.left && found.format ? `${found.games.toLocaleString("en")} of at most ${counted(found.planned, "game")}`
      : `${counted(found.games, "game")}${found.running ? " so far" : ""}`);
  return make("div", { className: "view-head" }, make("h1", {}, found.title), count, make("span", { className: "muted" }, bits.join(" · ")),
    make("a", { href: way("compete") }, "All tournaments"));
}

const points = (value) => `${value < 0 ? "−" : "+"}${Math.abs(Math.round(value))}`;
const share = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)} %`);

/** Return a mean payoff with four significant digits and always its sign. */
const amount = (value) => `${value < 0 ? "−" : "+"}${Number(Math.abs(value).toPrecision(4))}`;

function table({ rows, rank }) {
  const names = agentTitles(rows.map(({ team }) => team));
  const paid = rank === "payoff";
  const ends = rows.map(({ low, rating, high, payoff }) => {
    if (!paid) return { low, middle: rating, high };
    const middle = payoff?.mean ?? 0, half = payoff?.margin ?? 0;
    return { low: middle - half, middle, high: middle + half };
  });
  const scale = scaled(ends.flatMap(({ low, high }) => [low, high]), 0);
  const won = rows.some((row) => row.won !== null);
  const heads = ["", "Team", ...(won ? ["Games won"] : []), "Score", "Rating", ...(paid ? ["Payoff", "95 % interval of the mean payoff"] : ["95 % interval, in Elo points about the mean"])];
  const body = rows.map((row, place) => make("tr", {},
    make("td", { className: "rank number" }, String(place + 1)),
    make("th", { scope: "row" }, make("span", { className: "team", title: row.team }, names[place])),
    ...(won ? [make("td", { className: "number right" }, (row.won ?? 0).toLocaleString("en"))] : []),
    make("td", { className: "number right score" }, share(row.score)),
    make("td", { className: "number right rating" }, points(row.rating)),
    ...(paid ? [make("td", { className: "number right payoff" }, row.payoff ? amount(row.payoff.mean) : "–")] : []),
    make("td", { className: "interval" }, interval(ends[place].low, ends[place].middle, ends[place].high, scale, paid ? amount : points))));
  return make("div", { className: "panel scroll" }, make("table", { className: "list standings" },
    make("caption", { className: "unseen" }, "Standings"),
    make("thead", {}, make("tr", {}, ...heads.map((word, k) => make("th", { scope: "col", className: k > 1 && k < heads.length - 1 ? "right" : "" }, word)))),
    make("tbody", {}, ...body)));
}

/** Map values to per cent of a track on which ``middle`` is marked. */
function scaled(values, middle) {
  const low = Math.min(...values, middle), high = Math.max(...values, middle), room = 0.02 * (high - low || 1);
  return Object.assign((value) => (100 * (value - low + room)) / (high - low + 2 * room), { middle });
}

/** Draw a bar from ``low`` to ``high`` with a dot, and the two numbers. */
function interval(low, middle, high, scale, text) {
  const bar = make("span", { className: "bar", style: { left: `${scale(low)}%`, width: `${scale(high) - scale(low)}%` } });
  const dot = make("span", { className: "dot", style: { left: `${scale(middle)}%` } });
  const zero = make("span", { className: "zero", style: { left: `${scale(scale.middle)}%` } });
  return make("span", { className: "span" },
    make("span", { className: "track", aria: { hidden: "true" } }, zero, bar, dot),
    make("span", { className: "number muted ends" }, `${text(low)} to ${text(high)}`));
}

function cross({ rows, cells, paid, rank, games: played }, item) {
  if (!played) return make("p", { className: "muted" }, "No game is over yet.");
  if (rows.length > MOST_CELLS) return make("p", { className: "muted" }, `${rows.length} teams; a cross table holds ${MOST_CELLS}.`);
  const names = agentTitles(rows.map(({ team }) => team));
  const heads = rows.map((row, k) => make("th", { scope: "col", title: row.team, aria: { label: row.team } }, String(k + 1)));
  const most = Math.max(1e-12, ...paid.flat().map((one) => Math.abs(one?.mean ?? 0)));
  const shown = rank === "payoff" ? "its mean payoff with the 95 % interval" : "its score, and games won / lost / tied";
  const body = rows.map((row, r) => make("tr", {},
    make("th", { scope: "row" }, make("span", { className: "rank number" }, String(r + 1)), make("span", { className: "team", title: row.team }, names[r])),
    ...cells[r].map((cell, c) => square(cell, paid[r][c], most, rows, r, c, item))));
  const element = make("table", { className: "cross", onkeydown: (event) => walk(event, element) },
    make("caption", { className: "muted" }, `The row against the column: ${shown}. A cell leads to its games.`),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Team"), ...heads)), make("tbody", {}, ...body));
  const first = element.querySelector("a");
  if (first) first.tabIndex = 0;
  return make("div", { className: "panel scroll crossing" }, element);
}

function square(cell, paid, most, rows, r, c, item) {
  if (cell === null) return make("td", { className: "none" }, make("span", { className: "unseen" }, "did not meet"));
  const [wins, losses, ties] = cell;
  const score = paid ? 0.5 + paid.mean / (2 * most) : (wins + ties / 2) / (wins + losses + ties);
  const large = paid ? amount(paid.mean) : `${Math.round(100 * score)} %`;
  const small = paid ? (paid.margin === null ? "" : `± ${Number(paid.margin.toPrecision(2))}`) : `${wins}/${losses}/${ties}`;
  const strength = Math.round(72 * Math.abs(2 * score - 1));
  const colour = `color-mix(in oklab, var(${score > 0.5 ? "--won" : "--lost"}) ${strength}%, var(--even))`;
  const link = make("a", {
    href: way("compete", { item, a: rows[r].number, b: rows[c].number }), tabIndex: -1,
    title: `${rows[r].team} against ${rows[c].team}`, dataset: { cell: `${r}.${c}` }, style: { background: colour },
    aria: { label: `${rows[r].team} against ${rows[c].team}: ${paid ? `${large} ${small}` : share(score)}, ${wins} won, ${losses} lost, ${ties} tied` },
  }, make("strong", {}, large), make("small", { className: "number" }, small));
  return make("td", {}, link);
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Move with the arrow keys from cell to cell, skipping empty ones. */
function walk(event, table) {
  const step = ARROWS[event.key], at = event.target.dataset.cell;
  if (!step || !at) return;
  event.preventDefault();
  let [r, c] = at.split(".").map(Number);
  for (let k = 0; k < MOST_CELLS; k += 1) {
    [r, c] = [r + step[0], c + step[1]];
    const next = table.querySelector(`[data-cell="${r}.${c}"]`);
    if (!next) continue;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    return;
  }
}

function skills(found) {
  const scale = scaled(found.flatMap(({ low, high }) => [low, high]), UNKNOWN);
  const text = (value) => value.toFixed(1);
  return make("div", { className: "panel scroll" }, make("table", { className: "list standings" },
    make("thead", {}, make("tr", {}, ...["Agent", "Games", "Skill", "95 % interval"].map((word, k) => make("th", { scope: "col", className: k === 1 || k === 2 ? "right" : "" }, word)))),
    make("tbody", {}, ...found.map(({ agent, games: count, skill, low, high }) => make("tr", {},
      make("th", { scope: "row" }, make("span", { className: "team", title: agent }, agentTitle(agent))),
      make("td", { className: "number right" }, count.toLocaleString("en")),
      make("td", { className: "number right rating" }, text(skill)),
      make("td", { className: "interval" }, interval(low, skill, high, scale, text)))))));
}

function faults(found, item) {
  const rows = found.map(({ team, kind, count, games: numbers, more, detail }) => make("tr", {},
    make("th", { scope: "row" }, make("span", { className: "team", title: team }, agentTitle(team))),
    make("td", { className: "number" }, `${count.toLocaleString("en")} ${kind}`),
    make("td", { className: "number wide" }, ...numbers.flatMap((number, k) => [k ? ", " : "", make("a", { href: way("watch", { item, match: number }) }, String(number))]), more ? `, and ${more.toLocaleString("en")} more` : ""),
    make("td", { className: "muted detail wide" }, detail)));
  return make("div", { className: "panel scroll" }, make("table", { className: "list stacked" },
    make("thead", {}, make("tr", {}, ...["Team", "Fault", "In games", "The first"].map((word) => make("th", { scope: "col" }, word)))),
    make("tbody", {}, ...rows)));
}

/* The games of a cell, or of a meeting */

async function games(main, parameters) {
  const asked = Object.fromEntries(["item", "a", "b", "meeting", "offset"].filter((name) => parameters.has(name)).map((name) => [name, parameters.get(name)]));
  const offset = Number(asked.offset ?? 0);
  const found = await get("played", { ...asked, limit: LIMIT });
  const names = ["a", "b"].filter((name) => Number(asked[name] ?? -1) >= 0).map((name) => found.teams[Number(asked[name])] ?? "?");
  const title = names.length ? names.join(" against ") : `Meeting ${asked.meeting}`;
  main.append(make("div", { className: "view-head" }, make("h1", {}, title),
    make("span", { className: "muted number" }, counted(found.total, "game")),
    make("a", { href: way("compete", { item: asked.item }) }, found.title)));
  if (!found.total) {
    main.append(complaint("No such game is over yet."));
    return;
  }
  const rows = found.games.map((game) => gameRow(game, found.teams, asked));
  main.append(make("div", { className: "panel scroll" }, make("table", { className: "list stacked games" },
    make("thead", {}, make("tr", {}, ...["Game", "Result", "Agents by seat", "Payoffs", "Faults"].map((word) => make("th", { scope: "col" }, word)))),
    make("tbody", {}, ...rows))));
  main.append(pager(found.total, offset, LIMIT, (to) => go("compete", { ...asked, offset: to })) ?? "");
}

function gameRow(game, teams, asked) {
  const { number, replay, agents, returns, result, winners, forfeited } = game;
  const name = replay ? make("a", { href: way("watch", { item: asked.item, match: number }) }, `Game ${number}`) : `Game ${number}`;
  const whole = Number(asked.a ?? -1) < 0;
  const text = forfeited.length ? `forfeited by ${forfeited.map((team) => agentTitle(teams[team])).join(", ")}`
    : result === "tied" ? "tied" : whole ? `${agentTitle(teams[winners[0]])} won` : result;
  const paid = returns?.map((value) => String(Number(value.toFixed(3))).replace("-", "−")).join(" / ") ?? "–";
  return make("tr", {}, make("th", { scope: "row" }, name),
    make("td", { className: `result ${whole || forfeited.length ? "" : result}` }, text),
    make("td", { className: "wide" }, seats(agents, returns)), make("td", { className: "number" }, paid),
    make("td", { className: "muted" }, game.faults.map(({ team, kind, count }) => `${count} ${kind} of ${agentTitle(team)}`).join(", ")));
}
