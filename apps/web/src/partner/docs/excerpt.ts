const AROUND = 60;

/** What stands around the first place of a text at which a word begins with one of those searched for. */
export function excerptOf(text: string, terms: readonly string[]): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const lower = flat.toLowerCase();
  const places = terms
    .map((term) => placeOf(lower, term.toLowerCase()))
    .filter((place) => place !== -1);
  const place = places.length === 0 ? 0 : Math.min(...places);
  const [from, to] = [Math.max(0, place - AROUND), Math.min(flat.length, place + 2 * AROUND)];
  return `${from > 0 ? '…' : ''}${flat.slice(from, to)}${to < flat.length ? '…' : ''}`;
}

function placeOf(text: string, term: string): number {
  let place = text.indexOf(term);
  while (place > 0 && /[\p{L}\p{N}]/u.test(text.charAt(place - 1))) {
    place = text.indexOf(term, place + 1);
  }
  return place;
}
