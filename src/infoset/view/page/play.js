/* Play: the choice of a game and its agents, then the table from the view of one seat. */

import { get, line, mayWrite, post } from "./api.js";
import { complaint, go, here, say } from "./app.js";
import { agentTitle, gameTitle as title, hue, make, percent, signed, typing } from "./dom.js";
import { drawPicture, updatePicture } from "./pictures.js";
import { PACKAGES } from "./packages.js";
import { rulesPanel } from "./rules.js";
import { ready } from "./waiting.js";

const FAMILIES = {
  file: ["From your folders", "Files of games that lie in the folders that are served."],
  "": ["Cards, dice, matrices", "Small enough to be solved; played by the equilibrium."],
  gdl: ["Boards and bluffs in GDL-II", "Described by rules that anyone can read and change."],
  pommerman: ["Pommerman", "In real time, with the keyboard."],
};
const FAVOURITES = ["kuhn_poker", "leduc_poker", "liars_dice", "gdl:blind_tic_tac_toe", "gdl:meier",
  "pommerman:OneVsOne-v0"];
const YOU = "human";
const SHOWN = 3; // agents that are named for each reason why they cannot play
const KEYS = {
  ArrowUp: 1, KeyW: 1, ArrowDown: 2, KeyS: 2, ArrowLeft: 3, KeyA: 3, ArrowRight: 4, KeyD: 4, Space: 5,
};
const KEYBOARD = matchMedia("(hover: hover) and (min-width: 621px)");
const PAD = [["↑", "Up", 1], ["←", "Left", 3], ["●", "Bomb", 5], ["→", "Right", 4], ["↓", "Down", 2]];

const short = (name) => (name === YOU ? "person" : agentTitle(name));

/** Show the view. */
export async function show(main, parameters) {
  if (parameters.has("table")) return tableView(main, parameters);
  if (parameters.has("game") && parameters.has("against")) return openAtOnce(main, parameters);
  return parameters.has("game") ? setupView(main, parameters) : startView(main);
}

// --- which game ----------------------------------------------------------------------------------------------------

async function startView(main) {
  const [games, tables] = await Promise.all([get("games"), get("tables")]);
  const search = make("input", { type: "search", placeholder: "Search a game", aria: { label: "Search a game" } });
  const list = make("div", { className: "games" });
  const fill = () => {
    const word = search.value.trim().toLowerCase();
    const fits = games.filter(({ name, about, title: called = "" }) => `${name} ${called} ${about}`.toLowerCase().includes(word));
    const groups = word ? [] : [["To begin with", "", FAVOURITES.map((name) => games.find((game) => game.name === name))]];
    for (const [family, [head, about]] of Object.entries(FAMILIES)) {
      groups.push([head, about, fits.filter((game) => game.family === family)]);
    }
    const shown = groups.filter(([, , members]) => members.some(Boolean));
    list.replaceChildren(...shown.map(([head, about, members]) => make("section", {},
      make("h2", {}, head), about ? make("p", { className: "muted" }, about) : null,
      make("ul", { className: "cards" }, ...members.filter(Boolean).map(gameCard)))));
    if (!shown.length) list.append(make("p", { className: "muted" }, "No game is called so."));
  };
  search.oninput = fill;
  main.append(
    make("div", { className: "headline" }, make("h1", {}, "Play"), search),
    ...(tables.length ? [unfinished(tables)] : []),
    list,
  );
  fill();
}

function gameCard(game) {
  return make("li", {}, make("a", { className: "game panel", href: `#/play?game=${encodeURIComponent(game.name)}` },
    make("strong", {}, game.title || title(game.name)), make("span", { className: "muted" }, game.about)));
}

function unfinished(tables) {
  const rows = tables.map((table) => {
    const mine = sessionStorage.getItem(`seat:${table.table}`) !== null;
    const live = !table.people;
    const can = live || mine || table.free.length;
    const word = live ? "Watch" : mine ? "Go on" : table.free.length ? "Take a seat" : "Going on";
    const where = `#/${live ? "watch" : "play"}?table=${table.table}`;
    return make("li", {}, make("span", {}, make("strong", { title: table.game }, title(table.game)), " ",
      make("span", { className: "muted" }, table.agents.map(short).join(" – "))),
    can ? make("a", { href: where }, word) : make("span", { className: "muted" }, word));
  });
  return make("section", { className: "going panel" }, make("h2", {}, "Going on"), make("ul", {}, ...rows));
}

