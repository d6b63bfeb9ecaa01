import MiniSearch from 'minisearch';
import { type PartnerDocument } from 'virtual:partner-docs';

export interface FoundPlace {
  readonly id: string;
  readonly slug: string;
  readonly anchor: string;
  readonly document: string;
  readonly title: string;
  /** The text around the first match. */
  readonly excerpt: string;
}

export interface Found {
  /** Number of all matching places; `places` has only the best. */
  readonly count: number;
  readonly places: readonly FoundPlace[];
}

const MOST = 12;

/** Searches the sections that contain all words, or words that begin with them, best first. */
export function searchOf(documents: readonly PartnerDocument[]): (words: string) => Found {
  const places = documents.flatMap(({ slug, title, sections }) =>
    sections.map(({ anchor, title: heading, text, prose }) => ({
      ...{ id: `${slug}#${anchor}`, slug, anchor, document: title },
      ...{ title: heading === '' ? title : heading, text, prose },
    })),
  );
  const byId = new Map(places.map((place) => [place.id, place]));
  const index = new MiniSearch<(typeof places)[number]>({
    fields: ['title', 'prose', 'text'],
    searchOptions: {
      prefix: true,
      // Prose that explains a word ranks above tables and code that only contain it.
      boost: { title: 6, prose: 2, text: 0.2 },
      boostDocument: (id) => weightOf(id as string),
      combineWith: 'AND',
    },
  });
  index.addAll(places);
  return (words) => {
    const all = bestOfEachFirst(index.search(words), ({ id }) => byId.get(id as string)?.slug);
    const shown = all.slice(0, MOST).flatMap(({ id, terms }) => {
      const place = byId.get(id as string);
      return place === undefined ? [] : [{ ...place, excerpt: excerptOf(place.text, terms) }];
    });
    return { count: all.length, places: shown };
  };
}

/** Ranks guides first, then formats, then lists and examples (documents with a single code block). */
function weightOf(id: string): number {
  if (/^(api-reference|changelog|wire-[^#]*-vectors)#|^[^#]*\./.test(id)) return 0.2;
  return id.startsWith('wire-') ? 0.35 : 1;
}

/** Puts the best place of each document before further places of the same document. */
function bestOfEachFirst<Place>(
  places: readonly Place[],
  documentOf: (place: Place) => string | undefined,
): readonly Place[] {
  const seen = new Set<string | undefined>();
  const isFirst = places.map((place) => {
    const document = documentOf(place);
    return !seen.has(document) && seen.add(document).size > 0;
  });
  return [...places.filter((_, at) => isFirst[at]), ...places.filter((_, at) => !isFirst[at])];
}

const AROUND = 60;

/** The text around the first word that begins with one of the terms. */
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
