
/* The page: what is watched, when, and everything around the board. */

const film = new Film(JSON.parse(document.getElementById("film").textContent));
const find = (id) => document.getElementById(id);
const app = find("app"), canvas = find("board"), scrub = find("scrub"), banner = find("banner");
const board = new Board(canvas, film);
const dark = matchMedia("(prefers-color-scheme: dark)"), calm = matchMedia("(prefers-reduced-motion: reduce)");
const SPEEDS = [1, 2, 4, 6, 10, 20, 40], GLIDE = 7; // steps a second; of a single step
const MOVES = {
  [STOP]: ["waits", "M7 12h10"],
  [UP]: ["goes up", "M12 19V5M6 11l6-6 6 6"],
  [DOWN]: ["goes down", "M12 5v14M6 13l6 6 6-6"],
  [LEFT]: ["goes left", "M19 12H5M11 6l-6 6 6 6"],
  [RIGHT]: ["goes right", "M5 12h14M13 6l6 6-6 6"],
  [BOMB]: ["lays a bomb", "M12 8a6 6 0 1 0 .01 0M15 8l3-4"],
};

/** ``time`` is what is shown, ``step`` the frame that it is at or gliding to, both counted in frames. */
const state = {
  time: 0, step: 0, playing: false, speed: film.speed, closed: false, // the banner
  view: null, ranges: false, hides: false, hover: -1, // how the board looks
};

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function glyph(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  line.setAttribute("d", path);
  line.setAttribute("fill", "none");
  svg.append(line);
  return svg;
}

const winners = film.returns.flatMap((pay, k) => film.won && pay > 0 ? [k] : []);
const colors = () => film.colors[dark.matches ? "night" : "day"];
const tint = (agent) => film.colors.day[`agent${agent}`];
const clamp = (index) => Math.max(0, Math.min(film.last, index));

/* Playing */

function seek(step, glide = false) {
  const from = state.step;
  state.playing = false;
  state.step = clamp(step);
  if (!glide || calm.matches || Math.abs(state.step - from) !== 1) state.time = state.step;
  else state.time = Math.min(Math.max(state.time, state.step - 1), state.step + 1);
  state.closed = false;
  refresh(true);
}

function play(on = !state.playing) {
  if (on && state.step === film.last) state.time = state.step = 0;
  state.playing = on;
  state.closed = false;
  if (!on) state.step = clamp(Math.ceil(state.time)); // the step that is being shown is finished
  refresh(true);
}

function advance(seconds) {
  if (state.playing) {
    state.time = Math.min(film.last, state.time + seconds * state.speed);
    const step = Math.floor(state.time);
    if (step !== state.step) {
      state.step = step;
      if (step === film.last) state.playing = false;
      refresh(step === film.last);
    }
  } else if (state.time !== state.step) {
    const way = state.step - state.time, most = seconds * GLIDE;
    state.time = Math.abs(way) <= most ? state.step : state.time + Math.sign(way) * most;
  }
}

let before = 0;
function tick(milliseconds) {
  advance(Math.min(0.25, (milliseconds - before) / 1000));
  before = milliseconds;
  const shown = calm.matches ? Math.floor(state.time) : state.time;
  board.paint(shown, calm.matches ? 0 : milliseconds / 1000, state);
  requestAnimationFrame(tick);
}

/* Views */

function look(view) {
  state.view = view;
  refresh(true);
}

function toggle(name) {
  state[name] = !state[name];
  find(name).setAttribute("aria-pressed", state[name]);
}

/* What the link says */

function readHash() {
  const link = new URLSearchParams(location.hash.slice(1));
  const number = (name) => /^\d{1,9}$/.test(link.get(name)) ? Number(link.get(name)) : null;
  const step = number("step"), view = number("view");
  state.view = view !== null && view < film.players.length ? view : null;
  seek(step === null ? state.step : step - film.first);
}

function writeHash() {
  const view = state.view === null ? "" : `&view=${state.view}`;
  try {
    history.replaceState(null, "", `#step=${film.first + state.step}${view}`);
  } catch { /* a page inside another one has no link of its own */ }
}

/* Around the board */

const cards = [], views = [], lines = [];

function buildViews() {
  const add = (view, properties, ...content) => {
    const button = make("button", { type: "button", onclick: () => look(view), ...properties }, ...content);
    find("views").append(button);
    views.push({ view, button });
    return button;
  };
  add(null, { className: "whole", title: "Whole board (0)", textContent: "Whole board" });
  film.players.forEach((name, k) => {
    const label = make("span", { className: "label", textContent: name }), title = `What ${name} sees`;
    const button = add(k, { title: `${title} (${k + 1})`, ariaLabel: title }, make("canvas"), label);
    button.style.setProperty("--tint", tint(k));
  });
}

