/* The board: paints any moment of a film on a canvas. */

import { BACK, DOWN, Film, LEFT, RIGHT, RIGID, TURNS, UP, WOOD } from "./film.js";

const TAU = 2 * Math.PI;

/** Draw shapes in units of a cell; the caller has scaled the context. */
function drawShapes(pen, shapes, colors) {
  for (const shape of shapes) {
    const alpha = pen.globalAlpha, [kind, ...fields] = shape;
    pen.beginPath();
    if (kind === "B") {
      const [x, y, width, height, radius, color, opacity] = fields;
      paintWith(pen, color, opacity, colors);
      pen.roundRect(x, y, width, height, radius);
      pen.fill();
    } else if (kind === "O") {
      const [x, y, rx, ry, color, opacity] = fields;
      paintWith(pen, color, opacity, colors);
      pen.ellipse(x, y, rx, ry, 0, 0, TAU);
      pen.fill();
    } else if (kind === "A") {
      const [points, color, opacity] = fields;
      paintWith(pen, color, opacity, colors);
      points.forEach(([x, y]) => pen.lineTo(x, y));
      pen.fill();
    } else if (kind === "S") {
      const [points, width, color, opacity] = fields;
      paintWith(pen, color, opacity, colors);
      pen.lineWidth = width;
      points.forEach(([x, y]) => pen.lineTo(x, y));
      pen.stroke();
    }
    pen.globalAlpha = alpha;
  }
}

function paintWith(pen, color, opacity, colors) {
  pen.fillStyle = pen.strokeStyle = colors[color];
  pen.lineCap = pen.lineJoin = "round";
  pen.globalAlpha *= opacity;
}

/** Draw sprites on a small canvas of their own, in the square from ``(-x, -y)`` to ``(span - x, span - y)``. */
export function drawSmall(canvas, names, film, colors, x = 0, y = 0, span = 1) {
  const side = (canvas.clientWidth || 64) * devicePixelRatio, pen = canvas.getContext("2d");
  canvas.width = canvas.height = side;
  pen.scale(side / span, side / span);
  pen.translate(x, y);
  for (const name of names) drawShapes(pen, film.art.sprites[name], colors);
}

export function drawPortrait(canvas, agent, alive, film, colors) {
  drawSmall(canvas, [`agent${agent}`, alive ? "face" : "faint"], film, colors, 0.14, 0.27, 1.28);
}

/** The complete board, in nobody's view. */
export const PLAIN = { view: null, ranges: false, hides: false, hover: -1 };

const OVER = 0.5; // cells by which a sprite may extend beyond its own
const FADE = 1.6; // steps during which a dead agent fades
const REMAINS = 0.7; // how far it fades: the rest marks the place where it died
const RISE = 0.2; // cells by which it rises while it fades: things behind it must not hide it

/**
 * A canvas and the film that it shows.  ``film`` may be a ``new Film(setting)`` to which frames are pushed while the game
 * goes on; ``look`` holds the options of the view (see ``paint``).
 */
export class Board {
  constructor(canvas, film) {
    this.canvas = canvas;
    this.film = film;
    this.pen = canvas.getContext("2d");
    this.stamps = new Map();
    this.cell = 0;
  }

  /** Set the colours to paint with, by name. */
  dress(colors) {
    this.colors = colors;
    this.stamps.clear();
  }

  /** Fit into a square of ``width`` CSS pixels. */
  fit(width, ratio) {
    const { margin } = this.film.art, span = this.film.size + 2 * margin;
    const cell = Math.max(8, Math.floor(width * ratio / span));
    if (cell === this.cell && ratio === this.ratio) return;
    Object.assign(this, { cell, ratio, edge: Math.round(margin * cell) });
    this.stamps.clear();
    this.canvas.width = this.canvas.height = this.film.size * cell + 2 * this.edge;
    this.canvas.style.width = this.canvas.style.height = `${this.canvas.width / ratio}px`;
  }

