/* The start of Explore: the strategies in the folders, and games that are solved on the spot. */

import { get, mayWrite } from "./api.js";
import { go } from "./app.js";
import { gameTitle, make } from "./dom.js";
import { when } from "./listing.js";

const GAMES = [
  ["kuhn_poker", "three cards, one bet"], ["leduc_poker", "two rounds, one public card"],
  ["kuhn_poker(players=3)", "three players"], ["liars_dice", "one die each"], ["goofspiel(num_cards=4)", "bids at once"],
  ["holdem_turn", "two ranges, from the turn on"], ["tiny_hanabi", "a shared payoff"], ["gdl:meier", "claims and doubts, in GDL-II"],
];

const card = (parameters, name, about) => make("li", {},
  make("a", { className: "panel", href: `#/explore?${new URLSearchParams(parameters)}` }, make("b", {}, name), make("span", { className: "muted" }, ...about)));

export async function landing(main) {
  get("explore/ready").catch(() => {});
  const artifacts = (await get("artifacts")).filter((item) => item.kind === "run" || item.kind === "policy");
  const { items: files } = await get("items", { kind: "game", limit: 200 });
  const now = Date.now() / 1000;
  const input = make("input", { placeholder: "leduc_poker(players=3)", aria: { label: "A game by name" }, required: true });
  main.append(make("div", { className: "explore" },
    make("h1", {}, "Explore"),
    make("h2", {}, "Strategies in the folders"),
    artifacts.length ? make("ul", { className: "ex-choices" }, ...artifacts.slice(0, 60).map((item) => card({ item: item.name }, item.name.replace(/^\d+\//, ""), [`${item.kind}, `, when(item.changed, now)])))
      : make("p", { className: "muted" }, "None yet: infoset solve leaves them there."),
    ...(files.length ? [make("h2", {}, "Games in the folders"),
      make("ul", { className: "ex-choices" }, ...files.filter((file) => !file.problem).map((file) => card({ game: file.name }, file.about.title || gameTitle(file.name), [file.title])))] : []),
    make("h2", {}, "Solve a game here"),
    mayWrite() ? null : make("p", { className: "muted" }, "Needs the link with the token that the server printed."),
    make("ul", { className: "ex-choices" }, ...GAMES.map(([name, about]) => card({ game: name }, gameTitle(name), [about]))),
    make("form", { className: "ex-buttons", onsubmit: (event) => { event.preventDefault(); go("explore", { game: input.value.trim() }); } },
      input, make("button", { className: "main" }, "Solve it"))));
}
