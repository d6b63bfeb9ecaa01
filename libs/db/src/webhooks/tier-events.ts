/**
 * Events of the topic `wallet.tier-changed`. Follows what is final, a day or a range of blocks at a time, and page by
 * page through the wallets concerned. One transaction takes a page, stores the new tiers, writes the events and moves
 * the cursor, so that each change has one event even where a process is killed.
 *
 * The first pass of a rule stores the tiers of all wallets and writes no events. A later pass reads the wallets whose
 * balance changed, or all wallets where a sealed day came out differently or where so much changed that this is faster.
 */
import { type PoolClient } from 'pg';
import { type TierMeasure } from '#libs/domain';
import { type Database, run } from '../connection/database.js';
import { named } from '../connection/named.js';
import { TIER_PAGES, type TierPageRow } from './tier-statements.js';

type Pass = 'first' | 'changed' | 'again';

const FOLLOWED = named<{ set: string }>(
  'webhook_tiers_followed',
  `SELECT id FROM webhooks.subscription WHERE stake_set = :set AND measure IS NOT NULL AND removed_at IS NULL ORDER BY created_at, id`,
);

/** One process at a time follows a subscription. */
const LOCK = named<{ id: string }>(
  'webhook_tiers_lock',
  `SELECT c.version, c.point, c.pass, c.pass_point AS "passPoint", c.pass_after AS "passAfter", c.recheck, s.measure, s.days
    FROM webhooks.tier_cursor c JOIN webhooks.subscription s ON s.id = c.subscription
    WHERE c.subscription = :id::uuid AND s.measure IS NOT NULL AND s.removed_at IS NULL FOR UPDATE OF c SKIP LOCKED`,
);

/** The newest sealed day for a rule without a day yet, otherwise the day after the rule's day. */
const NEXT_DAY = named<{ point: string | null }>(
  'webhook_tiers_next_day',
  `SELECT CASE WHEN :point::int IS NULL THEN max(day) ELSE min(day) FILTER (WHERE day > :point::int) END AS point FROM staking.sealed_day`,
);

const NEXT_BLOCK = named<{ point: string | null }>(
  'webhook_tiers_next_block',
  `SELECT least(finalised_number, verified_number) AS point FROM staking.index_state
    WHERE halted_at IS NULL AND least(finalised_number, verified_number) > coalesce(:point::bigint, -1)`,
);

const MOVE = named<{
  id: string;
  point: string | null;
  pass: Pass | null;
  passPoint: string | null;
  passAfter: Buffer | null;
  recheck: boolean;
}>(
  'webhook_tiers_move',
  `UPDATE webhooks.tier_cursor SET point = :point::bigint, pass = :pass, pass_point = :passPoint::bigint, pass_after = :passAfter,
      recheck = :recheck WHERE subscription = :id::uuid`,
);

interface Cursor {
  readonly version: number;
  readonly point: string | null;
  readonly pass: Pass | null;
  readonly passPoint: string | null;
  readonly passAfter: Buffer | null;
  readonly recheck: boolean;
  readonly measure: TierMeasure;
  readonly days: number;
}

interface CurrentPass {
  readonly pass: Pass;
  readonly point: string;
  readonly after: Buffer;
}

interface Sizes {
  /** Wallets in a page. */
  readonly page: number;
  /** Up to this number of changes, a pass reads only the wallets that changed. Each of its pages reads all changes. */
  readonly maxChangesForChangedPass: number;
}

/**
 * With this number of changes, finding the wallets takes as long as the measures of a million wallets: about a minute.
 */
const SIZES: Sizes = { page: 2000, maxChangesForChangedPass: 300_000 };

export interface TierStep {
  /** There may be more to do at once. */
  readonly goesOn: boolean;
  /** Number of events that were written. */
  readonly told: number;
}

const IDLE: TierStep = { goesOn: false, told: 0 };

export class TierEvents {
  /** @param database of the stake set */
  constructor(
    private readonly database: Database,
    private readonly set: string,
    private readonly sizes = SIZES,
  ) {}

  /** Ids of the subscriptions with a rule for tiers. */
  async followed(): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(FOLLOWED({ set: this.set }));
    return rows.map(({ id }) => id);
  }

  /**
   * Handles one page of wallets of one subscription. Does nothing where another process is doing so or where
   * nothing more is final.
   * @throws DatabaseUnavailableError, DatabaseRefusedError; nothing was done in these cases
   */
  async step(id: string): Promise<TierStep> {
    return this.database.transaction(async (client) => {
      const [cursor] = await run<Cursor>(client, LOCK({ id }));
      if (cursor === undefined) return IDLE;
      const underway = currentPassOf(cursor) ?? (await this.nextPass(client, cursor));
      if (underway === undefined) return IDLE;
      const page = await this.page(client, id, cursor, underway);
      if (!page.holds) return IDLE;
      // The start of a pass over all wallets clears `recheck`. A revision that is noted during a pass is
      // left for the next pass.
      const beginsAgain = underway.pass === 'again' && cursor.pass === null;
      const recheck = cursor.recheck && !beginsAgain;
      const isOver = page.seen < this.sizes.page || page.last === null;
      await run(
        client,
        MOVE(
          isOver
            ? { id, point: underway.point, pass: null, passPoint: null, passAfter: null, recheck }
            : {
                ...{ id, point: cursor.point, pass: underway.pass, recheck },
                ...{ passPoint: underway.point, passAfter: page.last },
              },
        ),
      );
      return { goesOn: true, told: page.told };
    });
  }

  private async page(
    client: PoolClient,
    id: string,
    { version, point, measure, days }: Cursor,
    { pass, point: to, after }: CurrentPass,
  ): Promise<TierPageRow> {
    const pages = statementsOf(measure);
    const statement = pass === 'changed' ? pages.changed : pages.all;
    const { set } = this;
    const { page: limit } = this.sizes;
    const tells = pass !== 'first';
    const before = point ?? '-1';
    const values = { id, version, set, point: to, before, days, after, limit, tells };
    const [row] = await run<TierPageRow>(client, statement(values));
    return row ?? { holds: false, seen: 0, last: null, told: 0 };
  }

  private async nextPass(
    client: PoolClient,
    { measure, days, point: before, recheck }: Cursor,
  ): Promise<CurrentPass | undefined> {
    const after = Buffer.alloc(0);
    if (recheck && before !== null) return { pass: 'again', point: before, after };
    const next = measure === 'balance' ? NEXT_BLOCK : NEXT_DAY;
    const [found] = await run<{ point: string | number | null }>(client, next({ point: before }));
    if (found === undefined || found.point === null) return undefined;
    const point = String(found.point);
    if (before === null) return { pass: 'first', point, after };
    const { maxChangesForChangedPass: few } = this.sizes;
    const { many } = statementsOf(measure);
    const [changes] = await run<{ isMany: boolean }>(client, many({ point, before, days, few }));
    return { pass: changes?.isMany === true ? 'again' : 'changed', point, after };
  }
}

function statementsOf(measure: TierMeasure) {
  return TIER_PAGES[measure === 'balance' ? 'balance' : 'days'];
}

function currentPassOf({ pass, passPoint, passAfter }: Cursor): CurrentPass | undefined {
  if (pass === null || passPoint === null || passAfter === null) return undefined;
  return { pass, point: passPoint, after: passAfter };
}
