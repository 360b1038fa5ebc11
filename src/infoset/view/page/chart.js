/* Line charts as SVG: scales, ticks, the picture. */

import { draw } from "./dom.js";

const MARGIN = { top: 14, right: 18, bottom: 46, left: 66 };
const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** Map values to pixels; ``log`` requires positive values. */
function scale(values, log, from, to) {
  let low = Math.min(...values), high = Math.max(...values);
  if (!values.length) [low, high] = log ? [1, 10] : [0, 1];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const of = log ? Math.log10 : (value) => value;
  const room = 0.03 * (of(high) - of(low));
  const [a, b] = [of(low) - room, of(high) + room];
  const at = (value) => from + ((of(value) - a) / (b - a)) * (to - from);
  return { at, low: log ? 10 ** a : a, high: log ? 10 ** b : b, log };
}

/** Return the values of ticks, some with labels and others between them without. */
function ticks({ low, high, log }, most) {
  return log && high / low > 8 ? decades(low, high, most) : even(low, high, most);
}

function decades(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const few = last - first < 2;
  const found = [];
  for (let power = first - 1; power <= last; power += 1) {
    for (let k = 1; k < 10; k += 1) {
      const value = k * 10 ** power;
      if (value < low || value > high || (step > 1 && k > 1)) continue;
      const named = k === 1 ? (power - first) % step === 0 : few && (k === 2 || k === 5);
      found.push({ value, label: named ? label(value, k, power) : "", major: k === 1 });
    }
  }
  return found;
}

function label(value, k, power) {
  if (power >= -3 && power <= 5) return Number(value.toPrecision(1)).toLocaleString("en", { maximumFractionDigits: 3 });
  const ten = `10${[...String(power)].map((sign) => SUPER[sign]).join("")}`;
  return k === 1 ? ten : `${k}·${ten}`;
}

function even(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((k) => k * power >= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) {
    const value = k * step;
    const text = Math.abs(value) >= 1e6 || (value && digits > 6) ? value.toExponential(1)
      : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    found.push({ value, label: text.replace("-", "−"), major: true });
  }
  return found;
}

/**
 * Draw lines ``{points: [[x, y]…], colour, dash}`` in a frame of ``width`` by ``height``.
 *
 * Returns the ``svg``, and the functions ``x(value)`` and ``y(value)``, which give the pixels of a point.
 */
export function chart(lines, { width, height, logX, logY, xTitle, yTitle }) {
  const points = lines.flatMap((each) => each.points);
  const left = MARGIN.left, right = width - MARGIN.right, bottom = height - MARGIN.bottom;
  const x = scale(points.map(([value]) => value), logX, left, right);
  const y = scale(points.map(([, value]) => value), logY, bottom, MARGIN.top);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, class: "chart" });
  const grid = draw("g", { class: "grid" }), words = draw("g", { class: "words" });
  for (const { value, label: text, major } of ticks(x, Math.max(3, Math.floor((right - left) / 90)))) {
    const at = x.at(value);
    grid.append(draw("line", { x1: at, x2: at, y1: MARGIN.top, y2: bottom, class: major ? "major" : "minor" }));
    if (text) words.append(word(at, bottom + 18, text, "middle"));
  }
  for (const { value, label: text, major } of ticks(y, Math.max(3, Math.floor((bottom - MARGIN.top) / 46)))) {
    const at = y.at(value);
    grid.append(draw("line", { x1: left, x2: right, y1: at, y2: at, class: major ? "major" : "minor" }));
    if (text) words.append(word(left - 9, at + 4, text, "end"));
  }
  grid.append(draw("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
  const side = word(0, 0, yTitle, "middle", "title");
  side.setAttribute("transform", `translate(14 ${(MARGIN.top + bottom) / 2}) rotate(-90)`);
  words.append(word((left + right) / 2, height - 8, xTitle, "middle", "title"), side);
  svg.append(grid, words, ...lines.map((each) => path(each, x, y)));
  return { svg, x: x.at, y: y.at, left, right, top: MARGIN.top, bottom };
}

function path({ points, colour, dash }, x, y) {
  const d = points.map(([a, b], k) => `${k ? "L" : "M"}${x.at(a).toFixed(1)} ${y.at(b).toFixed(1)}`).join("");
  const group = draw("g", { class: "curve-line", color: colour });
  group.append(draw("path", { d, ...(dash ? { "stroke-dasharray": dash } : {}) }));
  if (points.length) group.append(draw("circle", { cx: x.at(points.at(-1)[0]), cy: y.at(points.at(-1)[1]), r: 3.5 }));
  return group;
}

function word(x, y, text, anchor, name = "") {
  const element = draw("text", { x, y, "text-anchor": anchor, class: name });
  element.textContent = text;
  return element;
}

const LOOKS = ["color", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "fill", "opacity", "font-size", "font-weight", "font-family"];

/** Return the picture as a self-contained file, with the rules of the style sheets written into it. */
export function alone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [svg, copy].map((root) => [...root.querySelectorAll("*")]);
  from.forEach((element, k) => {
    const seen = getComputedStyle(element);
    to[k].removeAttribute("style");
    for (const name of LOOKS) to[k].setAttribute(name, seen.getPropertyValue(name));
  });
  const { width, height } = svg.viewBox.baseVal;
  copy.prepend(draw("rect", { width, height, fill: getComputedStyle(svg.closest(".panel")).backgroundColor }));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}
