// Labels that do not cover each other: each takes its box unless one before it has some of it.

const CELL = 64; // pixels; boxes are compared only with those that share a cell

export class LabelSpace {
  constructor() {
    this.cells = new Map();
  }

  // Take the box and return true, or return false where it overlaps one that was taken.
  take(left, top, width, height) {
    const box = { left, top, right: left + width, bottom: top + height };
    const free = !cellsOf(box).some((cell) => this.cells.get(cell)?.some((other) => overlap(box, other)));
    if (free) this.keep(left, top, width, height);
    return free;
  }

  // Take the box whatever it overlaps.
  keep(left, top, width, height) {
    const box = { left, top, right: left + width, bottom: top + height };
    for (const cell of cellsOf(box)) {
      if (!this.cells.has(cell)) this.cells.set(cell, []);
      this.cells.get(cell).push(box);
    }
  }
}

function cellsOf({ left, top, right, bottom }) {
  const cells = [];
  for (let column = Math.floor(left / CELL); column <= right / CELL; column++) {
    for (let row = Math.floor(top / CELL); row <= bottom / CELL; row++) cells.push(`${column},${row}`);
  }
  return cells;
}

function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
