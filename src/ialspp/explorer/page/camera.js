// Where the map is looked at from: a point of it in the middle of the canvas, and a scale.

const CLOSEST = 60; // times the scale at which the whole map is seen
const MARGIN = 0.92;

export class Camera {
  constructor() {
    this.resize(1, 1);
    this.fit();
  }

  resize(width, height) {
    Object.assign(this, { width, height });
  }

  fit() {
    Object.assign(this, { x: 0, y: 0, zoom: 1 });
  }

  // Pixels for each unit of the map, which spans -1 to 1.
  get scale() {
    return (this.zoom * MARGIN * Math.min(this.width, this.height)) / 2;
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 + (y - this.y) * this.scale];
  }

  pan(right, down) {
    this.x = within(this.x - right / this.scale);
    this.y = within(this.y - down / this.scale);
  }

  // Zoom so that the point of the map under (left, top) stays there.
  zoomAt(left, top, factor) {
    const next = Math.min(Math.max(this.zoom * factor, 1), CLOSEST);
    const kept = 1 / this.scale;
    this.zoom = next;
    const change = kept - 1 / this.scale;
    this.x = within(this.x + (left - this.width / 2) * change);
    this.y = within(this.y + (top - this.height / 2) * change);
    if (next === 1) this.fit();
  }
}

function within(coordinate) {
  return Math.min(Math.max(coordinate, -1), 1);
}
