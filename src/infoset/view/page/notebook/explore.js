/* Explore in a notebook. */

import { make } from "../dom.js";
import { show } from "../explore.js";
import { connect } from "./api.js";
import { begin } from "./app.js";

/** Show the place of ``parameters`` in ``app``, with answers from the kernel through ``model``.  Returns a function that closes it. */
export function mountExplorer(app, model, parameters) {
  const line = make("p", { className: "muted", hidden: true, aria: { role: "status" } });
  const stop = connect(model, (text) => { line.textContent = text; line.hidden = !text; });
  const leave = begin(app, show, parameters);
  app.append(line);
  return () => { leave(); stop(); };
}
