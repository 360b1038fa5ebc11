/* The players: the choice of a view, and a card per player. */

import { agentTitle, make } from "../dom.js";

/** Buttons for the complete state and for each player's view. */
export class Views {
  constructor(player) {
    this.player = player;
    const { stage, recording } = player;
    const add = (view, properties, ...content) =>
      ({ view, button: make("button", { type: "button", onclick: () => player.look(view), ...properties }, ...content) });
    const whole = add(null, { className: "whole", title: `${stage.everything} (0)`, textContent: stage.everything });
    this.buttons = [whole, ...recording.players.map((name, k) => {
      const label = make("span", { className: "label", textContent: name }), title = `What ${name} sees`;
      const properties = { title: `${title} (${k + 1})`, ariaLabel: title, style: { "--tint": stage.tint(k) } };
      return add(k, properties, stage.portrait(k), label);
    })];
    this.element = make("div", { className: "views", aria: { role: "group", label: "Whose view is shown" } },
      ...this.buttons.map(({ button }) => button));
  }

  refresh() {
    for (const { view, button } of this.buttons) button.ariaPressed = view === this.player.eyes.view;
  }
}

/** A card per player, teams together. */
export class Cards {
  constructor(player) {
    this.player = player;
    const { teams, players } = player.recording;
    this.cards = players.map((_, k) => this.card(k));
    this.element = make("div", { className: "teams" }, ...teams.map((team) =>
      make("div", { className: "team panel" }, ...team.map((k) => this.cards[k].button))));
  }

  card(k) {
    const { player } = this, { stage, recording } = player, { elements, refresh } = stage.status(k);
    const move = make("span", { className: "move" });
    const name = make("span", { className: "name", title: recording.agents[k] },
      recording.players[k], make("small", { textContent: agentTitle(recording.agents[k]) }));
    const onclick = () => player.look(player.eyes.view === k ? null : k);
    const button = make("button", { type: "button", className: "seat-card", onclick, style: { "--tint": stage.tint(k) } },
      stage.portrait(k), name, move, ...elements);
    return { button, move, refresh };
  }

  refresh() {
    const { at, eyes, recording } = this.player;
    this.cards.forEach(({ button, move, refresh }, k) => {
      const told = refresh(at, eyes.view);
      button.classList.toggle("out", told.out);
      button.ariaPressed = eyes.view === k;
      button.ariaLabel = [`${recording.players[k]}, ${recording.agents[k]}`, told.label].filter(Boolean).join(", ");
      move.replaceChildren(...told.move);
      move.title = told.title;
    });
  }
}
