/* Requests to the server. */

const token = () => sessionStorage.getItem("token") ?? "";

/** Return a random id by which the server tells browsers apart in its queue; it grants no access. */
function visitor() {
  let word = localStorage.getItem("visitor");
  if (!word) localStorage.setItem("visitor", word = Array.from({ length: 3 }, () => Math.random().toString(36).slice(2)).join(""));
  return word;
}

async function answered(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ?? `the server says ${response.status}`);
  return body;
}

const TRIES = 6; // of a question for which the server had no room: the server did nothing, and says when to ask again

let busy = () => {}, waiting = 0;

/** Call ``listener(whether)`` when requests begin to wait for an overloaded server, and when the last one is done. */
export const whenBusy = (listener) => { busy = listener; };

async function reached(...asked) {
  for (let tries = 1; ; tries++) {
    let response;
    try {
      response = await fetch(...asked);
    } catch {
      throw new Error("The server cannot be reached. Is it still running?");
    }
    const seconds = response.headers.get("retry-after");
    if (seconds === null || tries === TRIES) return response;
    busy(++waiting > 0);
    await new Promise((done) => { setTimeout(done, 1000 * seconds * (0.5 + Math.random()) * tries); }); // not all at once
    busy(--waiting > 0);
  }
}

/** Return the answer of ``/api/PATH``. */
export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return answered(await reached(`/api/${path}${query ? `?${query}` : ""}`));
}

/** Send a request that changes something. */
export async function post(path, body = {}) {
  const headers = { "content-type": "application/json", "x-infoset-token": token(), "x-infoset-visitor": visitor() };
  return answered(await reached(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

/** Return the properties of a link that saves the answer as a file. */
export const saving = (path, parameters, name) => ({ href: `/api/${path}?${new URLSearchParams(parameters)}`, download: name });

/** Return whether this browser may change something. */
export const mayWrite = () => token() !== "";

/** Open a web socket that reconnects when it breaks; ``heard`` gets every message, ``state`` whether it is open. */
export function line(path, heard, state = () => {}, first = {}) {
  let socket = null, wait = 250, closed = false;
  const open = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/${path}`);
    socket.onopen = () => {
      wait = 250;
      socket.send(JSON.stringify({ token: token(), ...first }));
      state(true);
    };
    socket.onmessage = ({ data }) => heard(JSON.parse(data));
    socket.onclose = () => {
      if (closed) return;
      state(false);
      setTimeout(open, wait = Math.min(2 * wait, 4000));
    };
  };
  open();
  return {
    send: (message) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message)),
    close: () => { closed = true; socket.close(); },
  };
}
