// Answers computed in the browser, from the model that is inside the page.

import { decoded, products, vectorOf } from "./content.js";
import { foldIn, partsOf } from "./fold-in.js";
import { dot } from "./matrix.js";
import { plain, searched } from "./search.js";
import { count } from "./words.js";

const TYPICAL = 20; // items: histories of about this length come first, as they show a taste and can be read

export class LocalEngine {
  constructor(content) {
    this.model = decoded(content);
    this.itemsByRow = content.ids.map((id, row) => ({
      key: id,
      row,
      label: content.names?.[row] || id,
      detail: content.names?.[row] ? id : "",
      users: content.users?.[row] ?? null,
    }));
    this.entries = this.itemsByRow.map((item) => ({ texts: textsOf(item.label, item.key), fame: item.users ?? 0 }));
    this.personEntries = content.people.map((person) => ({
      texts: textsOf(person.name, person.id),
      fame: -Math.abs(Math.log((person.items.length + 1) / TYPICAL)),
    }));
  }

  async describe() {
    const { title, counts, items, dim, weight, people } = this.model;
    return {
      title,
      counts,
      onPage: items,
      weight,
      people: people.length,
      note:
        "Everything is computed in this page, without a network. " +
        `Vectors have ${dim} numbers, rounded to 16 bits each. Written by ${this.model.written_by}.`,
    };
  }

  async search(text, limit) {
    return searched(this.entries, text, limit).map((row) => this.itemsByRow[row]);
  }

  // The best items for some picks { item, weight, label }, each with its largest reasons.
  async recommend(picks, limit, reasons) {
    const history = this.historyOf(picks);
    const folded = foldIn(this.model.settings, history);
    if (folded === null) throw new Error("There is no unique answer: the model has no regularization.");
    const hidden = new Set(picks.map(({ item }) => item.row));
    if (folded.vector.every((entry) => entry === 0)) return this.popular(limit, hidden);
    const scores = products(this.model, folded.vector);
    const items = best(scores, limit, hidden).map((row) => {
      const parts = this.reasons(picks, history, folded, row);
      const shown = parts.slice(0, reasons);
      const rest = scores[row] - sum(parts);
      return { item: this.itemsByRow[row], score: scores[row], because: shown, others: sum(parts) - sum(shown), rest };
    });
    return { items, fallback: false };
  }

  // All reasons for one item's score, largest first.
  async explain(picks, item) {
    const history = this.historyOf(picks);
    return this.reasons(picks, history, foldIn(this.model.settings, history), item.row);
  }

  reasons(picks, history, folded, row) {
    const parts = partsOf(folded, history, vectorOf(this.model, row));
    return picks.map(({ item }, j) => ({ item, part: parts[j] })).sort((a, b) => b.part - a.part);
  }

  historyOf(picks) {
    return picks.map(({ item, weight, label }) => ({ vector: vectorOf(this.model, item.row), weight, label }));
  }

  popular(limit, hidden) {
    const { users } = this.model;
    if (users === null) return { items: [], fallback: true };
    const found = (row) => ({ item: this.itemsByRow[row], score: users[row], because: [] });
    return { items: best(users, limit, hidden).map(found), fallback: true };
  }

  // The items with the most similar direction.
  async similar(item, limit) {
    const vector = vectorOf(this.model, item.row);
    this.lengths ??= this.itemsByRow.map(({ row }) => lengthOf(vectorOf(this.model, row)) || 1);
    const cosines = products(this.model, vector).map((product, row) => product / this.lengths[row]);
    const own = lengthOf(vector) || 1;
    return best(cosines, limit, new Set([item.row])).map((row) => ({
      item: this.itemsByRow[row],
      score: cosines[row] / own,
    }));
  }

  async map() {
    const { items, x, y } = this.model.map;
    return items.map((row, k) => ({ item: this.itemsByRow[row], x: x[k], y: y[k] }));
  }

  async searchPeople(text, limit) {
    return searched(this.personEntries, text, limit).map((place) => {
      const person = this.model.people[place];
      return { place, label: person.name, detail: count(person.items.length, "item") };
    });
  }

  async history({ place }) {
    const { items, weights, labels, elsewhere } = this.model.people[place];
    const picks = items.map((row, k) => ({
      item: this.itemsByRow[row],
      weight: weights?.[k] ?? 1,
      label: labels?.[k] ?? 1,
    }));
    return { picks, elsewhere };
  }
}

function textsOf(name, id) {
  return name === id ? [plain(id)] : [plain(name), plain(id)];
}

function lengthOf(vector) {
  return Math.sqrt(dot(vector, vector));
}

function sum(parts) {
  return parts.reduce((total, { part }) => total + part, 0);
}

// The rows of the highest scores, best first; equal ones in the order of rows.
function best(scores, limit, hidden) {
  const rows = [];
  for (let row = 0; row < scores.length; row++) {
    if (hidden.has(row) || (rows.length === limit && scores[row] <= scores[rows[limit - 1]])) continue;
    let place = rows.length === limit ? limit - 1 : rows.length;
    while (place > 0 && scores[row] > scores[rows[place - 1]]) place--;
    rows.splice(place, 0, row);
    if (rows.length > limit) rows.pop();
  }
  return rows;
}
