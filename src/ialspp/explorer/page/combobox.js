// A text field with a list of suggestions, by the combobox pattern of WAI-ARIA.

import { element } from "./dom.js";

const LIMIT = 12;

export class Combobox {
  // find(text, limit) returns suggestions { label, detail }; choose(suggestion) takes the one chosen.
  constructor(input, list, name, { find, choose, failed }) {
    Object.assign(this, { input, list, find, choose, failed });
    this.found = [];
    this.active = -1;
    this.asked = 0;
    for (const [attribute, value] of Object.entries({
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": list.id,
    })) {
      input.setAttribute(attribute, value);
    }
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", name);
    input.addEventListener("input", () => this.suggest());
    input.addEventListener("focus", () => this.suggest());
    input.addEventListener("blur", () => this.close());
    input.addEventListener("keydown", (event) => this.pressed(event));
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  }

  async suggest() {
    const number = ++this.asked;
    try {
      const found = await this.find(this.input.value, LIMIT);
      if (number === this.asked && document.activeElement === this.input) this.show(found);
    } catch (error) {
      this.failed(error);
    }
  }

  show(found) {
    this.found = found;
    const options = found.map((suggestion, place) =>
      element(
        "li",
        {
          role: "option",
          id: `${this.list.id}-${place}`,
          "aria-selected": "false",
          onclick: () => this.take(place),
          onpointermove: () => this.move(place),
        },
        element("span", { class: "label" }, suggestion.label),
        suggestion.detail ? element("span", { class: "detail" }, suggestion.detail) : null,
      ),
    );
    const nothing = element("li", { class: "nothing", role: "presentation" }, "Nothing found");
    this.list.replaceChildren(...(options.length ? options : [nothing]));
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.move(found.length && this.input.value.trim() ? 0 : -1);
  }

  close() {
    this.asked++;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.move(-1);
  }

  move(place) {
    this.active = place;
    for (const [k, option] of [...this.list.children].entries()) {
      if (option.role === "option") option.setAttribute("aria-selected", String(k === place));
    }
    const chosen = place < 0 ? null : this.list.children[place];
    if (chosen) {
      this.input.setAttribute("aria-activedescendant", chosen.id);
      chosen.scrollIntoView({ block: "nearest" });
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  take(place) {
    const suggestion = this.found[place];
    this.input.value = "";
    this.close();
    this.choose(suggestion);
  }

  pressed(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      if (this.list.hidden) this.suggest();
      else if (this.found.length) this.step(steps[event.key]);
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      this.take(this.active);
    } else if (event.key === "Escape") {
      if (this.list.hidden) this.input.value = "";
      this.close();
    }
  }

  step(by) {
    const { length } = this.found;
    this.move(this.active < 0 && by < 0 ? length - 1 : (this.active + by + length) % length);
  }
}