  /** Return the cell at a point in CSS pixels from the canvas's corner, or -1. */
  cellAt(x, y) {
    const [column, row] = [x, y].map((at) => Math.floor((at * this.ratio - this.edge) / this.cell));
    const inside = Math.min(column, row) >= 0 && Math.max(column, row) < this.film.size;
    return inside ? row * this.film.size + column : -1;
  }

  /** Return the middle of a cell's upper edge in CSS pixels. */
  placeOf(cell) {
    const size = this.film.size;
    return [(this.edge + (cell % size + 0.5) * this.cell) / this.ratio,
      (this.edge + Math.floor(cell / size) * this.cell) / this.ratio];
  }

  /**
   * Paint the film at ``time``, counted in frames.  ``now`` in seconds drives the animations that never stop.
   * ``look``: the agent whose ``view`` it is (null: nobody's), whether to show ``ranges`` of all bombs and the items that wood
   * ``hides``, and the ``hover``ed cell.
   */
  paint(time, now, look) {
    const { film, pen } = this, index = Math.min(film.last, Math.floor(time)), phase = time - index;
    const moment = {
      index, phase, now, look, frame: film.frame(index), before: film.frame(index - 1), after: film.frame(index + 1),
    };
    moment.window = this.window(moment);
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.inCells(() => drawShapes(pen, film.art.sprites.frame, this.colors));
    this.paintFloor(moment);
    this.paintRanges(moment, false);
    this.paintFlames(moment);
    this.paintStanding(moment);
    this.paintRanges(moment, true);
    this.paintFinds(moment);
    if (moment.window) this.paintFog(moment);
    this.paintWords(moment);
  }

  /** Draw with a cell as the unit, and the board's corner as the origin. */
  inCells(draw, x = 0, y = 0) {
    const { pen, cell, edge } = this;
    pen.save();
    pen.setTransform(cell, 0, 0, cell, edge + x * cell, edge + y * cell);
    draw();
    pen.restore();
  }

  stamp(name) {
    if (!this.stamps.has(name)) {
      const stamp = document.createElement("canvas"), side = Math.ceil(this.cell * (1 + 2 * OVER));
      stamp.width = stamp.height = side;
      const pen = stamp.getContext("2d");
      pen.scale(this.cell, this.cell);
      pen.translate(OVER, OVER);
      drawShapes(pen, this.film.art.sprites[name], this.colors);
      this.stamps.set(name, stamp);
    }
    return this.stamps.get(name);
  }

  /** Draw a sprite on a cell, scaled about the middle of its foot. */
  put(name, x, y, alpha = 1, wide = 1, high = wide) {
    const { pen, cell, edge } = this, stamp = this.stamp(name);
    const left = edge + (x + 0.5 - wide * (0.5 + OVER)) * cell, top = edge + (y + 0.9 - high * (0.9 + OVER)) * cell;
    pen.globalAlpha = alpha;
    if (wide === 1 && high === 1) pen.drawImage(stamp, Math.round(left), Math.round(top));
    else pen.drawImage(stamp, left, top, stamp.width * wide, stamp.height * high);
    pen.globalAlpha = 1;
  }

  place(cell) {
    return [cell % this.film.size, Math.floor(cell / this.film.size)];
  }

  /** Return a point between two cells; it stays at the first where the second is not seen. */
  between(start, goal, phase) {
    const [x, y] = this.place(start), [u, v] = this.place(goal ?? start);
    return [x + (u - x) * phase, y + (v - y) * phase];
  }

  /** Return the part of the board that the viewing agent sees, in cells; null is the whole board. */
  window({ frame, after, phase, look }) {
    const { view: reach, size } = this.film;
    if (frame.window) {
      const goal = after.window ?? frame.window, part = (side) => frame.window[side] + (goal[side] - frame.window[side]) * phase;
      return { left: part("left"), top: part("top"), right: part("right"), bottom: part("bottom") };
    }
    if (look.view === null || reach === null) return null;
    const [x, y] = this.between(frame.agents[look.view].cell, after.agents[look.view].cell, phase);
    return {
      left: Math.max(0, x - reach), top: Math.max(0, y - reach),
      right: Math.min(size, x + reach + 1), bottom: Math.min(size, y + reach + 1),
    };
  }