function buildCards() {
  for (const team of film.teams) {
    const group = make("div", { className: "team" });
    team.forEach((k) => group.append(buildCard(k)));
    find("teams").append(group);
  }
}

function buildCard(k) {
  const fields = { ammo: make("b"), blast: make("b") };
  const icons = { extra_bomb: make("canvas"), incr_range: make("canvas"), kick: make("canvas") };
  const kick = make("span", { title: "Can kick bombs" }, icons.kick);
  const portrait = make("canvas"), move = make("span", { className: "move" });
  const fate = make("span", { className: "state" });
  const status = make("span", { className: "state" },
    make("span", { title: "Bombs at hand" }, icons.extra_bomb, fields.ammo),
    make("span", { title: "Blast strength" }, icons.incr_range, fields.blast), kick);
  const agent = make("small", { textContent: film.agents[k] });
  const name = make("span", { className: "name", title: film.agents[k] }, film.players[k], agent);
  const onclick = () => look(state.view === k ? null : k);
  const card = make("button", { type: "button", className: "card", onclick }, portrait, name, move, status, fate);
  card.style.setProperty("--tint", tint(k));
  cards[k] = { card, fields, icons, kick, move, portrait, status, fate };
  return card;
}

function buildLog() {
  const events = [...film.events, { frame: film.last, kind: "end", agent: null, text: film.outcome }];
  for (const event of events) {
    const button = make("button", { type: "button", onclick: () => seek(event.frame) },
      make("time", { textContent: film.first + event.frame }), make("i"), make("span", { textContent: event.text }));
    const line = make("li", { className: event.kind }, button);
    if (event.agent !== null) line.style.setProperty("--tint", tint(event.agent));
    lines.push({ line, event });
  }
  lines.sort((a, b) => a.event.frame - b.event.frame);
  find("log").append(...lines.map(({ line }) => line));
}

function buildBanner() {
  find("winners").append(...winners.map(() => make("canvas")));
  find("outcome").textContent = film.outcome;
  const pays = [...new Set(film.returns)].map((pay) => {
    const who = film.players.filter((_, k) => film.returns[k] === pay), sign = pay > 0 ? "+" : pay < 0 ? "−" : "";
    return `${who.length === film.players.length ? "everyone" : who.join(", ")} ${sign}${Math.abs(pay)}`;
  });
  find("pay").textContent = pays.join(" · ");
}

function buildSpeeds() {
  const speeds = [...new Set([...SPEEDS, film.speed])].sort((a, b) => a - b);
  find("speed").append(...speeds.map((value) => make("option", { value, textContent: `${value}/s` })));
  find("speed").value = film.speed;
}

function drawPictures() {
  board.dress(colors());
  [...find("winners").children].forEach((head, k) => drawPortrait(head, winners[k], true, film, colors()));
  for (const { icons } of cards) {
    for (const [name, icon] of Object.entries(icons)) drawSmall(icon, [name], film, colors());
  }
  drawHeads();
  drawMarks();
}

let heads = "";
function drawHeads() {
  const alive = film.frame(state.step).agents.map((agent) => agent.alive);
  alive.forEach((lives, k) => {
    drawPortrait(cards[k].portrait, k, lives, film, colors());
    drawPortrait(views[k + 1].button.firstChild, k, lives, film, colors());
  });
  heads = alive.join();
}

/** Blasts as bars, deaths as dots in the colour of the dead, walls that close in as lines. */
function drawMarks() {
  const marks = find("marks"), width = marks.clientWidth, height = marks.clientHeight, pen = marks.getContext("2d");
  marks.width = width * devicePixelRatio;
  marks.height = height * devicePixelRatio;
  pen.scale(devicePixelRatio, devicePixelRatio);
  const style = getComputedStyle(app), color = (name) => style.getPropertyValue(`--${name}`);
  const x = (frame) => 8 + (width - 16) * frame / Math.max(1, film.last), base = height - 12;
  pen.fillStyle = color("line");
  pen.beginPath();
  pen.roundRect(4, base, width - 8, 5, 2.5);
  pen.fill();
  film.frames.forEach((frame, k) => {
    if (!frame.blasts.length) return;
    const high = Math.min(17, 4 + 3 * frame.blasts.length);
    pen.fillStyle = color("blast");
    pen.fillRect(x(k) - 0.75, base - high, 1.5, high);
  });
  for (const { frame, kind, agent } of film.events) {
    if (kind === "walls") {
      pen.fillStyle = color("muted");
      pen.fillRect(x(frame) - 1, base - 20, 2, 25);
    } else if (kind === "death") {
      pen.fillStyle = tint(agent);
      pen.strokeStyle = color("ground");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(x(frame), base - 21, 5, 0, TAU);
      pen.stroke();
      pen.fill();
    }
  }
}

