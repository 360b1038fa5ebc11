/* Watch: the list of replays, and the player for a replay, a game of a tournament, or a live table. */

import { get } from "./api.js";
import { complaint, go } from "./app.js";
import { agentTitle, gameTitle, make } from "./dom.js";
import { counted, nothing, pager, seats, way, when } from "./listing.js";

const LIMIT = 40;

export async function show(main, parameters) {
  if (parameters.has("table")) return (await import("./live.js")).show(main, parameters);
  return parameters.has("item") ? play(main, parameters) : list(main, parameters);
}

async function play(main, parameters) {
  const item = parameters.get("item"), match = parameters.get("match");
  const title = match ? `Game ${match}` : item.split("/").at(-1);
  const back = match ? way("compete", { item }) : way("watch");
  main.append(make("div", { className: "watch-head" },
    make("a", { href: back, className: "back" }, match ? "← The tournament" : "← All replays"), make("span", { className: "muted", title: item }, title)));
  const place = make("div", { className: "player-place", aria: { busy: "true" } }, make("p", { className: "muted" }, "Playing it again…"));
  main.append(place);
  try {
    const [recording, { mountPlayer }] = await Promise.all([
      get("recording", match ? { item, match } : { item }), import("./player.js"),
    ]);
    place.replaceChildren();
    const player = mountPlayer(place, recording, { keys: document });
    return () => player.destroy();
  } catch (error) {
    place.replaceChildren(complaint(error.message));
    return null;
  } finally {
    place.removeAttribute("aria-busy");
  }
}

async function list(main, parameters) {
  const asked = { kind: "replay", limit: LIMIT };
  for (const name of ["game", "agent", "text", "offset"]) if (parameters.get(name)) asked[name] = parameters.get(name);
  let latest = 0;
  const body = make("tbody");
  const head = make("span", { className: "muted number", aria: { role: "status" } });
  const pages = make("div");
  const game = choice("Game", "Any game", "game", gameTitle), agent = choice("Agent", "Anybody", "agent", agentTitle);
  const text = make("input", { type: "search", placeholder: "Find…", value: asked.text ?? "", aria: { label: "Find" } });
  let waiting = 0;
  text.oninput = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ text: text.value }), 200);
  };
  const table = make("div", { className: "panel scroll" }, make("table", { className: "list stacked" },
    make("thead", {}, make("tr", {}, ...["Game", "Agents by seat", "Payoffs", "When"].map((word) => make("th", { scope: "col", className: word === "When" ? "right" : "" }, word)))), body));

  function choice(label, any, name, called) {
    const select = make("select", { onchange: () => change({ [name]: select.value }), aria: { label } });
    select.fill = (found) => {
      const chosen = asked[name] ?? "";
      const options = found.some(([value]) => value === chosen) || !chosen ? found : [[chosen, 0], ...found];
      select.replaceChildren(make("option", { value: "" }, any),
        ...options.map(([value, count]) => make("option", { value, title: value }, `${called(value)} (${count})`)));
      select.value = chosen;
    };
    return select;
  }

  async function change(news) {
    Object.assign(asked, { offset: 0 }, news);
    const { kind, limit, ...shown } = asked;
    go("watch", Object.fromEntries(Object.entries(shown).filter(([, value]) => value)), true);
    await fill();
  }

  async function fill() {
    const mine = latest += 1;
    const found = await get("items", asked);
    if (mine !== latest) return;
    game.fill(found.games);
    agent.fill(found.agents);
    head.textContent = counted(found.total, "replay");
    body.replaceChildren(...found.items.map((item) => row(item, found.now)));
    table.hidden = !found.total;
    pages.replaceChildren(pager(found.total, Number(asked.offset ?? 0), LIMIT, (offset) => {
      change({ offset });
      main.scrollIntoView();
    }) ?? "");
    if (!found.total) {
      pages.append(asked.game || asked.agent || asked.text ? make("p", { className: "muted" }, "No replay fits.")
        : nothing("No replay lies in the folders yet. A game that is played leaves one:",
          "infoset match kuhn_poker random random --games 5 --replay runs/games"));
    }
  }

  await fill();
  main.append(make("div", { className: "view-head" }, make("h1", {}, "Watch"), head),
    make("div", { className: "filters" }, game, agent, text), table, pages);
  return () => clearTimeout(waiting);
}

function row(item, now) {
  const name = make("a", { href: way("watch", { item: item.name }), title: `${item.game} · ${item.title}` }, item.game ? gameTitle(item.game) : item.title);
  const time = make("td", { className: "muted right" }, when(item.changed, now));
  if (item.problem) {
    return make("tr", {}, make("th", { scope: "row" }, item.title), time, make("td", { className: "muted wide", colSpan: 2 }, item.problem));
  }
  const { agents, returns, over } = item.about;
  const paid = (returns ?? []).map((value) => String(Number(value.toFixed(3))).replace("-", "−")).join(" / ");
  return make("tr", {}, make("th", { scope: "row", className: "wide" }, name), make("td", { className: "wide" }, seats(agents, returns)),
    make("td", { className: "number" }, over === false ? "not finished" : paid), time);
}