  paintFloor({ frame }) {
    const { growth } = this.film.art, size = this.film.size;
    for (let cell = 0; cell < this.film.cells; cell++) {
      const [x, y] = this.place(cell), above = y ? frame.ground[cell - size] : 0;
      if ((x + y) % 2) this.put("grass", x, y);
      if (growth[cell]) this.put(growth[cell], x, y);
      if (above === RIGID || above === WOOD) this.put("eave", x, y);
    }
  }

  /** Paint the cells, with or without wood, that bombs will burn: for all bombs, or the one under the pointer. */
  paintRanges({ frame, look, now }, wood) {
    const { pen, film } = this, worst = new Map();
    for (const { bomb, left, cells } of film.fuses(frame, look.view)) {
      if (!look.ranges && bomb.cell !== look.hover) continue;
      for (const cell of cells) worst.set(cell, Math.min(left, worst.get(cell) ?? Infinity));
    }
    for (const [cell, left] of worst) {
      if (wood !== (frame.ground[cell] === WOOD)) continue;
      const urgency = 1 - Math.min(1, Math.max(0, left) / film.fuse);
      this.inCells(() => {
        pen.fillStyle = this.colors.hot;
        pen.globalAlpha = 0.20 + 0.34 * urgency + 0.05 * Math.sin(now * 5);
        pen.beginPath();
        pen.roundRect(0.05, wood ? -0.1 : 0.05, 0.9, 0.9, 0.16);
        pen.fill();
      }, ...this.place(cell));
    }
  }

  paintFlames({ frame, before, phase, now, index }) {
    const { film, pen } = this;
    for (let cell = 0; index && cell < film.cells; cell++) {
      const [x, y] = this.place(cell);
      if (before.ground[cell] === WOOD && frame.ground[cell] === 0) this.put("wood", x, y, 0.9 * (1 - phase));
    }
    film.art.flame.widths.forEach((width, layer) => {
      pen.fillStyle = this.colors[`flame${layer}`];
      for (const flame of frame.flames) {
        const heat = Math.min(1, (flame.life + 1 - phase) / film.burns);
        const flicker = 1 + 0.07 * Math.sin(now * 17 + flame.cell * 2.4);
        const wide = width * (0.35 + 0.65 * heat) * flicker * Math.min(1, heat * 5);
        this.inCells(() => drawFlame(pen, film.art.flame, flame.links, wide), ...this.place(flame.cell));
      }
    });
    for (const blast of phase > 0 ? frame.blasts : []) {
      this.inCells(() => {
        pen.strokeStyle = this.colors.flame3;
        pen.globalAlpha = Math.max(0, 0.8 - 1.6 * phase);
        pen.lineWidth = 0.16 * (1 - phase);
        pen.beginPath();
        pen.ellipse(0.5, 0.5, 0.3 + 1.3 * phase, 0.3 + 1.3 * phase, 0, 0, TAU);
        pen.stroke();
      }, ...this.place(blast.cell));
    }
  }

