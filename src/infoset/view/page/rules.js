/* The rules of a game, written for people: a panel that is filled when it is first opened. */

import { get } from "./api.js";
import { make } from "./dom.js";

/** Return a panel with the rules of a source's game; `game:NAME` is the game of that name. */
export function rulesPanel(source, open = false) {
  const body = make("div", { className: "rules-body" }, make("p", { className: "muted", aria: { role: "status" } }, "One moment …"));
  const panel = make("details", { className: "rules panel" }, make("summary", {}, "Rules"), body);
  let asked = false;
  const fill = async () => {
    if (asked || !panel.open) return;
    asked = true;
    try {
      body.replaceChildren(...written(await get("explore/rules", { source })));
    } catch (error) {
      asked = false;
      body.replaceChildren(make("p", { className: "muted" }, error.message));
    }
  };
  panel.addEventListener("toggle", fill);
  panel.open = open;
  fill();
  return panel;
}

function written({ about, parts, example, note }) {
  const told = [];
  if (about) told.push(make("p", { className: "rules-about" }, about));
  if (parts.length) told.push(make("dl", {}, ...parts.flatMap(([title, text]) => [make("dt", {}, title), make("dd", {}, text)])));
  if (example.length) {
    told.push(make("h3", {}, "Example"), make("ol", {}, ...example.map((step) => make("li", {}, step))));
    if (note) told.push(make("p", {}, note));
  }
  return told;
}
