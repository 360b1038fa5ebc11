/* The replay player: the timing of what is shown, and everything around the stage on which it is shown. */

import { make, typing } from "./dom.js";
import { PACKAGES } from "./packages.js";
import { Banner } from "./player/banner.js";
import { Deck } from "./player/deck.js";
import { Log } from "./player/log.js";
import { PictureStage } from "./player/picture_stage.js";
import { Cards, Views } from "./player/seats.js";
import { isNight, onTheme } from "./theme.js";

const GLIDE = 7; // steps per second of a single step

/**
 * Put a player of ``recording`` (the result of Python's ``recording``) into ``element``.
 *
 * Options: ``start``, the first step shown; ``speed`` in steps per second; ``hash``, whether the page's address selects
 * steps; ``keys``, the element whose keys it hears (default: its own); ``live``, whether the game goes on and frames are pushed.
 * The player has ``seek(step)``, ``play(on)``, ``look(view)``, ``push(frame, events)``, ``end(result)``, ``destroy()``.
 */
export function mountPlayer(element, recording, options = {}) {
  return new Player(element, recording, options);
}

class Player {
  constructor(host, recording, { start = null, speed = null, hash = false, keys = null, live = false }) {
    this.recording = { ...recording };
    this.stage = new (PACKAGES[recording.kind]?.Stage ?? PictureStage)(this.recording);
    this.options = { hash, live };
    this.speed = speed ?? this.stage.speed;
    /* ``time`` is the moment shown, ``at`` the frame at or towards which it moves, both counted in frames. */
    Object.assign(this, { time: 0, at: 0, playing: false, closed: false, eyes: { view: null } });
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.leaving = new AbortController();
    this.build(host);
    this.listen(keys ?? this.element);
    this.at = this.time = live ? this.stage.last : this.index(start ?? this.stage.step(0));
    this.dress();
    this.fit();
    if (hash) this.readHash();
    else this.refresh(true);
    this.wake();
  }

  /* The public methods */

  /** Show the frame after a step of the game. */
  seek(step) {
    this.go(this.index(step));
  }

  play(on = !this.playing) {
    if (on && this.at === this.stage.last && !this.options.live) this.time = this.at = 0;
    this.playing = on;
    this.closed = false;
    if (!on) this.at = this.clamp(Math.ceil(this.time)); // the step that is being shown is finished
    this.refresh(true);
    this.wake();
  }

  /** Show the view of a player; ``null`` is the complete state. */
  look(view) {
    this.eyes.view = view;
    this.refresh(true);
    this.wake();
  }

  /** Add the next frame of a game that goes on; a viewer who is at its end moves on with it. */
  push(frame, events = []) {
    const follows = this.at === this.stage.last;
    this.stage.push(frame, events);
    this.log.build();
    this.deck.build();
    if (follows) this.go(this.stage.last, true);
    else this.refresh(false);
  }

  /** Set the outcome of a game that was watched while it was played: ``{outcome, returns, …}``. */
  end(result) {
    Object.assign(this.recording, result);
    this.stage.end(result);
    this.options.live = false;
    this.banner.build();
    this.log.build();
    this.dress();
    this.refresh(true);
  }

  destroy() {
    this.leaving.abort();
    this.sizes.disconnect();
    this.sight.disconnect();
    cancelAnimationFrame(this.ticking);
    this.element.remove();
  }

  /* Time */

  clamp(index) {
    return Math.max(0, Math.min(this.stage.last, index));
  }

  /** Return the index of the frame after a step of the game. */
  index(step) {
    return this.clamp(step - this.stage.step(0));
  }

  go(index, glide = false) {
    const from = this.at;
    this.playing = false;
    this.at = this.clamp(index);
    const jumps = !glide || this.calm.matches || !this.stage.moving || Math.abs(this.at - from) !== 1;
    this.time = jumps ? this.at : Math.min(Math.max(this.time, this.at - 1), this.at + 1);
    this.closed = false;
    this.refresh(true);
    this.wake();
  }

