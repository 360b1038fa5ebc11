/* Lists of the contents of the folders: dates, counts, pages, commands, links for every kind of item. */

import { agentTitles, draw, make } from "./dom.js";

/** Return the address of a view, for a link. */
export const way = (view, parameters = {}) => {
  const query = new URLSearchParams(parameters).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
};

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const words = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

/** Return in words how long ago something was. */
export function ago(seconds) {
  const [unit, length] = UNITS.find(([, long]) => seconds >= long) ?? ["second", 1];
  return unit === "day" && seconds > 30 * length
    ? new Date(Date.now() - 1000 * seconds).toLocaleDateString()
    : words.format(-Math.round(seconds / length), unit);
}

/** Return the time since a change, with the date as its tooltip. */
export function when(changed, now) {
  const date = new Date(1000 * changed);
  return make("time", { dateTime: date.toISOString(), title: date.toLocaleString() }, ago(Math.max(0, now - changed)));
}

export const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** Return a number with three significant digits: ``0.00665``, ``4.1e−7``. */
export function figure(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = size && (size < 1e-3 || size >= 1e6) ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  return text.replaceAll("-", "−").replace("e+", "e");
}

/** Return a placeholder for missing items: a text, and the commands that make them, each with a copy button. */
export function nothing(text, ...commands) {
  return make("div", { className: "nothing panel" }, make("p", {}, text), ...commands.map(command));
}

function command(text) {
  const button = make("button", {
    type: "button",
    onclick: async () => {
      await navigator.clipboard?.writeText(text).catch(() => {});
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    },
  }, "Copy");
  return make("div", { className: "command" }, make("code", {}, text), button);
}

/** Return the buttons to the previous and next page; ``turn`` gets the offset of the chosen page. */
export function pager(total, offset, limit, turn) {
  if (total <= limit) return null;
  const last = Math.min(offset + limit, total);
  const step = (word, to, allowed) =>
    make("button", { type: "button", disabled: !allowed, onclick: () => turn(to) }, word);
  return make("nav", { className: "pager", aria: { label: "Pages" } },
    step("Newer", Math.max(0, offset - limit), offset > 0),
    make("span", { className: "number muted" }, `${(offset + 1).toLocaleString("en")}–${last.toLocaleString("en")} of ${total.toLocaleString("en")}`),
    step("Older", offset + limit, last < total));
}

/** Draw a small curve without axes; logarithmic where all values are positive. */
export function spark(values, width = 132, height = 40) {
  const known = values.filter((value) => value !== null);
  const positive = known.every((value) => value >= 0) && known.some((value) => value > 0);
  const floor = Math.min(...known.filter((value) => value > 0));
  const scaled = known.map((value) => (positive ? Math.log(Math.max(value, floor)) : value));
  const [low, high] = [Math.min(...scaled), Math.max(...scaled)];
  const x = (k) => 2 + (k * (width - 8)) / Math.max(scaled.length - 1, 1);
  const y = (value) => height - 4 - ((value - low) * (height - 8)) / (high - low || 1);
  const points = scaled.map((value, k) => `${x(k).toFixed(1)},${y(value).toFixed(1)}`);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "spark", "aria-hidden": "true" });
  if (points.length < 2) return svg;
  const [endX, endY] = points.at(-1).split(",");
  svg.append(
    draw("path", { d: `M${points[0]} L${points.join(" ")} L${endX},${height} L2,${height} Z`, class: "under" }),
    draw("polyline", { points: points.join(" "), fill: "none" }),
    draw("circle", { cx: endX, cy: endY, r: 2.6 }));
  return svg;
}

/** The columns of a curve in order of preference. */
export const MEASURES = {
  exploitability: "Exploitability", nash_conv: "NashConv", current_exploitability: "Exploitability of the current profile",
  epsilon: "Epsilon", score: "Score against flat Monte Carlo", value_loss: "Loss of values", policy_loss: "Loss of policies",
};

/** Return the column of a curve that is drawn first. */
export const measure = (columns) => Object.keys(MEASURES).find((name) => columns[name]) ?? Object.keys(columns).find((name) => name.startsWith("value "));

/** Return agents in a row, with those of the largest payoff emphasised. */
export function seats(agents, returns = null) {
  const most = returns && Math.max(...returns), least = returns && Math.min(...returns);
  const list = make("span", { className: "seats" }), names = agentTitles(agents);
  agents.forEach((agent, seat) => {
    const first = returns && most > least && returns[seat] === most;
    if (seat) list.append(make("span", { className: "muted" }, " – "));
    list.append(make(first ? "strong" : "span", { title: agent }, names[seat]));
    if (first) list.append(make("span", { className: "unseen" }, " (first)"));
  });
  return list;
}
