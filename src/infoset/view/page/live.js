/* A running game between agents: the replay player, to which frames are pushed. */

import { get, line } from "./api.js";
import { say } from "./app.js";
import { make } from "./dom.js";
import { mountPlayer } from "./player.js";

/** Show the view ``#/watch?table=ID``; returns a function that ends it. */
export async function show(main, parameters) {
  const id = parameters.get("table");
  const table = await get(`tables/${id}`);
  if (table.people) {
    main.append(make("div", { className: "waiting panel" }, make("h1", {}, "People play here"),
      make("p", { className: "muted" }, "What they do not know of one another must not be seen from here. ",
        "The game can be watched when it is over."),
      make("p", {}, make("a", { href: "#/watch" }, "All replays"))));
    return () => {};
  }
  const note = make("p", { className: "live-note", aria: { role: "status" } }, "Setting the table…");
  const room = make("div");
  main.append(note, room);
  let player = null;
  const heard = (message) => {
    if (message.kind === "first" && message.recording) {
      player?.destroy();
      player = mountPlayer(room, message.recording, { live: !message.recording.over, keys: window });
      note.replaceChildren(...(message.recording.item ? ended(message.recording) : [dot(), "Live"]));
    } else if (message.kind === "frame") player?.push(message.frame, message.events);
    else if (message.kind === "end") {
      player?.end(message.result);
      note.replaceChildren(...ended(message.result));
      say(`It is over: ${message.result.outcome}`);
    } else if (message.what) note.textContent = `One moment: ${message.what}…`;
    else if (message.why) note.textContent = `${message.why}.`;
    if (message.kind === "closed") lines.close();
  };
  const lines = line(`live/${id}`, heard, (stands) => {
    if (!stands) note.textContent = "The server cannot be reached; the game comes back as soon as it can.";
  });
  return () => {
    lines.close();
    player?.destroy();
  };
}

const dot = () => make("span", { className: "live-dot", aria: { hidden: "true" } });

function ended(result) {
  return ["It is over. ", make("a", { href: `#/watch?item=${encodeURIComponent(result.item)}` }, "The replay")];
}
