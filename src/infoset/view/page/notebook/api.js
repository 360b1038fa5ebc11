/* The notebook's version of api.js: questions go to the kernel, as messages of the widget. */

import { save } from "../dom.js";

const PATIENCE = 3000; // milliseconds

const view = Math.random().toString(36).slice(2); // one widget may be shown several times
const waiting = new Map();
let model = null, count = 0, tell = () => {};

/** Send questions through this model from now on; ``told`` gets a status line while an answer takes long.  Returns a stop function. */
export function connect(through, told) {
  model = through;
  tell = told;
  model.on("msg:custom", heard);
  return () => model.off("msg:custom", heard);
}

function heard({ number, answer, refused }) {
  const waits = waiting.get(number);
  if (!waits) return;
  waiting.delete(number);
  clearTimeout(waits.late);
  tell("");
  if (refused) waits.reject(new Error(refused));
  else waits.resolve(JSON.parse(answer));
}

/** Return the kernel's answer. */
export function get(path, parameters = {}) {
  return new Promise((resolve, reject) => {
    const number = `${view}.${++count}`;
    const late = setTimeout(() => tell("The kernel is busy, or gone: waiting for its answer …"), PATIENCE);
    waiting.set(number, { resolve, reject, late });
    model.send({ number, path, asked: parameters });
  });
}

/** Send a request that changes something. */
export const post = get;

/** Return whether this view may change something. */
export const mayWrite = () => true;

/** Return the properties of a link that saves the answer, which comes in pieces, as a file. */
export function saving(path, parameters, name) {
  const fetched = async () => {
    const pieces = [];
    for (let first = 0, piece; first !== null;) {
      [piece, first] = await get(path, { ...parameters, first });
      pieces.push(piece);
    }
    save(name, pieces, "text/csv");
  };
  return { href: "#", onclick: (event) => { event.preventDefault(); fetched().catch((error) => tell(error.message)); } };
}