// --- who plays -----------------------------------------------------------------------------------------------------

async function setupView(main, parameters) {
  const name = parameters.get("game");
  const [game, games] = await Promise.all([get("game", { name }), get("games")]);
  const about = games.find((other) => other.name === name)?.about ?? "";
  const rival = game.solvable ? "equilibrium" : game.agents[0];
  const seats = game.players.map((player, seat) => seatRow(player, seat, game, seat ? rival : YOU));
  const practice = make("input", { type: "checkbox", id: "practice" });
  const seed = make("input", { type: "number", min: 0, step: 1, id: "seed", placeholder: "at random" });
  const pace = make("input", { type: "range", min: 2, max: 12, step: 1, value: 5, id: "pace" });
  const paceWords = make("output", { className: "number" }, "5 steps a second");
  pace.oninput = () => { paceWords.value = `${pace.value} steps a second`; };
  const start = make("button", { type: "submit", className: "main" }, "Play");
  const problem = make("p", { className: "problem", aria: { role: "alert" } });
  const chosen = () => seats.map(({ select }) => select.value);
  const look = () => {
    const people = chosen().filter((agent) => agent === YOU).length;
    practice.disabled = people !== 1;
    start.textContent = people ? "Play" : "Watch";
    copy.hidden = people !== 1;
  };
  const plan = () => ({
    game: name, agents: chosen(), practice: practice.checked && !practice.disabled,
    ...(seed.value === "" ? {} : { seed: Number(seed.value) }), ...(game.paced ? { pace: Number(pace.value) } : {}),
  });
  const copy = copyButton("Copy a link for a class", () => classLink(plan()));
  for (const { select } of seats) select.onchange = look;
  const form = make("form", { className: "setup panel" },
    make("div", { className: "seats" }, ...seats.map(({ row }) => row), ...notOffered(game)),
    make("div", { className: "options" },
      ...(game.paced ? [] : [make("label", { htmlFor: "practice", className: "check" }, practice, make("span", {}, "Practice ",
        make("span", { className: "muted" }, "– hints, and moves can be taken back")))]),
      ...(game.paced ? [make("label", { htmlFor: "pace" }, "Pace ", pace, paceWords)] : []),
      make("label", { htmlFor: "seed" }, "Seed ", seed)),
    make("div", { className: "begin" }, start, copy), problem);
  form.onsubmit = async (event) => {
    event.preventDefault();
    start.disabled = true;
    try {
      await opened(plan());
    } catch (error) {
      problem.textContent = error.message;
      start.disabled = false;
    }
  };
  main.append(make("div", { className: "choosing" }, make("a", { href: "#/play", className: "back" }, "← All games"),
    make("h1", { title: name }, game.title || title(name)), make("p", { className: "muted lead" }, about), form,
    rulesPanel(`game:${name}`, true)));
  if (!mayWrite()) form.before(complaint("To play, open the link that the server printed: it carries the token."));
  look();
  start.focus({ preventScroll: true });
}

function seatRow(player, seat, game, value) {
  const select = make("select", { id: `seat${seat}` });
  select.append(make("option", { value: YOU }, "A person"));
  if (game.solvable) select.append(make("option", { value: "equilibrium" }, "The equilibrium (solved now)"));
  select.append(group("Agents", game.agents));
  if (game.kept.length) select.append(group("From your folders", game.kept));
  select.value = value;
  const label = make("label", { htmlFor: `seat${seat}`, className: "player" }, player);
  label.style.setProperty("--hue", hue(seat));
  return { select, row: make("div", { className: "seat-row" }, label, select) };
}

/** Return the agents that are not in the lists, one line for each reason. */
function notOffered({ unfit, solvable, paced }) {
  const lines = unfit.map(({ why, names }) => {
    const shown = names.slice(0, SHOWN).map(short).join(", ");
    return `${shown}${names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ""}: ${why}`;
  });
  if (!solvable) lines.unshift(`The equilibrium: ${paced ? "not for games in real time" : "the game is too large to be solved while you wait"}`);
  if (!lines.length) return [];
  return [make("details", { className: "unfit muted" }, make("summary", {}, "Who is not offered, and why"),
    make("ul", {}, ...lines.map((line) => make("li", {}, line))))];
}

