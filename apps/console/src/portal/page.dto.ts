import * as Input from '../http/inputs.js';

export const PAGE_SIZE = 50;

const NEXT = 'be `next` of the page before';

/** Cursor in a list whose rows have UUIDs: the last row of the previous page. */
export function BeforeUuid(): PropertyDecorator {
  return Input.Matching(Input.UUID_PATTERN, NEXT, {
    ...{ pattern: Input.UUID_PATTERN.source, description: 'See `next`.' },
  });
}

/** Cursor in a list whose rows have numbers: the last row of the previous page. */
export function BeforeNumber(must = NEXT): PropertyDecorator {
  return Input.Matching(Input.NUMBER_PATTERN, must, {
    ...{ pattern: Input.NUMBER_PATTERN.source, description: 'See `next`.' },
  });
}

/** A range of time. Its end is exclusive. */
export class TimeFilter {
  @Input.Optional() @Input.Moment() readonly since?: string;
  @Input.Optional() @Input.Moment('Not included.') readonly until?: string;
}

export class WalletFilter extends TimeFilter {
  @Input.Optional() @Input.Wallet() readonly wallet?: string;
}

/** The last row of a full page, which becomes the cursor; undefined where there is no further page. */
export function lastOf<T>(rows: readonly T[]): T | undefined {
  return rows.length < PAGE_SIZE ? undefined : rows.at(-1);
}

export function timesOf({ since, until }: TimeFilter): { since?: Date; until?: Date } {
  return {
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
  };
}
