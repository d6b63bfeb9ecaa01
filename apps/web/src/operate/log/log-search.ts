/** The filter of the log, as part of the address. */
import { textsOf } from '../../shared/search-texts';

export const LOG_FILTERS = ['actor', 'partner', 'redemption', 'command'] as const;

export interface LogSearch extends Partial<Record<(typeof LOG_FILTERS)[number], string>> {
  /** Default: hide. */
  readonly members?: 'show' | 'hide';
}

export function logSearch(given: Readonly<Record<string, unknown>>): LogSearch {
  return {
    ...textsOf(given, LOG_FILTERS),
    ...(given['members'] === 'show' && { members: 'show' }),
  };
}
