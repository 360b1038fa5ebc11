/* The result, shown over the stage at the end. */

import { make, signed } from "../dom.js";

export class Banner {
  constructor(player) {
    this.player = player;
    this.element = make("div", { className: "banner", hidden: true, aria: { role: "status" } });
    this.build();
  }

  build() {
    const { stage, recording, keys } = this.player, { returns = [], players, winners = [], outcome = "" } = recording;
    this.element.replaceChildren(
      make("div", { className: "winners" }, ...winners.map((k) => stage.portrait(k))),
      make("strong", { className: "outcome", textContent: outcome }),
      make("span", { className: "pays", textContent: pays(returns, players) }),
      make("div", { className: "choices" },
        make("button", { type: "button", className: "main again", textContent: "Watch again", onclick: keys.k }),
        make("button", { type: "button", className: "close", textContent: "Close", onclick: keys.Escape })));
  }

  refresh() {
    const { at, stage, closed, options } = this.player;
    this.element.hidden = at !== stage.last || closed || options.live;
  }
}

/** Return the payoffs, with the players of equal payoff together. */
function pays(returns, players) {
  return [...new Set(returns)].map((pay) => {
    const who = players.filter((_, k) => returns[k] === pay);
    return `${who.length === players.length ? "everyone" : who.join(", ")} ${signed(pay)}`;
  }).join(" · ");
}