  /** Paint walls, items, bombs and agents, from the top row to the bottom row. */
  paintStanding(moment) {
    const { film } = this, { frame, look, phase, now, index, window } = moment, things = [];
    for (let cell = 0; cell < film.cells; cell++) {
      const value = frame.ground[cell], [x, y] = this.place(cell);
      const row = value === RIGID || value === WOOD ? y : -1; // items lie below everything
      if (value) things.push([row, 0, () => this.paintBuilt(moment, cell, value, x, y), x, y]);
      if (look.hides && look.view === null && frame.hidden[cell]) {
        things.push([y, 1, () => this.put(film.art.standing[frame.hidden[cell]], x, y - 0.1, 0.75, 0.62), x]);
      }
    }
    for (const bomb of frame.bombs) {
      const [x, y] = this.between(bomb.cell, this.goal(moment, bomb), phase);
      things.push([y, 2, () => this.paintBomb(bomb, x, y, phase, now), x]);
    }
    frame.agents.forEach((agent, k) => {
      const died = this.died(k, index);
      if (agent.cell === null) return;
      if (agent.alive) {
        const [x, y] = this.between(agent.cell, moment.after.agents[k].cell, phase);
        things.push([y, 3, () => this.paintAgent(moment, k, x, y), x]);
      } else if (frame.ground[agent.cell] !== RIGID && frame.ground[agent.cell] !== WOOD) {
        const [x, y] = this.place(agent.cell), gone = died ? Math.min(REMAINS, (index + phase - died) / FADE) : REMAINS;
        things.push([y - 0.5, 0, () => this.paintGhost(k, x, y, gone), x, y]); // at the place of its death, below all that still moves
      }
    });
    const within = (at, low, high) => at > low - 1 && at < high;
    const inside = ([row, , , x, y = row]) =>
      !window || (within(x, window.left, window.right) && within(y, window.top, window.bottom));
    things.filter(inside).sort((a, b) => a[0] - b[0] || a[1] - b[1]).forEach(([, , draw]) => draw());
  }

  paintBuilt({ before, phase, now, index }, cell, value, x, y) {
    const { art } = this.film;
    if (value === RIGID) {
      const fallen = index && before.ground[cell] !== RIGID; // the walls close in
      this.put(art.stones[cell], x, fallen ? y - 0.7 * Math.max(0, 1 - 3 * phase) * (phase > 0) : y);
    } else if (value === WOOD) {
      this.put("wood", x, y);
    } else {
      const fresh = index && before.ground[cell] !== value && phase > 0 ? Math.min(1, 0.4 + 2 * phase) : 1;
      this.put(art.standing[value], x, y + 0.03 * Math.sin(now * 3 + cell), 1, fresh);
    }
  }

  /** Return the cell of a bomb one step later, even if it explodes there. */
  goal({ after }, bomb) {
    return [...after.bombs, ...after.blasts].find((other) => other.id === bomb.id)?.cell ?? bomb.cell;
  }

  paintBomb(bomb, x, y, phase, now) {
    const { pen, film } = this, { middle: [mx, my], ring, digits } = film.art.bomb;
    const left = Math.max(0, bomb.life - phase), share = Math.min(1, left / film.fuse), heat = (1 - share) ** 2;
    const pulse = 1 + (0.03 + 0.07 * heat) * Math.sin(now * (5 + 13 * heat));
    this.inCells(() => {
      pen.lineCap = "round";
      pen.lineWidth = 0.085;
      pen.globalAlpha = 0.18;
      pen.strokeStyle = this.colors.ink;
      pen.beginPath();
      pen.arc(mx, my, ring, 0, TAU);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.lineWidth = 0.075;
      pen.strokeStyle = this.colors[bomb.owner === null ? "bomb_light" : `agent${bomb.owner}`];
      pen.beginPath();
      pen.arc(mx, my, ring, -TAU / 4, -TAU / 4 + TAU * share);
      if (share) pen.stroke();
    }, x, y);
    this.put("bomb", x, y, 1, pulse);
    this.inCells(() => {
      pen.fillStyle = this.colors.hot;
      pen.globalAlpha = 0.75 * heat;
      pen.beginPath();
      pen.ellipse(mx - 0.01, my - 0.02, 0.305 * pulse, 0.3 * pulse, 0, 0, TAU);
      pen.fill();
    }, x, y);
    this.put("spark", x, y, 0.75 + 0.25 * Math.sin(now * 23 + bomb.id));
    const life = String(bomb.life), size = Math.min(digits / 2, digits / life.length);
    this.text(life, x + mx - 0.01, y + my + 0.01, size, this.colors.white);
  }

