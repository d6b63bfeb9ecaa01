/** The search of redemptions, as it is in the address: it can be sent to a colleague. */
import { type paths } from '../../api/console.generated';

export type RedemptionFilter = Omit<
  NonNullable<paths['/api/operate/redemptions']['get']['parameters']['query']>,
  'after'
>;

const FIELDS = ['id', 'wallet', 'partner', 'state', 'from', 'until'] as const;
type Field = (typeof FIELDS)[number];

export interface RedemptionSearch extends Partial<Record<Field, string>> {
  readonly tab?: 'queue' | 'search';
}

/** What of an address is known; the server says what of it is wrong. */
export function searchOf(given: Readonly<Record<string, unknown>>): RedemptionSearch {
  const fields = FIELDS.flatMap((name) => {
    const value = given[name];
    const isText = typeof value === 'string' || typeof value === 'number';
    return isText && value !== '' ? [[name, String(value)] as const] : [];
  });
  const hasFilter = fields.length > 0;
  // Without a filter the queue is what the address without anything shows.
  const isQueue = given['tab'] === 'queue' && hasFilter;
  const isSearch = !isQueue && (hasFilter || given['tab'] === 'search');
  const tab = isQueue ? 'queue' : 'search';
  return { ...Object.fromEntries(fields), ...((isQueue || isSearch) && { tab }) };
}

export function filterOf(search: RedemptionSearch): RedemptionFilter {
  const fields = Object.entries(search).filter(([name]) => name !== 'tab');
  return Object.fromEntries(fields);
}
