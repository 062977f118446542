// The key of a service that asks for one. It is kept in this page's memory alone.

import { byId } from "./dom.js";

let key = null;
let asking = null;

export function keyHeaders() {
  return key === null ? {} : { Authorization: `Bearer ${key}` };
}

// Ask for the key, once for all requests that wait for it.
export function askForKey() {
  asking ??= new Promise((resolve) => {
    const dialog = byId("key-dialog");
    byId("key-problem").textContent = key === null ? "" : "This key is wrong.";
    byId("key").value = "";
    dialog.addEventListener("close", () => {
      key = byId("key").value.trim();
      asking = null;
      resolve(key !== "");
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}
