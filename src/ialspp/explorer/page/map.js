// The map on its canvas: all items as dots, the best-known ones, the picked and the recommended with labels.

import { LabelSpace } from "./labels.js";
import { clipped } from "./words.js";

const LEAST_MARKED = 6; // pixels of the radius of a marked dot
const MOST_LABELS = 100;
const LETTERS = 30;
const TALL = 15; // pixels of a line of text
const ABOVE = -12, BELOW = 14; // where its middle is beside a dot
const PLAIN = 0, PICKED = 1, RECOMMENDED = 2, POINTED = 3;
const CROWD = 60; // marked dots; where there are more, picks stand back

export class MapDrawing {
  constructor(canvas, camera, places) {
    Object.assign(this, { canvas, camera });
    this.context = canvas.getContext("2d");
    const most = Math.max(...places.map(({ item }) => item.users ?? 0), 1);
    this.dots = places.map(({ item, x, y }) => ({
      item,
      x,
      y,
      size: 1.4 + 2.8 * Math.sqrt((item.users ?? 0) / most),
      text: clipped(item.label, LETTERS),
      rank: PLAIN,
    }));
    this.byKey = new Map(this.dots.map((dot) => [dot.item.key, dot]));
    this.links = [];
    this.widths = new Map();
  }

  // Mark what is picked (with hues) and recommended; `pointed` is the dot under the pointer or of a row of the list.
  mark(picks, recommended, pointed, links) {
    for (const dot of this.dots) Object.assign(dot, { rank: PLAIN, hue: null });
    for (const item of recommended) this.set(item, { rank: RECOMMENDED });
    for (const { item, hue } of picks) this.set(item, { rank: PICKED, hue });
    if (pointed) this.set(pointed, { rank: POINTED });
    this.pointed = pointed ? this.byKey.get(pointed.key) : null;
    const crowded = picks.length + recommended.length > CROWD;
    this.covered = crowded ? PICKED : PLAIN; // what labels may cover
    this.links = links;
    const weight = crowded ? [0, 1, 2, 3] : [0, 2, 1, 3];
    this.order = [...this.dots].sort((a, b) => weight[b.rank] - weight[a.rank]); // stable: best-known first
  }

  set(item, values) {
    const dot = this.byKey.get(item.key);
    if (dot) Object.assign(dot, values);
  }

  nearest(left, top, reach) {
    let best = null;
    let least = reach * reach;
    for (const dot of this.dots) {
      const [x, y] = this.camera.toScreen(dot.x, dot.y);
      const distance = (x - left) ** 2 + (y - top) ** 2 - (dot.rank ? 30 : 0);
      if (distance < least) [best, least] = [dot, distance];
    }
    return best;
  }

  draw(ratio, colours) {
    const { context, camera } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    const seen = this.order.filter((dot) => this.locate(dot));
    for (const dot of seen.slice().reverse()) this.drawDot(dot, colours);
    this.drawLinks(colours);
    this.drawLabels(seen, colours);
  }

  locate(dot) {
    [dot.left, dot.top] = this.camera.toScreen(dot.x, dot.y);
    return dot.left > -20 && dot.top > -20 && dot.left < this.camera.width + 20 && dot.top < this.camera.height + 20;
  }

  drawDot(dot, colours) {
    const { context } = this;
    const room = Math.min(Math.max(Math.min(this.camera.width, this.camera.height) / 700, 0.6), 1);
    const larger = room * (1 + 0.5 * Math.log2(this.camera.zoom));
    context.beginPath();
    const radius = Math.max(dot.size * larger, dot.rank === PLAIN ? 0 : LEAST_MARKED);
    context.arc(dot.left, dot.top, radius, 0, 2 * Math.PI);
    context.fillStyle = this.colourOf(dot, colours);
    context.fill();
    if (dot.rank === PLAIN) return;
    context.lineWidth = 2;
    context.strokeStyle = dot === this.pointed ? colours.ink : colours.ground;
    context.stroke();
  }

  colourOf(dot, colours) {
    if (dot.hue !== null) return colours.hues[dot.hue];
    return [colours.dot, colours.dot, colours.accent, colours.ink][dot.rank];
  }

  // From an item to the picks that it is recommended for, as wide as their parts.
  drawLinks(colours) {
    const { context, camera, pointed } = this;
    if (!pointed) return;
    for (const { item, share } of this.links) {
      const dot = this.byKey.get(item.key);
      if (!dot || dot === pointed) continue;
      const [left, top] = camera.toScreen(dot.x, dot.y);
      context.beginPath();
      context.moveTo(left, top);
      context.lineTo(...camera.toScreen(pointed.x, pointed.y));
      context.lineWidth = 1 + 4 * share;
      context.globalAlpha = 0.6;
      context.strokeStyle = dot.hue === null ? colours.accent : colours.hues[dot.hue];
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  // Labels in the order of importance, as long as there is room; no label covers a marked dot.
  drawLabels(seen, colours) {
    const { context } = this;
    const space = new LabelSpace();
    for (const dot of seen) if (dot.rank > this.covered) space.keep(dot.left - 5, dot.top - 4, 10, 9);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = colours.ground;
    let room = MOST_LABELS;
    for (const dot of seen) {
      if (room === 0) break;
      context.font = dot.rank ? colours.strong : colours.font;
      const width = this.widthOf(dot.text, context.font);
      const middle = Math.min(Math.max(dot.left, width / 2 + 4), this.camera.width - width / 2 - 4);
      const box = (by) => [middle - width / 2 - 3, dot.top + by - TALL / 2, width + 6, TALL];
      const heights = dot.rank ? [ABOVE, BELOW] : [ABOVE]; // a marked dot may have its label on either side
      const free = heights.find((by) => space.take(...box(by)));
      if (free === undefined && dot !== this.pointed) continue;
      if (free === undefined) space.keep(...box(ABOVE));
      const top = dot.top + (free ?? ABOVE);
      context.strokeText(dot.text, middle, top);
      context.fillStyle = [colours.faint, colours.ink, colours.accent, colours.ink][dot.rank];
      context.fillText(dot.text, middle, top);
      room--;
    }
  }

  widthOf(text, font) {
    const key = `${font}|${text}`;
    if (!this.widths.has(key)) this.widths.set(key, this.context.measureText(text).width);
    return this.widths.get(key);
  }
}