  advance(seconds) {
    const { last } = this.stage;
    if (this.playing) {
      this.time = Math.min(last, this.time + seconds * this.speed);
      const index = Math.floor(this.time);
      if (index === this.at) return;
      this.at = index;
      if (index === last) this.playing = false;
      this.refresh(index === last);
    } else if (this.time !== this.at) {
      const way = this.at - this.time, most = seconds * GLIDE;
      this.time = Math.abs(way) <= most ? this.at : this.time + Math.sign(way) * most;
    }
  }

  /** Paint until nothing moves any more. */
  wake() {
    if (this.ticking || !this.inSight) return;
    this.before = performance.now();
    const tick = (now) => {
      this.advance(Math.min(0.25, Math.max(0, now - this.before) / 1000));
      this.before = now;
      const still = this.calm.matches;
      this.stage.paint(still ? Math.floor(this.time) : this.time, still ? 0 : now / 1000, this.eyes);
      const moves = this.inSight && (this.stage.moving || this.playing || this.time !== this.at);
      this.ticking = moves ? requestAnimationFrame(tick) : 0;
    };
    this.ticking = requestAnimationFrame(tick);
  }

  /* The address of the page */

  readHash() {
    const link = new URLSearchParams(location.hash.slice(1));
    const number = (name) => /^\d{1,9}$/.test(link.get(name)) ? Number(link.get(name)) : null;
    const step = number("step"), view = number("view");
    this.eyes.view = view !== null && view < this.recording.players.length ? view : null;
    this.go(step === null ? this.at : this.index(step));
  }

  writeHash() {
    const view = this.eyes.view === null ? "" : `&view=${this.eyes.view}`;
    try {
      history.replaceState(null, "", `#step=${this.stage.step(this.at)}${view}`);
    } catch { /* a page inside another one has no link of its own */ }
  }

  /* The elements */

  build(host) {
    const { stage } = this;
    this.views = new Views(this);
    this.cards = new Cards(this);
    this.log = new Log(this);
    this.deck = new Deck(this);
    this.banner = new Banner(this);
    this.tip = make("div", { className: "tip", hidden: true });
    this.news = make("p", { className: "unseen", aria: { live: "polite" } });
    this.table = make("div", { className: "felt" }, stage.element, this.tip, this.banner.element);
    const head = make("header", {}, make("h1", { textContent: stage.title }), make("p", { textContent: this.subtitle() }));
    const left = make("section", { className: "stage", ariaLabel: "The game" },
      head, this.views.element, this.table, this.deck.element);
    const right = make("aside", { className: "side", ariaLabel: "Players and events" },
      this.cards.element, this.log.element, this.hints());
    this.element = make("div", { className: "player", tabIndex: -1, dataset: { kind: this.recording.kind } },
      make("div", { className: "room" }, left, right), this.news);
    host.append(this.element);
  }

  subtitle() {
    const steps = `${this.stage.last} step${this.stage.last === 1 ? "" : "s"}`;
    return [this.stage.game, this.options.live ? "live" : steps, this.recording.note].filter(Boolean).join(" · ");
  }

  /** Return a list of the keys, for users who can see it. */
  hints() {
    const key = (name) => make("kbd", { textContent: name });
    const players = this.recording.players.slice(0, 9).map((_, k) => key(k + 1));
    const toggles = this.stage.toggles.flatMap(({ key: name, label }) => [key(name.toUpperCase()), ` ${label.toLowerCase()} `]);
    return make("p", { className: "keys" }, key("space"), " play ", key("←"), key("→"), " step ", key("0"),
      ` ${this.stage.everything.toLowerCase()} `, ...players, " eyes ", ...toggles);
  }

