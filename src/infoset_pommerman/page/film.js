/* The positions after each step of a game, recorded or still going on. */

export const STOP = 0, UP = 1, DOWN = 2, LEFT = 3, RIGHT = 4, BOMB = 5;
export const RIGID = 1, WOOD = 2;
export const TURNS = { [UP]: [0, -1], [DOWN]: [0, 1], [LEFT]: [-1, 0], [RIGHT]: [1, 0] };
export const BACK = { [UP]: DOWN, [DOWN]: UP, [LEFT]: RIGHT, [RIGHT]: LEFT };

/**
 * The unpacked frames, each with the complete position.  ``data`` is a recording, or the ``setting`` of a game to which
 * frames are pushed while it is played: complete ones (with ``key``), or changes against the frame before.
 */
export class Film {
  constructor({ frames = [], events = [], ...setting }) {
    Object.assign(this, setting);
    this.cells = this.size * this.size;
    this.frames = [];
    this.events = [];
    frames.forEach((raw) => this.push(raw));
    this.tell(events);
  }

  get last() {
    return this.frames.length - 1;
  }

  push(raw) {
    const before = this.frames.at(-1), empty = new Uint8Array(this.cells), known = raw.key ? undefined : before;
    const frame = {
      step: raw.step ?? (before ? before.step + 1 : 0),
      ground: patched(known?.ground ?? empty, raw.g), hidden: patched(known?.hidden ?? empty, raw.h),
      agents: raw.a.map(([alive, cell, ammo, blast, kick, facing]) => ({ alive, cell, ammo, blast, kick, facing })),
      bombs: (raw.b ?? []).map(([id, cell, owner, life, strength]) => ({ id, cell, owner, life, strength })),
      flames: (raw.f ?? []).map(([cell, life, links]) => ({ cell, life, links })),
      blasts: (raw.x ?? []).map(([id, cell, strength]) => ({ id, cell, strength })),
      moves: raw.m ?? [],
      words: raw.w ?? [],
      fog: raw.fog ? new Set(raw.fog) : null,
    };
    frame.window = frame.fog && this.clearing(frame.fog);
    if (frame.fog) this.recognise(frame, before);
    this.frames.push(frame);
  }

  /** Add events: ``[frame, kind, agent, what, text]``. */
  tell(events) {
    this.events.push(...events.map(([frame, kind, agent, what, text]) => ({ frame, kind, agent, what, text })));
  }

  frame(index) {
    return this.frames[Math.max(0, Math.min(this.last, index))];
  }

  /** Return the cells without fog: an agent sees a rectangle. */
  clearing(fog) {
    const clear = [...Array(this.cells).keys()].filter((cell) => !fog.has(cell));
    const columns = clear.map((cell) => cell % this.size), rows = clear.map((cell) => Math.floor(cell / this.size));
    return {
      left: Math.min(...columns), top: Math.min(...rows),
      right: Math.max(...columns) + 1, bottom: Math.max(...rows) + 1,
    };
  }

  /** Number the bombs of an agent's view: one that burns on in its cell or an adjacent one is taken for the same bomb. */
  recognise(frame, before) {
    const old = [...before?.bombs ?? []];
    this.laid ??= 0;
    for (const bomb of frame.bombs) {
      const near = ({ cell }) => cell === bomb.cell || [UP, DOWN, LEFT, RIGHT].some((d) => this.beyond(cell, d) === bomb.cell);
      const same = old.filter((other) => other.life === bomb.life + 1 && other.strength === bomb.strength && near(other))
        .sort((a, b) => (a.cell !== bomb.cell) - (b.cell !== bomb.cell))[0];
      bomb.id = same ? same.id : this.laid++;
      if (same) old.splice(old.indexOf(same), 1);
    }
  }

  /** Return the next cell in a direction, or -1. */
  beyond(cell, direction) {
    const [dx, dy] = TURNS[direction], x = cell % this.size + dx, y = Math.floor(cell / this.size) + dy;
    return x < 0 || y < 0 || x >= this.size || y >= this.size ? -1 : y * this.size + x;
  }

  /** Return the cells that a bomb would burn with the present walls and wood. */
  reach(bomb, ground) {
    const cells = [bomb.cell];
    for (const direction of [UP, DOWN, LEFT, RIGHT]) {
      let cell = bomb.cell;
      for (let k = 1; k < bomb.strength; k++) {
        cell = this.beyond(cell, direction);
        if (cell < 0 || ground[cell] === RIGID) break;
        cells.push(cell);
        if (ground[cell] === WOOD) break;
      }
    }
    return cells;
  }

  /** Return for each bomb in a view the latest time of its explosion, with chain reactions. */
  fuses(frame, view) {
    const bombs = frame.bombs.filter((bomb) => view === null || this.sees(view, bomb.cell, frame));
    const reach = bombs.map((bomb) => new Set(this.reach(bomb, frame.ground))), left = bombs.map((bomb) => bomb.life);
    for (let changed = true; changed;) {
      changed = false;
      bombs.forEach((bomb, k) => reach.forEach((cells, other) => {
        if (cells.has(bomb.cell) && left[other] < left[k]) {
          left[k] = left[other];
          changed = true;
        }
      }));
    }
    return bombs.map((bomb, k) => ({ bomb, left: left[k], cells: reach[k] }));
  }

  /** Return whether an agent sees a cell from its position in a frame. */
  sees(agent, cell, frame) {
    if (frame.fog) return cell !== null && !frame.fog.has(cell);
    if (this.view === null) return true;
    const own = frame.agents[agent].cell, size = this.size;
    const far = (a, b) => Math.abs(a - b) > this.view;
    return !far(cell % size, own % size) && !far(Math.floor(cell / size), Math.floor(own / size));
  }

  team(agent) {
    return this.teams.find((team) => team.includes(agent));
  }
}

function patched(values, changes) {
  if (!changes) return values;
  const copy = values.slice();
  for (let k = 0; k < changes.length; k += 2) copy[changes[k]] = changes[k + 1];
  return copy;
}
