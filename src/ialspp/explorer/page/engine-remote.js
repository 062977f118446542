// Answers of the service that served this page.

import { count } from "./words.js";

export class RemoteEngine {
  async describe() {
    const model = await get("v1/model");
    const counts = countsOf(model);
    return {
      title: model.title ?? model.file ?? "Explore",
      counts,
      onPage: counts.items,
      weight: 1,
      people: counts.interactions === null ? 0 : counts.users,
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

function countsOf(model) {
  const { users = null, items = 0, interactions = null } = model.counts ?? model;
  return { users, items, interactions };
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
  return answerOf(fetch(path));
}

function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return answerOf(fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answerOf(request) {
  const response = await request;
  const text = await response.text();
  if (response.ok) return JSON.parse(text, exactly);
  throw new Error(problemOf(text) ?? `The service answered ${response.status}.`);
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
