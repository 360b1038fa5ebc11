/* The start view: links to the other views, and the contents of the folders. */

import { get } from "./api.js";
import { agentTitle, gameTitle, glyph, make } from "./dom.js";
import { counted, figure, measure, nothing, seats, spark, way, when } from "./listing.js";

const WAYS = [
  ["play", { game: "kuhn_poker", against: "equilibrium" }, "Play Kuhn poker", "three cards, one bet, against the equilibrium", "M5 4h9v16H5zM14 7l5 2-4 11"],
  ["play", { game: "pommerman:OneVsOne-v0" }, "Play Pommerman", "bombs and fog, by keyboard", "M10 21a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM14 8l3-3h3"],
  ["explore", { game: "leduc_poker" }, "Explore Leduc poker", "how often a bluff is right, and what it costs", "M12 4v5M12 9l-6 5M12 9l6 5M6 14v5M18 14v5"],
  ["watch", {}, "Watch", "recorded games through every player's eyes", "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 .01 0"],
];
const KINDS = {
  game: ["Games", "play", ""],
  run: ["Runs", "curves", "infoset solve leduc_poker --method pcfr+"],
  tournament: ["Tournaments", "compete", 'infoset tournament kuhn_poker random "scripted(actions=[bet,bet])" --db runs/kuhn.db'],
  replay: ["Replays", "watch", "infoset match kuhn_poker random random --games 5 --replay runs/games"],
  policy: ["Policies", "explore", "infoset solve kuhn_poker --method lp --out runs/kuhn"],
};

export async function show(main) {
  const artifacts = await get("first");
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      seen.unobserve(entry.target);
      entry.target.look().catch(() => {});
    }
  }, { rootMargin: "200px" });
  main.append(
    make("h1", { className: "hello" }, "Games in which something is hidden"),
    make("nav", { className: "ways", aria: { label: "Ways in" } }, ...WAYS.map(wayIn)));
  const kinds = Object.keys(KINDS);
  for (const kind of kinds.filter((each) => artifacts.counts[each])) main.append(section(kind, artifacts, seen));
  const missing = kinds.filter((each) => KINDS[each][2] && !artifacts.counts[each]);
  if (kinds.every((each) => !artifacts.counts[each])) main.append(empty(artifacts.folders));
  else if (missing.length) {
    main.append(make("p", { className: "muted rest" },
      `No ${missing.map((kind) => KINDS[kind][0].toLowerCase()).join(", no ")} in ${artifacts.folders.join(", ")} yet.`));
  }
  return () => seen.disconnect();
}

function wayIn([view, parameters, head, text, picture]) {
  return make("a", { className: "way panel", href: way(view, parameters) }, glyph(picture),
    make("span", {}, make("strong", {}, head), make("span", { className: "muted" }, text)));
}

function empty(folders) {
  return nothing(`Nothing lies in ${folders.join(", ")} yet. What these commands leave there is shown here:`,
    ...Object.values(KINDS).map(([, , text]) => text).filter(Boolean));
}

function section(kind, artifacts, seen) {
  const [head, view] = KINDS[kind];
  const count = artifacts.counts[kind];
  return make("section", { className: "artifacts" },
    make("div", { className: "artifacts-head" }, make("h2", {}, head),
      make("a", { href: way(view) }, kind === "policy" ? "Explore" : `All ${counted(count, kind)}`)),
    make("ul", { className: "cards" }, ...artifacts.items[kind].map((item) => make("li", {}, card(item, artifacts.now, seen)))));
}

function card(item, now, seen) {
  const box = make("article", { className: `card panel ${item.problem ? "broken" : ""}` });
  const foot = make("footer", { className: "muted" }, when(item.changed, now));
  if (item.problem) {
    box.append(make("h3", {}, item.title), make("p", {}, item.problem), foot);
    return box;
  }
  CARDS[item.kind](box, item, foot, seen);
  box.append(foot);
  return box;
}

const head = (item, view, parameters = { item: item.name }) =>
  make("h3", { title: `${item.game} · ${item.title}` }, make("a", { href: way(view, parameters) }, gameTitle(item.game)));
const line = (...parts) => make("p", { className: "muted line" }, ...parts);

const CARDS = {
  game(box, item, foot) {
    box.append(make("h3", { title: item.title }, make("a", { href: way("play", { game: item.name }) }, item.about.title || gameTitle(item.name))),
      line(item.title));
    foot.append(make("a", { href: way("explore", { game: item.name }) }, "Explore"));
  },
  run(box, item, foot, seen) {
    const value = make("span", { className: "figure number" });
    const curve = make("div", { className: "curve" });
    box.append(head(item, "curves"), line([item.about.method, agentTitle(item.title)].filter(Boolean).join(" · ")), make("div", { className: "row" }, value, curve));
    if (item.policy) foot.append(make("a", { href: way("explore", { item: item.name }) }, "Explore"));
    box.look = async () => {
      const { columns } = await get("curve", { item: item.name, most: 60 });
      const name = measure(columns);
      if (!name) return;
      const values = columns[name].filter((each) => each !== null);
      value.append(make("strong", {}, figure(values.at(-1))), make("small", {}, name.replaceAll("_", " ")));
      curve.append(spark(values));
    };
    seen.observe(box);
  },
  tournament(box, item, foot, seen) {
    const leader = make("p", { className: "leader" }, " ");
    box.append(head(item, "compete"), line(`${item.title} · ${counted(item.about.teams, "team")}, ${item.about.format || "round robin"}`), leader);
    box.look = async () => {
      const found = await get("standings", { item: item.name });
      const name = found.rows[0].team;
      leader.append(make("span", { className: "cup", aria: { hidden: "true" } }, "1"), make("strong", { title: name }, agentTitle(name)));
      foot.append(make("span", {}, `${counted(found.games, "game")}${found.running ? " so far" : ""}`));
    };
    seen.observe(box);
  },
  replay(box, item, foot) {
    box.append(head(item, "watch"), make("p", { className: "line" }, seats(item.about.agents, item.about.returns)));
    if (item.about.over === false) foot.append(make("span", {}, "not finished"));
  },
  policy(box, item) {
    box.append(head(item, "explore"), line([item.about.method, item.title].filter(Boolean).join(" · ")));
  },
};