  text(words, x, y, size, color) {
    const { pen } = this;
    pen.font = `800 ${size * this.cell}px ui-rounded, "Arial Rounded MT Bold", system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = color;
    pen.fillText(words, this.edge + x * this.cell, this.edge + y * this.cell);
  }

  /** Return the first frame in which an agent is dead, or 0 if it is still alive. */
  died(agent, index) {
    for (let k = index; k > 0 && !this.film.frames[k].agents[agent].alive; k--) {
      if (this.film.frames[k - 1].agents[agent].alive) return k;
      if (index - k > FADE) return 0;
    }
    return 0;
  }

  paintAgent({ frame, after, phase, now, look, index }, k, x, y) {
    const { film, pen } = this, walks = phase > 0 && after.agents[k].cell !== frame.agents[k].cell;
    const glance = film.art.glance[(phase > 0 ? after : frame).agents[k].facing];
    const cheers = index === film.last && film.winners?.includes(k) ? Math.abs(Math.sin(now * 6 + k)) * 0.16 : 0;
    const hop = (walks ? Math.abs(Math.sin(phase * TAU)) * 0.07 : 0) + cheers;
    const breath = 1 + 0.015 * Math.sin(now * 3 + k);
    if (look.view === k) this.paintHalo(k, x, y, now);
    this.put(`agent${k}`, x, y - hop, 1, 1 / breath, breath);
    if (glance) this.put("face", x + glance[0], y - hop + glance[1], 1, 1 / breath, breath);
  }

  /** Paint a ring on the floor around the viewing agent. */
  paintHalo(agent, x, y, now) {
    const { pen } = this;
    this.inCells(() => {
      pen.strokeStyle = this.colors[`agent${agent}`];
      pen.globalAlpha = 0.65 + 0.3 * Math.sin(now * 4);
      pen.lineWidth = 0.06;
      pen.beginPath();
      pen.ellipse(0.5, 0.9, 0.44, 0.16, 0, 0, TAU);
      pen.stroke();
    }, x, y);
  }

  paintGhost(agent, x, y, gone) {
    const rise = y - RISE * gone;
    this.put(`agent${agent}`, x, rise, 1 - gone);
    this.put("faint", x, rise, 1 - gone);
  }

  /** Paint the items just picked up, which float away above the agent. */
  paintFinds({ index, phase }) {
    for (const event of this.film.events) {
      if (event.kind !== "item" || event.frame !== index) continue;
      const [x, y] = this.place(this.film.frames[index].agents[event.agent].cell);
      this.put(this.film.art.standing[event.what], x, y - 0.75 - 0.5 * phase, 1 - phase, 0.6);
    }
  }

  /** Paint fog over everything that the viewing agent does not see. */
  paintFog({ window: { left, top, right, bottom }, now, look }) {
    const { pen, film, cell, edge } = this, size = film.size;
    const outline = () => pen.roundRect(left, top, right - left, bottom - top, 0.25);
    pen.save();
    this.inCells(() => {
      pen.beginPath();
      pen.roundRect(-0.09, -0.09, size + 0.18, size + 0.18, 0.12);
      outline();
      pen.fillStyle = this.colors.fog;
      pen.fill("evenodd");
    });
    pen.setTransform(cell, 0, 0, cell, edge, edge);
    pen.beginPath();
    pen.rect(0, 0, size, size);
    outline();
    pen.clip("evenodd");
    pen.setTransform(1, 0, 0, 1, 0, 0);
    for (let k = 0; k < film.cells; k += 2) {
      const [x, y] = this.place(k), drift = 0.25 * Math.sin(now * 0.4 + k * 0.7);
      this.put("fog", x + drift + 0.3 * Math.sin(k * 12.9), y + 0.4 * Math.sin(k * 7.3));
    }
    pen.restore();
    this.inCells(() => {
      pen.beginPath();
      pen.rect(0, 0, size, size);
      pen.clip();
      pen.strokeStyle = this.colors.fog;
      pen.globalAlpha = 0.09;
      const [x, y] = [left || -1, top || -1], [u, v] = [right, bottom].map((at) => at < size ? at : size + 1);
      for (let k = 1; k <= 8; k++) { // mist, but not along the board's own edge
        pen.lineWidth = 0.08 * k;
        pen.strokeRect(x, y, u - x, v - y);
      }
    });
    this.inCells(() => {
      pen.strokeStyle = this.colors[`agent${look.view}`];
      pen.lineWidth = 0.06;
      pen.beginPath();
      outline();
      pen.stroke();
    });
  }

  /** Paint radio words in bubbles; an agent's view has only those that it says or hears, even out of the fog. */
  paintWords({ frame, after, phase, look }) {
    const { film } = this;
    frame.words.forEach((words, k) => {
      const heard = look.view === null || film.team(look.view).includes(k);
      if (!heard || !words.some(Boolean)) return;
      const hidden = look.view !== null && !film.sees(look.view, frame.agents[k].cell, frame);
      let [x, y] = this.between(frame.agents[k].cell, after.agents[k].cell, phase);
      if (hidden) {
        const far = (at) => at < film.size / 2 ? film.size - 1.2 : 0.2;
        [x, y] = this.place(frame.agents[look.view].cell).map(far);
        this.put(`agent${k}`, x, y, 1, 0.8);
        this.put("face", x, y, 1, 0.8);
      }
      this.paintBubble(k, words.join(" "), x, y);
    });
  }

  paintBubble(agent, words, x, y) {
    const { pen, film } = this;
    const left = Math.min(Math.max(x + 0.02, -0.2), film.size - 0.76), top = Math.max(y - 0.86, -0.3);
    this.inCells(() => {
      pen.fillStyle = this.colors.white;
      pen.strokeStyle = this.colors[`agent${agent}`];
      pen.lineWidth = 0.05;
      pen.beginPath();
      pen.roundRect(left, top, 0.96, 0.5, 0.2);
      pen.stroke();
      pen.fill();
      pen.beginPath();
      pen.moveTo(left + 0.36, top + 0.49);
      pen.lineTo(left + 0.48, top + 0.64);
      pen.lineTo(left + 0.58, top + 0.49);
      pen.fill();
    });
    this.text(words, left + 0.48, top + 0.27, 0.34, this.colors.ink);
  }
}

/** Draw one layer of the fire in a cell with the width ``wide``: see ``flame`` in ``art.py``. */
function drawFlame(pen, { waves, tongue }, links, wide) {
  const ways = [UP, DOWN, LEFT, RIGHT].filter((direction) => links >> direction & 1);
  pen.beginPath();
  for (const direction of ways) drawArm(pen, direction, wide, 0.505, waves);
  if (ways.length === 1) {
    drawArm(pen, BACK[ways[0]], wide, 0.22 + 0.3 * wide, tongue);
  } else {
    const around = wide * (ways.length > 2 ? 0.62 : 0.5);
    pen.moveTo(0.5 + around, 0.5);
    pen.ellipse(0.5, 0.5, around, around, 0, 0, TAU);
  }
  pen.fill();
}

function drawArm(pen, direction, wide, reach, outline) {
  const [dx, dy] = TURNS[direction], steps = outline.length - 1;
  const point = (k, side) => {
    const far = reach * k / steps, half = side * wide / 2 * outline[k];
    return [0.5 + dx * far - dy * half, 0.5 + dy * far + dx * half];
  };
  pen.moveTo(...point(0, -1));
  for (let k = 1; k <= steps; k++) pen.lineTo(...point(k, -1));
  for (let k = steps; k >= 0; k--) pen.lineTo(...point(k, 1));
  pen.closePath();
}

/** Paint one position: a complete one, or one agent's view of it.  Returns the board, to whose ``film`` frames can be added. */
export function paintPosition(canvas, setting, picture, { night = false, width = canvas.clientWidth || 320 } = {}) {
  const board = new Board(canvas, new Film(setting));
  board.film.push(picture);
  board.dress(setting.colors[night ? "night" : "day"]);
  board.fit(width, devicePixelRatio || 1);
  board.paint(0, 0, { ...PLAIN, view: picture.me ?? null });
  return board;
}
