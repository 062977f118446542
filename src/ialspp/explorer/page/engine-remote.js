// Answers of the service that served this page.

import { askForKey, keyHeaders } from "./key.js";
import { count } from "./words.js";

const PATIENCE = 12; // times that a busy service is asked again
const PAUSE = 2000; // milliseconds between two times

export class RemoteEngine {
  async describe() {
    const model = await get("v1/model");
    return {
      title: model.file.split(/[\\/]/).pop().replace(/\.ialspp$/, ""),
      counts: { users: model.users, items: model.items, interactions: model.statistics?.pairs ?? null },
      onPage: model.items,
      weight: model.typical_weight,
      people: model.has_interactions ? model.users : 0,
      note: "Answers come from the service that this page was loaded from.",
    };
  }

  async search(text, limit) {
    const { items } = await get(`v1/items?${new URLSearchParams({ query: text, limit })}`);
    return items.map(itemOf);
  }

  async recommend(picks, limit, reasons) {
    const answer = await post("v1/recommend", { items: picks.map(asked), k: limit, explain: reasons });
    const items = answer.items.map((found) => {
      const because = (found.because ?? []).map(partOf);
      const shown = because.reduce((total, { part }) => total + part, 0);
      const rest = found.rest ?? 0;
      return { item: itemOf(found), score: found.score, because, others: found.score - rest - shown, rest };
    });
    return { items, fallback: answer.fallback };
  }

  async explain(picks, item) {
    const answer = await post("v1/explain", { items: picks.map(asked), item: item.id });
    return answer.parts.map(partOf);
  }

  async similar(item, limit) {
    const path = `v1/similar/${encodeURIComponent(item.key)}?k=${limit}`;
    return (await get(path)).items.map((found) => ({ item: itemOf(found), score: found.score }));
  }

  async map() {
    return (await get("v1/map")).items.map((found) => ({ item: itemOf(found), x: found.x, y: found.y }));
  }

  async searchPeople(text, limit) {
    const { users } = await get(`v1/users?${new URLSearchParams({ query: text, limit })}`);
    return users.map((user) => ({
      key: textOf(user.id),
      label: user.name || textOf(user.id),
      detail: user.items == null ? "" : count(user.items, "item"),
    }));
  }

  async history({ key }) {
    const { items } = await get(`v1/users/${encodeURIComponent(key)}/history`);
    const picks = items.map((found) => ({ item: itemOf(found), weight: found.weight ?? 1, label: 1 }));
    return { picks, elsewhere: 0 };
  }
}

function itemOf(found) {
  const key = textOf(found.id);
  const named = found.name && found.name !== key;
  return { key, id: found.id, label: found.name || key, detail: named ? key : "", users: found.users ?? null };
}

function partOf(found) {
  return { item: itemOf(found), part: found.part };
}

function asked({ item, weight }) {
  return { id: item.id, weight };
}

function textOf(id) {
  return String(JSON.isRawJSON?.(id) ? id.rawJSON : id);
}

function get(path) {
  return answerOf(path, {});
}

function post(path, body) {
  return answerOf(path, { method: "POST", body: JSON.stringify(body) });
}

async function answerOf(path, options, patience = PATIENCE) {
  const headers = { ...keyHeaders(), ...(options.body ? { "Content-Type": "application/json" } : {}) };
  const response = await fetch(path, { ...options, headers }).catch(() => {
    throw new Error("The service cannot be reached. Is it still running?");
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text, exactly);
  const problem = problemOf(text) ?? `The service answered ${response.status}.`;
  if (response.status === 401 && (await askForKey())) return answerOf(path, options);
  if (response.status === 503 && patience > 0) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    return answerOf(path, options, patience - 1);
  }
  throw new Error(problem);
}

// Ids beyond 2^53 stay the digits that were sent, where the browser can keep them.
function exactly(_name, value, context) {
  const lost = Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "");
  return lost && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
}

function problemOf(text) {
  try {
    const { detail, title } = JSON.parse(text);
    return detail ?? title;
  } catch {
    return null;
  }
}
