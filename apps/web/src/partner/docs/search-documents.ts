import MiniSearch from 'minisearch';
import { documents } from 'virtual:partner-docs';

export interface FoundPlace {
  readonly id: string;
  readonly slug: string;
  readonly anchor: string;
  readonly document: string;
  readonly title: string;
}

const MOST = 12;

const places = documents.flatMap(({ slug, title, sections }) =>
  sections.map(({ anchor, title: heading, text }) => ({
    ...{ id: `${slug}#${anchor}`, slug, anchor, document: title },
    ...{ title: heading === '' ? title : heading, text },
  })),
);

const index = new MiniSearch<(typeof places)[number]>({
  fields: ['title', 'text'],
  storeFields: ['slug', 'anchor', 'document', 'title'],
  searchOptions: { prefix: true, fuzzy: 0.15, boost: { title: 3 }, combineWith: 'AND' },
});
index.addAll(places);

/** The sections that have all the words, the best first. */
export function searchDocuments(words: string): FoundPlace[] {
  return index.search(words).slice(0, MOST) as unknown as FoundPlace[];
}
