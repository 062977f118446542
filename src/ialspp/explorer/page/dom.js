// Elements are made from text, never from markup: the names of items may hold anything.

export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

export function button(text, attributes) {
  return element("button", { type: "button", ...attributes }, text);
}

// Write a text only where it differs, so that a screen reader does not repeat it.
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
