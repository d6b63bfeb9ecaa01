/** The sealed days of a stake set, as publishing needs them. */
import { type NodeHash } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { nodeOf } from '../connection/rows.js';

export interface PublishableDay {
  /** Days since 1970-01-01 UTC. */
  readonly day: number;
  /** The newest revision. */
  readonly revision: number;
  readonly root: NodeHash;
  readonly sealedAt: Date;
}

export interface SealedRange {
  /** In ascending order, without days that are not sealed. */
  readonly days: readonly PublishableDay[];
  /** Days from this one on have to be calculated again. */
  readonly recheckFrom: number | undefined;
}

const RANGE = named<{ from: number; to: number }>(
  'publishable_days',
  `SELECT DISTINCT ON (s.day) s.day, s.revision, encode(s.root, 'hex') AS root, s.sealed_at
    FROM staking.sealed_day s WHERE s.day BETWEEN :from AND :to ORDER BY s.day, s.revision DESC`,
);

const FIRST = named<{ from: number }>(
  'publishable_first',
  'SELECT min(day) AS day FROM staking.sealed_day WHERE day >= :from',
);

/** While a figure is known to be wrong, no day is published. */
const RECHECK = named(
  'publishable_recheck',
  `SELECT min(from_day) AS from_day
    FROM (SELECT from_day FROM staking.seal_recheck UNION ALL SELECT 0 FROM staking.finding) AS noted`,
);

export class PublishableDays {
  constructor(private readonly database: Database) {}

  /** The newest revisions of the days `from` to `to`, both included. */
  async range(from: number, to: number): Promise<SealedRange> {
    // The recheck is read first. If its row disappears between the two reads, the new roots are already written.
    const [recheck] = await this.database.query<{ from_day: number | null }>(RECHECK({}));
    type Row = { day: number; revision: number; root: string; sealed_at: Date };
    const rows = await this.database.query<Row>(RANGE({ from, to }));
    return {
      days: rows.map(({ day, revision, root, sealed_at: sealedAt }) => {
        return { day, revision, root: nodeOf(root), sealedAt };
      }),
      recheckFrom: recheck?.from_day ?? undefined,
    };
  }

  /** The first sealed day at or after `from`. */
  async first(from: number): Promise<number | undefined> {
    const [row] = await this.database.query<{ day: number | null }>(FIRST({ from }));
    return row?.day ?? undefined;
  }
}