/** Everything that depends on the step and the view. ``settled``: not on the way through a playing game. */
function refresh(settled) {
  const frame = film.frame(state.step);
  app.dataset.step = film.first + state.step;
  app.dataset.view = state.view ?? "all";
  app.dataset.playing = state.playing;
  scrub.value = state.step;
  scrub.setAttribute("aria-valuetext", `step ${film.first + state.step} of ${film.first + film.last}`);
  find("clock").replaceChildren(make("b", { textContent: film.first + state.step }), ` / ${film.first + film.last}`);
  find("play").setAttribute("aria-label", state.playing ? "Pause (space)" : "Play (space)");
  find("play").title = find("play").getAttribute("aria-label");
  views.forEach(({ view, button }) => button.setAttribute("aria-pressed", view === state.view));
  cards.forEach((card, k) => refreshCard(card, k, frame));
  if (frame.agents.map((agent) => agent.alive).join() !== heads) drawHeads();
  refreshLog();
  banner.hidden = state.step !== film.last || state.closed;
  if (state.playing) find("tip").hidden = true;
  if (settled) {
    writeHash();
    announce();
  }
}

/** In an agent's view the cards, too, tell only what that agent knows. */
function refreshCard({ card, fields, kick, move, status, fate }, k, frame) {
  const agent = frame.agents[k], name = film.players[k];
  const own = state.view === null || state.view === k, seen = own || film.sees(state.view, agent.cell, frame);
  const heard = state.view === null || film.team(state.view).includes(k);
  card.classList.toggle("dead", !agent.alive);
  card.setAttribute("aria-pressed", state.view === k);
  fields.ammo.textContent = own ? agent.ammo : "?";
  fields.blast.textContent = own ? agent.blast : "?";
  kick.classList.toggle("off", !own || !agent.kick);
  const death = film.events.find(({ kind, agent, frame: at }) => kind === "death" && agent === k && at <= state.step);
  status.hidden = !agent.alive;
  fate.hidden = agent.alive;
  fate.textContent = death ? `step ${film.first + death.frame}: ${death.text.slice(name.length + 1)}` : "";
  const [words, path] = agent.alive && seen && frame.moves[k] !== null ? MOVES[frame.moves[k]] : ["", ""];
  const said = heard && frame.words[k]?.some(Boolean) ? frame.words[k].join(" ") : "";
  const bubble = make("span", { className: "said", title: "On the radio", textContent: said });
  move.replaceChildren(...said ? [bubble] : [], ...path ? [glyph(path)] : []);
  move.title = words;
  const stock = own ? `${agent.ammo} bombs, blast strength ${agent.blast}${agent.kick ? ", can kick" : ""}` : "alive";
  card.ariaLabel = [`${name}, ${film.agents[k]}`, agent.alive ? stock : "dead", words, said && `says ${said}`]
    .filter(Boolean).join(", ");
}

let current = null;
function refreshLog() {
  let latest = null;
  for (const { line, event } of lines) {
    line.classList.toggle("later", event.frame > state.step);
    line.classList.toggle("now", event.frame === state.step);
    if (event.frame <= state.step) latest = line;
  }
  if (latest === current) return;
  current = latest;
  const log = find("log"), top = latest ? latest.offsetTop - log.clientHeight * 0.6 : 0;
  log.scrollTo({ top, behavior: calm.matches || !state.playing ? "auto" : "smooth" });
}

function announce() {
  const here = film.events.filter((event) => event.frame === state.step).map((event) => `${event.text}.`);
  const end = state.step === film.last ? `${film.outcome}.` : "";
  const text = `Step ${film.first + state.step} of ${film.first + film.last}. ${[...here, end].join(" ")}`.trim();
  const whose = state.view === null ? "" : ` as ${film.players[state.view]} sees it`;
  canvas.setAttribute("aria-label", `The board${whose}. ${text}`);
  find("news").textContent = state.playing ? "" : text;
}

/* The pointer */

const THINGS = {
  wood: "Wood", extra_bomb: "Another bomb", incr_range: "A longer blast", kick: "A boot to kick with",
};

