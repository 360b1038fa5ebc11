/* The path through a game as a tree: every step with its alternatives; the width of a line is the probability. */

import { draw, percent } from "./dom.js";

const LINE = 24, INDENT = 16, SIBLINGS = 9;

/** Return the probability of a branch, relative to its step. */
const share = (step, branch) => (branch.reach === null || !step.reach ? null : branch.reach / step.reach);

/** Return some of many branches, including the chosen one. */
function some(step) {
  if (step.branches.length <= SIBLINGS) return step.branches;
  const first = step.branches.slice(0, SIBLINGS - 1);
  const chosen = step.branches.find((branch) => branch.at === step.chosen);
  return chosen && !first.includes(chosen) ? [...first.slice(0, -1), chosen] : first;
}

/** Draw the tree from the steps of a place; ``go(depth, branch)`` follows a branch. */
export function wayTree(steps, who, go, width) {
  const svg = draw("svg", { width, role: "group", "aria-label": "The game tree along the way" });
  const lines = [];
  let line = 0;
  const walk = (depth, from) => {
    const step = steps[depth];
    if (!step) return;
    const shown = some(step);
    const x = 12 + Math.min(depth, 9) * INDENT;
    for (const branch of shown) {
      const taken = branch.at === step.chosen;
      const y = 14 + ++line * LINE;
      const part = share(step, branch);
      lines.push(link(x, from, y, step.reach === null ? 0.3 : branch.reach, taken));
      svg.append(node(x + INDENT, y, branch, part, taken, taken && depth === steps.length - 1, who, width, () => go(depth, branch)));
      if (taken) walk(depth + 1, y);
    }
    if (step.branches.length > shown.length || step.more) {
      const y = 14 + ++line * LINE;
      svg.append(draw("text", { x: x + INDENT + 6, y, class: "ex-rest" }, `… ${step.branches.length - shown.length + step.more} more`));
    }
  };
  svg.append(draw("text", { x: 12, y: 14 }, "start"));
  walk(0, 14);
  svg.prepend(...lines.filter((one) => !one.classList.contains("ex-taken")), ...lines.filter((one) => one.classList.contains("ex-taken")));
  svg.setAttribute("height", 14 + line * LINE + 18);
  return svg;
}

function link(x, from, y, reach, taken) {
  const wide = 1 + 7 * Math.sqrt(Math.max(reach ?? 0, 0));
  return draw("path", {
    d: `M${x} ${from + 8}V${y - 6}q0 6 6 6H${x + INDENT - 2}`, "stroke-width": wide.toFixed(2), class: taken ? "ex-taken" : "",
  });
}

function node(x, y, branch, part, taken, here, who, width, go) {
  const words = `${who(branch.by)}: ${branch.label}`;
  const room = Math.max(6, Math.floor((width - x - 70) / 7));
  const group = draw("g", {
    class: `ex-node${here || taken ? " ex-here" : ""}`, role: "button", tabindex: "0",
    "aria-label": `${words}${part === null ? "" : `, ${percent(part)}`}${branch.ends ? ", the game ends" : ""}`,
  },
  draw("rect", { x: x - 2, y: y - LINE / 2 + 1, width: Math.max(width - x, 40), height: LINE - 2, rx: 6 }),
  draw("text", { x: x + 6, y }, (words.length > room ? `${words.slice(0, room - 1)}…` : words) + (branch.ends ? " ▪" : "")),
  draw("text", { x: width - 8, y, class: "ex-share" }, part === null ? (branch.rows ? branch.rows.toLocaleString("en") : "") : percent(part)));
  group.addEventListener("click", go);
  group.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    go();
  });
  return group;
}
