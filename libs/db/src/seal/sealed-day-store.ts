/** Reads the sealed days of a stake set. */
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { type SealedDay, SEALED_COLUMNS, sealedDayOf, type SealedDayRow } from './sealed-day.js';

export const BY_DAY = named<{ day: number }>(
  'sealed_day',
  `SELECT ${SEALED_COLUMNS} FROM staking.sealed_day s WHERE day = :day ORDER BY revision DESC LIMIT 1`,
);

const REVISIONS = named<{ day: number }>(
  'sealed_revisions',
  `SELECT ${SEALED_COLUMNS} FROM staking.sealed_day s WHERE day = :day ORDER BY revision`,
);

const NEWEST = named(
  'sealed_newest',
  `SELECT ${SEALED_COLUMNS} FROM staking.sealed_day s ORDER BY day DESC, revision DESC LIMIT 1`,
);

const PAGE = named<{ before: number; limit: number }>(
  'sealed_page',
  `SELECT DISTINCT ON (day) ${SEALED_COLUMNS} FROM staking.sealed_day s
    WHERE day < :before ORDER BY day DESC, revision DESC LIMIT :limit`,
);

/** While there is a finding, all days are doubtful: from when on the wallet is wrong is not known. */
const DOUBTFUL = named<{ days: number[] }>(
  'sealed_doubtful',
  `SELECT min(u.day) AS day FROM unnest(:days::int[]) AS u (day)
    WHERE EXISTS (SELECT FROM staking.finding) OR EXISTS (SELECT FROM staking.doubtful_day d WHERE d.day = u.day)`,
);

const SUMMARY = named(
  'sealed_summary',
  `SELECT count(*) FILTER (WHERE revision = 1)::int AS days, min(day) AS first, max(day) AS last,
      count(*) FILTER (WHERE revision > 1)::int AS revisions,
      max(sealed_at) FILTER (WHERE revision > 1) AS "revisedAt",
      (SELECT from_day FROM staking.seal_recheck) AS "recheckFrom"
    FROM staking.sealed_day`,
);

export interface SealSummary {
  readonly days: number;
  /** Days since 1970-01-01 UTC; null where no day is sealed. */
  readonly first: number | null;
  readonly last: number | null;
  /** How many times a sealed day came out differently. */
  readonly revisions: number;
  readonly revisedAt: Date | null;
  /** Sealed days from this one on have to be calculated again. */
  readonly recheckFrom: number | null;
}

/** Later than any day. */
const NO_DAY = 2_147_483_647;

export class SealedDayStore {
  constructor(protected readonly database: Database) {}

  /** The newest revision of a day; undefined where the day is not sealed. */
  async byDay(day: number): Promise<SealedDay | undefined> {
    const [row] = await this.database.query<SealedDayRow>(BY_DAY({ day }));
    return row && sealedDayOf(row);
  }

  /** All revisions of a day, oldest first. */
  async revisions(day: number): Promise<SealedDay[]> {
    const rows = await this.database.query<SealedDayRow>(REVISIONS({ day }));
    return rows.map(sealedDayOf);
  }

  /**
   * The first of these days about which nothing may be said now: a wallet or a sum of the index is known to be wrong,
   * or the day was repaired and is not worked out again yet.
   */
  async firstDoubtful(days: readonly number[]): Promise<number | undefined> {
    const statement = DOUBTFUL({ days: [...days] });
    const [row] = await this.database.query<{ day: number | null }>(statement);
    return row?.day ?? undefined;
  }

  async newest(): Promise<SealedDay | undefined> {
    const [row] = await this.database.query<SealedDayRow>(NEWEST({}));
    return row && sealedDayOf(row);
  }

  /**
   * Newest days first, each in its newest revision.
   * @param before the last day of the previous page; absent for the first page
   */
  async page({ before = NO_DAY, limit }: { before?: number; limit: number }): Promise<SealedDay[]> {
    const rows = await this.database.query<SealedDayRow>(PAGE({ before, limit }));
    return rows.map(sealedDayOf);
  }

  /** Figures of all sealed days. Only for a program that may read `seal_recheck`. */
  async summary(): Promise<SealSummary> {
    const [row] = await this.database.query<SealSummary & object>(SUMMARY({}));
    if (row === undefined) throw new Error('an aggregate has one row');
    return row;
  }
}
