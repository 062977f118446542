// What the user has picked. Listeners hear "list" when items come or go, "weight" when a weight changes.

const HUES = 8;

export class Picks {
  constructor() {
    this.list = [];
    this.listeners = [];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  changed(what) {
    for (const listener of this.listeners) listener(what);
  }

  find(item) {
    return this.list.find((pick) => pick.item.key === item.key);
  }

  add(item, weight) {
    if (this.find(item)) return;
    this.list.unshift(this.made({ item, weight, label: 1 }));
    this.changed("list");
  }

  remove(item) {
    this.list = this.list.filter((pick) => pick.item.key !== item.key);
    this.changed("list");
  }

  replace(picks) {
    this.list = [];
    for (const pick of [...picks].sort((a, b) => b.weight - a.weight)) this.list.push(this.made(pick));
    this.changed("list");
  }

  setWeight(pick, weight) {
    pick.weight = weight;
    this.changed("weight");
  }

  // Each pick has a hue, the one that fewest others have, and the weight that its slider starts from.
  made(pick) {
    const used = Array(HUES).fill(0);
    for (const { hue } of this.list) used[hue] += 1;
    return { ...pick, hue: used.indexOf(Math.min(...used)), base: pick.weight };
  }
}
