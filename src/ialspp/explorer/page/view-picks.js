// The list of picks: name, weight as a slider, and a button that removes the pick.

import { hueClass } from "./bars.js";
import { button, byId, element } from "./dom.js";
import { count, short } from "./words.js";

const STEPS = 20; // of the slider on each side: from a tenth of the first weight to ten times as much
const NOTHING_YET = "Nothing yet. Search above, click a dot on the map, or press + in the list.";

export class PicksView {
  constructor(picks, showSimilar) {
    Object.assign(this, { picks, showSimilar });
    this.list = byId("picks");
    this.clear = byId("clear");
    this.clear.addEventListener("click", () => {
      picks.replace([]);
      byId("search").focus();
    });
    picks.listen((what) => what === "list" && this.render());
  }

  render() {
    const { list } = this.picks;
    this.list.replaceChildren(...list.map((pick) => this.line(pick)));
    this.clear.hidden = list.length < 2;
    this.clear.textContent = `Remove all ${list.length}`;
    byId("picks-hint").textContent = list.length ? "" : NOTHING_YET;
    byId("picks-heading").textContent = list.length ? `Your picks, ${list.length}` : "Your picks";
  }

  line(pick) {
    const { item } = pick;
    const shown = element("output", { class: "number" }, short(pick.weight));
    const slider = element("input", {
      type: "range",
      min: -STEPS,
      max: STEPS,
      value: Math.round(STEPS * Math.log10(pick.weight / pick.base)) || 0,
      "aria-label": `Weight of ${item.label}`,
      "aria-valuetext": short(pick.weight),
      oninput: () => {
        this.picks.setWeight(pick, pick.base * 10 ** (slider.valueAsNumber / STEPS));
        shown.textContent = short(pick.weight);
        slider.setAttribute("aria-valuetext", shown.textContent);
      },
    });
    return element(
      "li",
      { class: `pick ${hueClass(pick)}` },
      element("span", { class: "swatch", "aria-hidden": "true" }),
      element("span", { class: "name", title: nameTitle(item) }, item.label),
      button("\u00d7", { class: "round", "aria-label": `Remove ${item.label}`, onclick: () => this.remove(item) }),
      element("div", { class: "weight" }, slider, shown),
      button("Similar", {
        class: "quiet",
        "aria-label": `Similar to ${item.label}`,
        onclick: () => this.showSimilar(item),
      }),
    );
  }

  // The focus goes to the next pick, or to the search field after the last one.
  remove(item) {
    const place = this.picks.list.findIndex((pick) => pick.item.key === item.key);
    this.picks.remove(item);
    const next = this.list.children[Math.min(place, this.list.children.length - 1)];
    (next?.querySelector("button") ?? byId("search")).focus();
  }
}

export function nameTitle(item) {
  const users = item.users === null ? "" : count(item.users, "user");
  return [item.detail && `id ${item.detail}`, users].filter(Boolean).join(", ");
}