function describe(cell) {
  const frame = film.frame(state.step);
  if (state.view !== null && !film.sees(state.view, cell, frame)) {
    return `${film.players[state.view]} does not see this`;
  }
  const here = [], named = (value) => value === RIGID ? "A wall" : THINGS[film.art.standing[value]];
  frame.agents.forEach((agent, k) => {
    if (agent.alive && agent.cell === cell) here.push(`${film.players[k]} (${film.agents[k]})`);
  });
  for (const { bomb, left } of film.fuses(frame, state.view).filter(({ bomb }) => bomb.cell === cell)) {
    const whose = bomb.owner === null ? "A bomb" : `${film.players[bomb.owner]}'s bomb`;
    const chain = left < bomb.life ? `, set off in ${left} by another one` : "";
    here.push(`${whose}: ${bomb.life} step${bomb.life === 1 ? "" : "s"} left${chain}, strength ${bomb.strength}`);
  }
  if (frame.flames.some((flame) => flame.cell === cell)) here.push("Flames");
  if (frame.ground[cell]) here.push(named(frame.ground[cell]));
  if (state.hides && state.view === null && frame.hidden[cell]) here.push(`hidden: ${named(frame.hidden[cell])}`);
  return here.join("\n");
}

function hover(event) {
  const box = canvas.getBoundingClientRect(), cell = board.cellAt(event.clientX - box.left, event.clientY - box.top);
  state.hover = cell;
  const tip = find("tip"), text = cell < 0 || state.playing ? "" : describe(cell);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const [x, y] = board.placeOf(cell);
  const half = tip.offsetWidth / 2; // it stays beside the board's edge
  tip.style.left = `${Math.min(Math.max(x, half), canvas.clientWidth - half) + canvas.offsetLeft}px`;
  tip.style.top = `${y + canvas.offsetTop}px`;
}

function leave() {
  state.hover = -1;
  find("tip").hidden = true;
}

/* The keyboard */

const KEYS = {
  " ": () => play(), k: () => play(),
  ArrowLeft: () => seek(state.step - 1, true), ArrowRight: () => seek(state.step + 1, true),
  Home: () => seek(0), End: () => seek(film.last),
  PageUp: () => seek(state.step - 10), PageDown: () => seek(state.step + 10),
  0: () => look(null), b: () => toggle("ranges"), x: () => toggle("hides"),
  Escape: () => { state.closed = true; refresh(false); },
  "+": () => quicken(1), "-": () => quicken(-1),
};
film.players.forEach((_, k) => { KEYS[k + 1] = () => look(k); });

function quicken(way) {
  const options = [...find("speed").options], index = find("speed").selectedIndex + way;
  if (!options[index]) return;
  find("speed").selectedIndex = index;
  state.speed = Number(options[index].value);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (at.matches("select") || (key === " " && at.matches("button"))) return; // theirs
  if (!KEYS[key]) return;
  event.preventDefault();
  KEYS[key]();
}

/* Size and colours */

function fit() {
  board.fit(find("table").clientWidth, devicePixelRatio || 1);
  drawMarks();
}

function start() {
  find("game").textContent = `${film.game.replace(/^pommerman:/, "")} · ${film.last} steps`;
  find("agent-keys").append(...film.players.map((_, k) => make("kbd", { textContent: k + 1 })), " agents");
  scrub.max = film.last;
  buildViews();
  buildCards();
  buildLog();
  buildBanner();
  buildSpeeds();
  const clicks = {
    first: KEYS.Home, back: KEYS.ArrowLeft, play: KEYS.k, forth: KEYS.ArrowRight, last: KEYS.End,
    again: KEYS.k, close: KEYS.Escape, ranges: KEYS.b, hides: KEYS.x,
  };
  for (const [id, click] of Object.entries(clicks)) find(id).addEventListener("click", click);
  scrub.addEventListener("input", () => seek(Number(scrub.value)));
  find("speed").addEventListener("change", () => { state.speed = Number(find("speed").value); });
  canvas.addEventListener("click", () => play());
  canvas.addEventListener("pointermove", hover);
  canvas.addEventListener("pointerleave", leave);
  addEventListener("keydown", press);
  addEventListener("click", (event) => { // so that the space bar goes on playing
    if (event.detail) event.target.closest("button")?.blur();
  });
  addEventListener("hashchange", readHash);
  dark.addEventListener("change", drawPictures);
  new ResizeObserver(fit).observe(find("table"));
  state.step = clamp(film.start);
  board.dress(colors());
  fit();
  readHash();
  drawPictures();
  requestAnimationFrame(tick);
}

start();
