// The list in the middle: recommendations with their reasons, or the items similar to one.

import { partList, plainBar, stackedBar } from "./bars.js";
import { button, byId, element, setText } from "./dom.js";
import { nameTitle } from "./view-picks.js";
import { clipped, count, listed, short } from "./words.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");

export class ResultsView {
  // actions: toggle(item), similar(item), back(), explain(item), point(entry or null)
  constructor(picks, actions) {
    Object.assign(this, { picks, actions });
    this.list = byId("results");
    this.heading = byId("results-heading");
    this.hint = byId("results-hint");
    this.back = byId("back");
    this.open = new Set();
    this.back.addEventListener("click", () => {
      actions.back();
      this.heading.focus();
    });
  }

  showRecommended(answer) {
    const picked = this.picks.list.length > 0;
    const heading = answer.fallback ? "Most popular" : "Recommended";
    this.begin(heading, hintOf(answer, picked), true);
    const best = answer.items[0]?.score ?? 0;
    const make = answer.fallback ? this.popular : this.line;
    this.fill(answer.items, (entry, place) => make.call(this, entry, place, best));
    const first = answer.items[0] ? `, first ${answer.items[0].item.label}` : "";
    setText(byId("live"), `${heading}: ${count(answer.items.length, "item")}${first}`);
  }

  showSimilar(item, entries) {
    this.begin(`Similar to ${item.label}`, "By the cosine of the angle between their vectors.", false);
    this.fill(entries, (entry, place) => this.frame(entry, place, short(entry.score), plainBar(entry.score)));
    setText(byId("live"), `Similar to ${item.label}: ${count(entries.length, "item")}`);
  }

  showFailure(error) {
    this.begin("No answer", error.message, true);
    this.list.replaceChildren();
    setText(byId("live"), error.message);
  }

  begin(heading, hint, isHome) {
    setText(this.heading, heading);
    setText(this.hint, hint);
    this.back.hidden = isHome;
  }

  // Rows that stay glide to their new place. The focus stays at the place where it was.
  fill(entries, make) {
    const before = new Map([...this.list.children].map((row) => [row.dataset.key, row.offsetTop]));
    const focused = [...this.list.children].findIndex((row) => row.contains(document.activeElement));
    const rows = entries.map(make);
    this.list.replaceChildren(...rows);
    if (focused >= 0) (rows[Math.min(focused, rows.length - 1)]?.querySelector("button") ?? this.heading).focus();
    if (still.matches) return;
    for (const row of rows) {
      const moved = (before.get(row.dataset.key) ?? row.offsetTop) - row.offsetTop;
      const frames = [{ transform: `translateY(${moved}px)` }, { transform: "none" }];
      if (moved) row.animate(frames, { duration: 220, easing: "ease-out" });
    }
  }

  line(entry, place, best) {
    const row = this.frame(entry, place, short(entry.score), stackedBar(entry, best, this.picks));
    const helpful = entry.because.filter(({ part }) => part > 0).slice(0, 2);
    const names = helpful.map(({ item }) => clipped(item.label, 40));
    const reason = names.length ? `because you picked ${listed(names)}` : "little speaks for it";
    const { key } = entry.item;
    const why = button(reason, { class: "because", "aria-expanded": String(this.open.has(key)) });
    why.addEventListener("click", () => this.toggle(key, row, why));
    row.querySelector(".reason").prepend(why);
    if (this.open.has(key)) this.unfold(row, entry);
    row.entry = entry;
    return row;
  }

  popular(entry, place, best) {
    return this.frame(entry, place, count(entry.score, "user"), plainBar(entry.score / best));
  }

  frame(entry, place, number, bar) {
    const { item } = entry;
    return element(
      "li",
      {
        class: "result",
        "data-key": item.key,
        onpointerenter: () => this.actions.point(entry),
        onpointerleave: () => this.actions.point(null),
      },
      element("span", { class: "rank", "aria-hidden": "true" }, String(place + 1)),
      element("span", { class: "name", title: nameTitle(item) }, item.label),
      element("span", { class: "number score", title: entry.score }, number),
      this.picks.find(item) ? this.toggleButton("\u00d7", "Remove", item) : this.toggleButton("+", "Pick", item),
      bar,
      element(
        "div",
        { class: "reason" },
        button("Similar", {
          class: "quiet",
          "aria-label": `Similar to ${item.label}`,
          onclick: () => this.actions.similar(item),
        }),
      ),
    );
  }

  toggleButton(text, verb, item) {
    const toggle = () => this.actions.toggle(item);
    return button(text, { class: "round", "aria-label": `${verb} ${item.label}`, onclick: toggle });
  }

  toggle(key, row, why) {
    const opens = !this.open.delete(key);
    if (opens) this.open.add(key);
    why.setAttribute("aria-expanded", String(opens));
    if (opens) this.unfold(row, row.entry);
    else row.querySelector(".parts")?.remove();
  }

  async unfold(row, entry) {
    const parts = await this.actions.explain(entry.item).catch(() => entry.because);
    row.querySelector(".parts")?.remove();
    row.append(partList(parts, this.picks));
  }
}

function hintOf(answer, picked) {
  if (!answer.items.length && !picked) return "Pick an item to see what goes with it.";
  if (!answer.items.length) return "The model knows nothing to recommend here.";
  if (answer.fallback && picked) return "The model knows too little about these picks.";
  return answer.fallback ? "Pick something: recommendations appear at once." : "";
}
