// Numbers and sentences for people.

const whole = new Intl.NumberFormat("en");

export function count(number, one, many = `${one}s`) {
  return `${whole.format(number)} ${number === 1 ? one : many}`;
}

// Three digits that matter, without an exponent for the sizes that scores and weights have.
export function short(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6 || size < 1e-4) return number.toExponential(1).replace("-", "\u2212");
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size)));
  return number.toFixed(Math.min(digits, 4)).replace("-", "\u2212");
}

export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

export function clipped(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("").trimEnd()}\u2026`;
}