function group(label, names) {
  return make("optgroup", { label }, ...names.map((name) => make("option", { value: name }, short(name))));
}

/** Return one link for many visitors: each gets a table of its own. */
function classLink(plan) {
  const seat = plan.agents.indexOf(YOU);
  const others = plan.agents.filter((agent) => agent !== YOU);
  const query = new URLSearchParams({ game: plan.game, against: others.join("|") });
  if (seat) query.set("seat", seat + 1);
  if (plan.practice) query.set("practice", "1");
  query.set("token", sessionStorage.getItem("token") ?? "");
  return `${location.origin}/#/play?${query}`;
}

const ALONE = "Only this machine can open it: infoset serve --host 0.0.0.0 lets others in.";

/** Return a button that copies a link, with a note beside it where nobody else can open the link. */
function copyButton(text, link) {
  const button = make("button", { type: "button" }, text), note = make("span", { className: "muted", aria: { role: "status" } });
  button.onclick = async () => {
    if (/^(localhost|127\.|\[::1\])/.test(location.hostname)) {
      button.after(note);
      note.textContent = ALONE;
    }
    try {
      await navigator.clipboard.writeText(link());
      button.textContent = "Copied";
    } catch {
      prompt("Copy this link:", link());
    }
    setTimeout(() => { button.textContent = text; }, 1500);
  };
  return button;
}

async function openAtOnce(main, parameters) {
  main.append(make("p", { className: "muted" }, "Setting the table…"));
  const name = parameters.get("game"), still = here();
  const others = parameters.get("against").split("|");
  const game = await get("game", { name });
  const agents = Array.from({ length: game.players.length - 1 }, (_, k) => others[k] ?? others[0]);
  const seat = Math.min(Math.max(Number(parameters.get("seat") ?? 1) - 1, 0), agents.length);
  agents.splice(seat, 0, YOU);
  const seed = parameters.get("seed");
  await opened({ game: name, agents, practice: parameters.has("practice"), ...(seed ? { seed: Number(seed) } : {}) }, true, still);
}

/** Open a table and go to it; where another view is shown by then, only announce it. */
async function opened(plan, replace = false, still = here()) {
  const { table, chair, key } = await post("tables", plan);
  if (key) sessionStorage.setItem(`seat:${table}`, JSON.stringify({ chair, key }));
  const view = plan.agents.includes(YOU) ? "play" : "watch";
  if (!still()) ready(`Your table of ${title(plan.game)}`, view, { table });
  else if (replace) location.replace(`#/${view}?table=${table}`);
  else go(view, { table });
}

// --- the table -----------------------------------------------------------------------------------------------------

async function tableView(main, parameters) {
  const id = parameters.get("table");
  if (parameters.has("key")) {
    sessionStorage.setItem(`seat:${id}`, JSON.stringify({ key: parameters.get("key") }));
    go("play", { table: id }, true);
  }
  if (!sessionStorage.getItem(`seat:${id}`)) {
    sessionStorage.setItem(`seat:${id}`, JSON.stringify(await post(`tables/${id}/seat`)));
  }
  const table = new Table(main, id, JSON.parse(sessionStorage.getItem(`seat:${id}`)).key);
  return () => table.close();
}

