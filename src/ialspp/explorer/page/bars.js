// Bars: the parts of a score, side by side in the hues of the picks that they come from.

import { element } from "./dom.js";
import { short } from "./words.js";

export function hueClass(pick) {
  return pick ? `hue-${pick.hue}` : "hue-rest";
}

// One bar for a whole score. Its length is the share of the best score; parts below zero are left out.
export function stackedBar(entry, bestScore, picks) {
  const bar = element("div", { class: "bar", "aria-hidden": "true" });
  const parts = entry.because.map(({ item, part }) => ({ part, pick: picks.find(item), name: item.label }));
  parts.push({ part: entry.others + entry.rest, pick: null, name: "other picks" });
  const positive = parts.filter(({ part }) => part > 0);
  const total = positive.reduce((sum, { part }) => sum + part, 0);
  const length = bestScore > 0 ? Math.max(0, entry.score / bestScore) : 0;
  for (const { part, pick, name } of positive) {
    bar.append(segment((100 * length * part) / total, hueClass(pick), `${name}: ${short(part)}`));
  }
  return bar;
}

export function plainBar(share) {
  return element("div", { class: "bar", "aria-hidden": "true" }, segment(100 * Math.max(0, share), "hue-rest", ""));
}

// One line for each part, with a bar to the right, or to the left where it lowers the score.
export function partList(parts, picks) {
  const largest = Math.max(...parts.map(({ part }) => Math.abs(part)), 1e-30);
  const lines = parts.map(({ item, part }) => {
    const name = element("span", { class: "part-name" }, item.label);
    const fill = segment((100 * Math.abs(part)) / largest, hueClass(picks.find(item)), "");
    const bar = element("span", { class: part < 0 ? "part-bar below" : "part-bar", "aria-hidden": "true" }, fill);
    return element("li", {}, name, bar, element("span", { class: "number", title: part }, short(part)));
  });
  return element("ul", { class: "parts" }, ...lines);
}

function segment(percent, hue, title) {
  const made = element("span", { class: `segment ${hue}`, title });
  made.style.width = `${Math.min(percent, 100).toFixed(2)}%`;
  return made;
}
