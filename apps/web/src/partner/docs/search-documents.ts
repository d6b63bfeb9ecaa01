import MiniSearch from 'minisearch';
import { type PartnerDocument } from 'virtual:partner-docs';
import { excerptOf } from './excerpt.js';

export interface FoundPlace {
  readonly id: string;
  readonly slug: string;
  readonly anchor: string;
  readonly document: string;
  readonly title: string;
  /** What stands around the first of the words. */
  readonly excerpt: string;
}

export interface Found {
  /** Of all places; no more than some are shown. */
  readonly count: number;
  readonly places: readonly FoundPlace[];
}

const MOST = 12;

/** The sections that have all the words, or words that begin so, the best first. */
export function searchOf(documents: readonly PartnerDocument[]): (words: string) => Found {
  const places = documents.flatMap(({ slug, title, sections }) =>
    sections.map(({ anchor, title: heading, text }) => ({
      ...{ id: `${slug}#${anchor}`, slug, anchor, document: title },
      ...{ title: heading === '' ? title : heading, text },
    })),
  );
  const byId = new Map(places.map((place) => [place.id, place]));
  const index = new MiniSearch<(typeof places)[number]>({
    fields: ['title', 'text'],
    searchOptions: { prefix: true, boost: { title: 3 }, combineWith: 'AND' },
  });
  index.addAll(places);
  return (words) => {
    const all = index.search(words);
    const shown = all.slice(0, MOST).flatMap(({ id, terms }) => {
      const place = byId.get(id as string);
      return place === undefined ? [] : [{ ...place, excerpt: excerptOf(place.text, terms) }];
    });
    return { count: all.length, places: shown };
  };
}