  listen(keys) {
    const { signal } = this.leaving, { element } = this.stage;
    keys.addEventListener("keydown", (event) => this.press(event), { signal });
    element.addEventListener("click", () => this.stage.moving && this.play(), { signal });
    element.addEventListener("pointermove", (event) => this.hover(event), { signal });
    element.addEventListener("pointerleave", () => this.leave(), { signal });
    this.element.addEventListener("click", (event) => { // so that the space bar continues to control playing
      if (event.detail && event.target.closest("button")) this.element.focus({ preventScroll: true });
    }, { signal });
    if (this.options.hash) addEventListener("hashchange", () => this.readHash(), { signal });
    signal.addEventListener("abort", onTheme(() => this.dress()));
    this.sizes = new ResizeObserver(() => this.fit());
    this.sizes.observe(this.table);
    this.inSight = true;
    this.sight = new IntersectionObserver(([entry]) => {
      this.inSight = entry.isIntersecting;
      this.wake();
    });
    this.sight.observe(this.element);
  }

  dress() {
    this.stage.dress(isNight(this.element));
    this.wake();
  }

  fit() {
    this.stage.fit();
    this.wake();
  }

  /** Update everything that depends on the step and the view; ``settled`` is false while a game is playing. */
  refresh(settled) {
    const { stage, at, eyes: { view } } = this;
    Object.assign(this.element.dataset, { step: stage.step(at), view: view ?? "all", playing: this.playing });
    for (const part of [this.views, this.cards, this.log, this.deck, this.banner]) part.refresh();
    stage.refreshHeads(at);
    if (this.playing) this.tip.hidden = true;
    if (!settled) return;
    if (this.options.hash) this.writeHash();
    this.announce();
  }

  announce() {
    const { stage, at, eyes: { view } } = this, ended = at === stage.last && !this.options.live;
    const here = this.log.texts(at, view), end = ended ? `${this.recording.outcome}.` : "";
    const text = `Step ${stage.step(at)} of ${stage.step(stage.last)}. ${[...here, end].join(" ")}`.trim();
    stage.say(text, view);
    this.news.textContent = this.playing ? "" : text;
  }

  /* The pointer and the keyboard */

  hover(event) {
    const box = this.stage.element.getBoundingClientRect();
    const found = this.stage.point(event.clientX - box.left, event.clientY - box.top, this.at);
    this.tip.hidden = this.playing || !found?.text;
    if (this.tip.hidden) return;
    this.tip.textContent = found.text;
    const half = this.tip.offsetWidth / 2, width = this.table.clientWidth; // stays within the edges of the table
    const x = found.left + this.stage.element.offsetLeft;
    this.tip.style.left = `${Math.min(Math.max(x, half), width - half)}px`;
    this.tip.style.top = `${found.top + this.stage.element.offsetTop}px`;
  }

  leave() {
    this.stage.leave();
    this.tip.hidden = true;
  }

  press(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (typing(event) || (key === " " && event.target.matches?.("button"))) return; // the focused element handles the key
    const act = this.keys[key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  get keys() {
    const eyes = this.recording.players.map((_, k) => [k + 1, () => this.look(k)]);
    const toggles = this.stage.toggles.map(({ name, key }) => [key, () => this.toggle(name)]);
    return {
      " ": () => this.play(), k: () => this.play(),
      ArrowLeft: () => this.go(this.at - 1, true), ArrowRight: () => this.go(this.at + 1, true),
      Home: () => this.go(0), End: () => this.go(this.stage.last),
      PageUp: () => this.go(this.at - 10), PageDown: () => this.go(this.at + 10),
      Escape: () => this.close(),
      "+": () => this.deck.quicken(1), "-": () => this.deck.quicken(-1),
      0: () => this.look(null),
      ...Object.fromEntries([...eyes, ...toggles]),
    };
  }

  toggle(name) {
    this.eyes[name] = !this.eyes[name];
    this.deck.refresh();
    this.wake();
  }

  /** Hide the result, so that the end of the game is visible. */
  close() {
    this.closed = true;
    this.refresh(false);
  }
}