class Table {
  constructor(main, id, key) {
    this.id = id;
    this.view = null;
    this.sent = "";
    this.picture = make("div", { className: "seen" });
    this.moves = make("div", { className: "moves", aria: { role: "group", label: "Your moves" } });
    this.note = make("p", { className: "note", aria: { role: "status" } }, "Setting the table…");
    this.seats = make("ol", { className: "who" });
    this.sitting = make("p", { className: "sitting muted", hidden: true });
    this.log = make("ol", { className: "log", aria: { label: "What happened to you" } });
    this.past = make("section", { className: "past" }, make("h2", {}, "What happened to you"), this.log);
    this.actions = make("div", { className: "actions" });
    this.end = make("section", { className: "end", hidden: true, aria: { label: "The end" } });
    this.name = make("h1", {}, "…");
    this.rules = make("div", {});
    this.pad = this.makePad();
    this.invite = copyButton("Invite", () => `${location.origin}/#/play?table=${id}&token=${sessionStorage.getItem("token") ?? ""}`);
    main.append(make("div", { className: "table-view" },
      make("section", { className: "stage panel", aria: { label: "What you see" } },
        this.picture, this.end, this.note, this.moves, this.pad),
      make("aside", { className: "side panel" },
        make("div", { className: "head" }, make("a", { href: "#/play", className: "back" }, "← All games"), this.name),
        this.seats, this.sitting, this.past, this.rules, this.actions)));
    this.line = line(`tables/${id}`, (message) => this.heard(message), (stands) => this.stands(stands), { key });
    this.keys = (event) => this.keyed(event);
    this.ups = (event) => this.released(event);
    addEventListener("keydown", this.keys);
    addEventListener("keyup", this.ups);
  }

  close() {
    this.line.close();
    this.board?.then((board) => board.close());
    removeEventListener("keydown", this.keys);
    removeEventListener("keyup", this.ups);
  }

  stands(stands) {
    this.note.classList.toggle("broken", !stands);
    if (!stands) this.note.textContent = "The server cannot be reached; the game goes on as soon as it can.";
    else if (this.view) this.update(this.view);
  }

  heard(message) {
    if (message.kind === "seat") this.update(message);
    else if (message.kind === "preparing") {
      this.introduce(message.game, title(message.game));
      this.note.replaceChildren(`One moment: ${message.what}… `,
        make("button", { type: "button", onclick: () => this.send({ leave: true }) }, "Cancel"));
    } else if (message.kind === "failed") {
      this.note.replaceChildren(`${message.why.replace(/^./, (sign) => sign.toUpperCase())}. `,
        make("a", { href: `#/play?${new URLSearchParams({ game: message.game })}` }, "Try again"));
    }
    else if (message.kind === "hint") this.hinted(message);
    else if (message.kind === "closed") {
      this.line.close();
      sessionStorage.removeItem(`seat:${this.id}`);
      this.note.replaceChildren(message.why, ". ", make("a", { href: "#/watch" }, "Look among the replays"));
    } else this.note.textContent = `${message.why}.`;
  }

  send(message) {
    this.line.send(message);
  }

  /** Name the game, with its rules beside it, even while it is still being solved. */
  introduce(game, words) {
    if (this.name.textContent !== words) this.name.textContent = words;
    if (this.game === game) return;
    this.game = game;
    this.rules.replaceChildren(rulesPanel(`game:${game}`));
  }

  update(view) {
    const before = this.view;
    const { public: open, seat, end } = view;
    this.view = view;
    this.introduce(open.game, open.title || title(open.game));
    document.title = `${open.title || title(open.game)} · infoset`;
    this.showSeats(open, seat, end);
    if (open.pace) this.showBoard(view);
    else this.showPicture(view, before);
    this.showLog(view);
    this.showMoves(view);
    this.showEnd(view);
    this.showActions(view);
    this.picture.classList.toggle("turn", view.legal_actions.length > 0 && !end && !open.pace);
  }

  showPicture(view, before) {
    const { public: open } = view;
    const options = {
      players: open.players, labels: view.legal_actions, onmove: view.legal_actions.length && !open.pace ? (k) => this.move(k) : null,
    };
    const picture = view.end?.whole ?? view.picture; // at the end all cards are face up
    if (before === null) this.picture.replaceChildren(drawPicture(picture, options));
    else updatePicture(this.picture.firstElementChild, picture, options);
  }

  async showBoard({ public: open, seat, picture }) {
    this.board ??= get(`tables/${this.id}/board`).then((setting) => {
      const board = new PACKAGES[setting.kind].Seat({ ...setting, agents: open.agents }, seat, open.pace);
      this.picture.replaceChildren(board.element);
      return board;
    });
    (await this.board).push(picture);
  }

