/** The search of redemptions as part of the address, which can be sent to a colleague. */
import { type paths } from '../../api/console.generated';
import { textsOf } from '../../shared/search-texts.js';

export type RedemptionFilter = Omit<
  NonNullable<paths['/api/operate/redemptions']['get']['parameters']['query']>,
  'after'
>;

const FIELDS = ['id', 'wallet', 'partner', 'state', 'from', 'until'] as const;
type Field = (typeof FIELDS)[number];

export interface RedemptionSearch extends Partial<Record<Field, string>> {
  readonly tab?: 'queue' | 'search';
}

/** Takes the known fields of an address; the server reports invalid values. */
export function searchOf(given: Readonly<Record<string, unknown>>): RedemptionSearch {
  const fields = textsOf(given, FIELDS);
  const hasFilter = Object.keys(fields).length > 0;
  // Without a filter the queue needs no `tab`, since an empty address shows the queue.
  const isQueue = given['tab'] === 'queue' && hasFilter;
  const isSearch = !isQueue && (hasFilter || given['tab'] === 'search');
  const tab = isQueue ? 'queue' : 'search';
  return { ...fields, ...((isQueue || isSearch) && { tab }) };
}

export function filterOf(search: RedemptionSearch): RedemptionFilter {
  const fields = Object.entries(search).filter(([name]) => name !== 'tab');
  return Object.fromEntries(fields);
}
