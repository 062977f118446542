// The map as a part of the page: its size, its colours, and what pointers and keys do to it.

import { Camera } from "./camera.js";
import { byId, setText } from "./dom.js";
import { MapDrawing } from "./map.js";
import { nameTitle } from "./view-picks.js";

const REACH = 16; // pixels within which a dot is pointed at
const STILL = 4; // pixels that a pointer may move and still click

export class MapView {
  constructor(places, { toggle }) {
    this.canvas = byId("map");
    this.camera = new Camera();
    this.drawing = new MapDrawing(this.canvas, this.camera, places);
    this.toggle = toggle;
    this.tip = byId("tip");
    this.pointers = new Map();
    this.mark([], [], null, []);
    new ResizeObserver(() => this.resized()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recoloured());
    this.recoloured();
    this.listen();
  }

  mark(picks, recommended, pointed, links) {
    this.marked = [picks, recommended, pointed, links];
    this.remark();
  }

  remark() {
    const [picks, recommended, pointed, links] = this.marked;
    this.drawing.mark(picks, recommended, this.hovered?.item ?? pointed, links);
    this.redraw();
  }

  redraw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.drawing.draw(devicePixelRatio, this.colours);
    });
  }

  resized() {
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = clientWidth * devicePixelRatio;
    this.canvas.height = clientHeight * devicePixelRatio;
    this.camera.resize(clientWidth, clientHeight);
    this.redraw();
  }

  recoloured() {
    const style = getComputedStyle(this.canvas);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    this.colours = {
      ...Object.fromEntries(["ground", "ink", "faint", "dot", "accent"].map((name) => [name, colour(name)])),
      hues: Array.from({ length: 8 }, (_, hue) => colour(`hue-${hue}`)),
      font: `12px ${style.fontFamily}`,
      strong: `600 13px ${style.fontFamily}`,
    };
    this.redraw();
  }

  listen() {
    const { canvas, camera } = this;
    const on = (name, react) => canvas.addEventListener(name, react);
    on("pointerdown", (event) => this.pressed(event));
    on("pointermove", (event) => this.moved(event));
    on("pointerup", (event) => this.released(event));
    on("pointercancel", (event) => this.pointers.delete(event.pointerId));
    on("pointerleave", () => this.hover(null));
    on("keydown", (event) => this.typed(event));
    canvas.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    byId("zoom-in").addEventListener("click", () => this.zoom(1.6));
    byId("zoom-out").addEventListener("click", () => this.zoom(1 / 1.6));
    byId("zoom-fit").addEventListener("click", () => {
      camera.fit();
      this.redraw();
    });
  }

  zoom(factor, left = this.camera.width / 2, top = this.camera.height / 2) {
    this.camera.zoomAt(left, top, factor);
    this.redraw();
  }

  wheeled(event) {
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), event.offsetX, event.offsetY);
  }

  pressed(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.wandered = this.pointers.size > 1 ? Infinity : 0;
  }

  moved(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) {
      this.hover(this.drawing.nearest(event.offsetX, event.offsetY, REACH));
      return;
    }
    const [right, down] = [event.offsetX - last.x, event.offsetY - last.y];
    this.wandered += Math.abs(right) + Math.abs(down);
    const other = [...this.pointers.entries()].find(([id]) => id !== event.pointerId)?.[1];
    if (other) this.pinch(last, other, event);
    else this.camera.pan(right, down);
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    this.hover(null);
    this.redraw();
  }

  pinch(from, other, event) {
    const apart = (x, y) => Math.hypot(x - other.x, y - other.y) || 1;
    this.camera.zoomAt(other.x, other.y, apart(event.offsetX, event.offsetY) / apart(from.x, from.y));
  }

  released(event) {
    const clicked = this.pointers.delete(event.pointerId) && this.wandered <= STILL;
    const dot = clicked ? this.drawing.nearest(event.offsetX, event.offsetY, REACH) : null;
    if (dot) this.toggle(dot.item);
  }

  hover(dot) {
    if (dot === (this.hovered ?? null)) return;
    this.hovered = dot;
    this.canvas.classList.toggle("pointing", dot !== null);
    this.tip.hidden = dot === null;
    if (dot) {
      const [left, top] = this.camera.toScreen(dot.x, dot.y);
      setText(this.tip, [dot.item.label, nameTitle(dot.item)].filter(Boolean).join("\n"));
      this.tip.style.left = `${Math.min(left + 14, this.camera.width - 200)}px`;
      this.tip.style.top = `${top + 14}px`;
    }
    this.remark();
  }

  typed(event) {
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.camera.pan(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.camera.fit();
    else return;
    event.preventDefault();
    this.redraw();
  }
}