  showSeats(open, seat, end) {
    const several = open.played > 1 || (open.played && !end);
    const agents = this.view.picture.a ?? [];
    const out = (k) => Boolean(agents[k]) && !agents[k][0];
    this.sitting.hidden = !several;
    this.sitting.textContent = several ? `Score of ${open.played} game${open.played === 1 ? "" : "s"}, on the right` : "";
    this.seats.replaceChildren(...open.players.map((player, k) => {
      const who = k === seat ? "you" : short(open.agents[k]);
      const row = make("li", { className: k === seat ? "you" : "" }, make("strong", {}, player),
        make("span", { className: "muted", title: open.agents[k] }, who),
        out(k) ? make("span", { className: "out" }, "out") : null,
        end ? make("span", { className: "pay number", title: "in this game" }, signed(end.returns[k])) : null,
        several ? make("span", { className: "score number", title: `in ${open.played} games` }, signed(open.score[k])) : null);
      row.classList.toggle("gone", out(k));
      row.style.setProperty("--hue", hue(k));
      return row;
    }));
  }

  showLog(view) {
    this.past.hidden = Boolean(view.public.pace);
    const near = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 40;
    this.log.replaceChildren(...view.descriptions.map((words) => make("li", {}, words)));
    if (!view.descriptions.length) this.log.append(make("li", { className: "muted" }, "Nothing yet."));
    if (near) this.log.scrollTop = this.log.scrollHeight;
  }

  showMoves(view) {
    const { public: open, legal_actions, end } = view;
    const paced = Boolean(open.pace);
    this.pad.hidden = !paced || end !== null;
    if (paced) {
      this.moves.replaceChildren();
      this.note.textContent = end || !KEYBOARD.matches ? "" : this.running ? "Arrow keys or WASD to go, space for a bomb."
        : "It goes on with P, or with your first move.";
      return;
    }
    this.moves.classList.toggle("many", legal_actions.length > 6);
    this.moves.replaceChildren(...legal_actions.map((words, k) => make("button", {
      type: "button", className: "move", dataset: { move: k }, onclick: () => this.move(k),
    }, make("span", { className: "share" }), make("span", { className: "words" }, words),
    k < 9 ? make("kbd", { aria: { hidden: "true" } }, String(k + 1)) : null)));
    const words = end ? "" : legal_actions.length ? "Your move" : "Waiting for the others…";
    if (this.note.textContent !== words) this.note.textContent = words;
  }

  move(k) {
    if (this.sent === this.view.turn || k >= this.view.legal_actions.length) return;
    this.sent = this.view.turn;
    setTimeout(() => { this.sent = ""; }, 400);
    this.send({ action: k, turn: this.view.turn });
  }

  showEnd(view) {
    const { end, public: open, seat } = view;
    this.end.hidden = end === null;
    if (end === null) {
      this.end.replaceChildren();
      return;
    }
    const mine = end.returns[seat];
    const head = !end.over ? "You left" : mine > 0 ? "You won" : mine < 0 ? "You lost" : "A draw";
    const again = make("button", { type: "button", className: "main", onclick: () => this.send({ again: "same" }) }, "Again ");
    again.append(make("kbd", {}, "N"));
    const table = end.costs.length ? costTable(end.costs) : null;
    this.end.replaceChildren(
      make("h2", {}, head, " ", make("span", { className: "number" }, end.over ? signed(mine).replace(/^[+−]/, "") : signed(mine))),
      make("div", { className: "actions" }, again,
        make("button", { type: "button", onclick: () => this.send({ again: "swapped" }) }, "Swap seats"),
        make("a", { className: "button", href: `#/watch?item=${encodeURIComponent(end.item)}` }, "Watch it again")),
      ...(table ? [table] : []));
    say(`${head}: ${open.players.map((player, k) => `${player} ${signed(end.returns[k])}`).join(", ")}`);
  }

