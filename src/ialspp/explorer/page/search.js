// Search as you type, blind to case and accents.

const accents = /[\u0300-\u036f]/g; // of Latin, Greek and Cyrillic; other scripts' marks are letters
const wordCharacter = /[\p{L}\p{N}]/u;
const WORDS = 4;
const NO_MATCH = 5;

export function plain(text) {
  return text.normalize("NFKD").replace(accents, "").toLowerCase().normalize("NFC");
}

// How well a name matches, 0 best: the whole name, its start, the start of a word, any part, all words somewhere.
// Names that only have all words are found where no name has the text itself.
export function matchOf(name, query, words) {
  const at = name.indexOf(query);
  if (at === 0) return name.length === query.length ? 0 : 1;
  if (at > 0) return startsWord(name, query, at) ? 2 : 3;
  return words.length > 1 && words.every((word) => name.includes(word)) ? WORDS : NO_MATCH;
}

function startsWord(name, query, first) {
  for (let at = first; at > 0; at = name.indexOf(query, at + 1)) {
    if (!wordCharacter.test(name[at - 1])) return true;
  }
  return false;
}

// entries: { texts: plain names and ids, fame }. Returns the places of the best matches; ties by fame, then order.
export function searched(entries, text, limit) {
  const query = plain(text).trim();
  const words = query.split(/\s+/);
  let found = [];
  entries.forEach((entry, place) => {
    const match = query === "" ? 0 : Math.min(...entry.texts.map((name) => matchOf(name, query, words)));
    if (match < NO_MATCH) found.push({ place, match, fame: entry.fame });
  });
  if (found.some(({ match }) => match < WORDS)) found = found.filter(({ match }) => match < WORDS);
  found.sort((a, b) => a.match - b.match || b.fame - a.fame || a.place - b.place);
  return found.slice(0, limit).map(({ place }) => place);
}
