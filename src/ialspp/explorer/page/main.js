// Puts the page together: an engine that answers, the picks, and the views of both.

import { Combobox } from "./combobox.js";
import { byId, setText } from "./dom.js";
import { LocalEngine } from "./engine-local.js";
import { RemoteEngine } from "./engine-remote.js";
import { Picks } from "./picks.js";
import { MapView } from "./view-map.js";
import { PicksView } from "./view-picks.js";
import { ResultsView } from "./view-results.js";
import { count } from "./words.js";

const SHOWN = 20;
const REASONS = 3;

class Explorer {
  constructor(engine) {
    this.engine = engine;
    this.picks = new Picks();
    this.asked = 0;
    this.recommended = [];
    this.pointed = null;
    this.picksView = new PicksView(this.picks, (item) => this.showSimilar(item));
    this.results = new ResultsView(this.picks, {
      toggle: (item) => this.toggle(item),
      similar: (item) => this.showSimilar(item),
      back: () => this.recommend(),
      explain: (item) => this.engine.explain(this.picks.list, item),
      point: (entry) => this.point(entry),
    });
    this.picks.listen(() => this.recommend());
  }

  async start() {
    const about = await this.engine.describe();
    this.weight = about.weight;
    this.describe(about);
    const failed = (error) => this.results.showFailure(error);
    new Combobox(byId("search"), byId("search-list"), "Items", {
      find: (text, limit) => this.engine.search(text, limit),
      choose: (item) => this.pick(item),
      failed,
    });
    new Combobox(byId("person"), byId("person-list"), "Users", {
      find: (text, limit) => this.engine.searchPeople(text, limit),
      choose: (person) => this.startFrom(person),
      failed,
    });
    this.picksView.render();
    await this.recommend();
    await this.drawMap();
    document.body.classList.add("ready");
  }

  async drawMap() {
    try {
      this.map = new MapView(await this.engine.map(), { toggle: (item) => this.toggle(item) });
      this.mark();
    } catch (error) {
      setText(byId("map-help"), `There is no map. ${error.message}`);
    }
  }

  describe({ title, counts, onPage, people, note }) {
    document.title = title;
    setText(byId("title"), title);
    const facts = [count(counts.items, "item"), count(counts.users, "user")];
    if (counts.interactions !== null) facts.push(count(counts.interactions, "interaction"));
    setText(byId("facts"), facts.join(" \u00b7 "));
    const fewer = `This page has the ${count(onPage, "best-known item")} of ${count(counts.items, "item")}. `;
    setText(byId("note"), (onPage < counts.items ? fewer : "") + note);
    byId("people").hidden = people === 0;
    if (counts.items === 0) {
      byId("search").disabled = true;
      byId("search").placeholder = "The model has no items";
    }
  }

  pick(item) {
    this.picks.add(item, this.weight);
    setText(byId("history-note"), "");
  }

  toggle(item) {
    if (this.picks.find(item)) this.picks.remove(item);
    else this.pick(item);
  }

  async startFrom(person) {
    await this.answered(this.engine.history(person), ({ picks, elsewhere }) => {
      this.picks.replace(picks);
      const missing = elsewhere ? ` ${count(elsewhere, "other item is", "other items are")} not on this page.` : "";
      setText(byId("history-note"), `The history of ${person.label}.${missing}`);
    });
  }

  // One question at a time: a slider asks faster than a service answers, and only the last answer counts.
  async recommend() {
    this.stale = true;
    if (this.recommending) return;
    this.recommending = true;
    while (this.stale) {
      this.stale = false;
      const request = this.engine.recommend(this.picks.list, SHOWN, REASONS);
      await this.answered(request, (answer) => this.showRecommended(answer));
    }
    this.recommending = false;
  }

  showRecommended(answer) {
    this.results.showRecommended(answer);
    this.recommended = answer.fallback ? [] : answer.items.map(({ item }) => item);
  }

  async showSimilar(item) {
    await this.answered(this.engine.similar(item, SHOWN), (entries) => {
      this.results.showSimilar(item, entries);
      this.recommended = entries.map((entry) => entry.item);
      this.results.heading.focus();
    });
  }

  // Show an answer unless a later question was asked meanwhile.
  async answered(request, show) {
    const number = ++this.asked;
    try {
      const answer = await request;
      if (number === this.asked) show(answer);
    } catch (error) {
      if (number === this.asked) this.results.showFailure(error);
    }
    this.mark();
  }

  point(entry) {
    this.pointed = entry;
    this.mark();
  }

  mark() {
    const { pointed } = this;
    const largest = Math.max(...(pointed?.because ?? []).map(({ part }) => part), 1e-30);
    const reasons = (pointed?.because ?? []).filter(({ part }) => part > 0);
    const links = reasons.map(({ item, part }) => ({ item, share: part / largest }));
    this.map?.mark(this.picks.list, this.recommended, pointed?.item ?? null, links);
  }
}

const content = JSON.parse(byId("content").textContent);
const explorer = new Explorer(content === null ? new RemoteEngine() : new LocalEngine(content));
explorer.start().catch((error) => explorer.results.showFailure(error));