  showActions(view) {
    const { public: open, end } = view;
    const button = (words, key, onclick, disabled = false) => {
      const made = make("button", { type: "button", onclick, disabled }, words);
      if (key) made.append(make("kbd", { aria: { hidden: "true" } }, key));
      return made;
    };
    const parts = [];
    if (open.pace && !end) {
      parts.push(button(this.running ? "Pause" : "Start", "P", () => this.run(!this.running)));
      if (!this.running) parts[0].classList.add("main");
    }
    if (open.practice && !end && !open.pace) {
      parts.push(button("Hint", "H", () => this.send({ hint: "auto" }), !view.legal_actions.length),
        button("Take back", "U", () => this.send({ undo: true }), !view.descriptions.length));
    }
    if (open.agents.filter((agent) => agent === YOU).length > 1) parts.push(this.invite);
    if (!end) parts.push(button("Leave", "", () => this.send({ leave: true })));
    const focus = this.actions.contains(document.activeElement) ? [...this.actions.children].indexOf(document.activeElement) : -1;
    this.actions.replaceChildren(...parts);
    if (focus >= 0) this.actions.children[focus]?.focus();
  }

  hinted({ turn, probabilities }) {
    if (turn !== this.view.turn) return;
    for (const button of this.moves.children) {
      const chance = probabilities[Number(button.dataset.move)];
      button.classList.add("hinted");
      button.style.setProperty("--chance", chance);
      button.querySelector(".hint")?.remove();
      button.append(make("span", { className: "hint number" }, percent(chance)));
    }
    say(`Hint: ${this.view.legal_actions.map((words, k) => `${words} ${percent(probabilities[k])}`).join(", ")}`);
  }

  // --- in real time

  makePad() {
    const pad = make("div", { className: "pad", hidden: true, aria: { role: "group", label: "Move" } });
    for (const [sign, label, action] of PAD) {
      const key = make("button", { type: "button", className: `pad${action}`, aria: { label } }, sign);
      key.onpointerdown = (event) => {
        event.preventDefault();
        key.setPointerCapture(event.pointerId);
        this.press(action);
      };
      key.onpointerup = key.onpointercancel = () => this.release(action);
      pad.append(key);
    }
    return pad;
  }

  run(running) {
    this.running = running;
    this.send({ go: running });
    if (this.view) this.update(this.view);
  }

  press(action) {
    if (!this.running) this.run(true);
    this.send({ press: this.numberOf(action) });
  }

  release(action) {
    this.send({ release: this.numberOf(action) });
  }

  /** Return the number of a move; with radio, each move is listed once for every message. */
  numberOf(action) {
    return action * Math.max(1, Math.floor(this.view.legal_actions.length / 6));
  }

  keyed(event) {
    if (typing(event) || !this.view) return;
    const { legal_actions, end, public: open } = this.view;
    const key = event.key.toLowerCase();
    if (end) {
      if (key === "n") this.send({ again: "same" });
      return;
    }
    if (open.pace) {
      if (key === "p" && !event.repeat) this.run(!this.running);
      else if (event.code in KEYS) {
        event.preventDefault();
        if (!event.repeat) this.press(KEYS[event.code]);
      }
      return;
    }
    const k = Number(event.key) - 1;
    if (k >= 0 && k < legal_actions.length) this.move(k);
    else if (key === "h" && open.practice) this.send({ hint: "auto" });
    else if (key === "u" && open.practice) this.send({ undo: true });
  }

  released(event) {
    if (this.view?.public.pace && event.code in KEYS) this.release(KEYS[event.code]);
  }
}

/** Return the table of what each move cost; in hold'em with the share of the pot and a verdict. */
function costTable(costs) {
  const graded = costs.some(({ verdict }) => verdict), costly = (cost) => cost !== null && cost > 5e-4;
  const rows = costs.map(({ words, move, best, cost, share, verdict, played }) => make("tr", {},
    make("td", {}, words), make("td", {}, move), make("td", {}, costly(cost) ? best : ""),
    make("td", { className: `number ${costly(cost) ? "costly" : ""}` }, cost === null ? "unknown" : costly(cost) ? signed(-cost, graded ? 2 : 3) : "nothing"),
    ...(graded ? [make("td", { className: "number" }, percent(share)), make("td", { className: "number" }, percent(played)), make("td", {}, verdict)] : [])));
  return make("table", { className: "costs" },
    make("caption", {}, graded ? "Your decisions, graded by the solution" : "What your moves cost, on average against the equilibrium"),
    make("thead", {}, make("tr", {}, ...["When", "You", "Better", "Cost", ...(graded ? ["Of the pot", "It plays so", "Verdict"] : [])].map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows));
}
