/* The first view: what can be done here, and what lies in the folders. */

import { get } from "./api.js";
import { make } from "./dom.js";

export async function show(main) {
  const shelf = await get("shelf");
  main.append(make("h1", {}, "infoset"), make("ul", {}, ...shelf.map((item) => make("li", {}, `${item.kind} ${item.name}`))));
}
