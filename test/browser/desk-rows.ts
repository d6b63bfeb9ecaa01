/** Seeds database rows of an installation that has run for weeks. */
import { randomBytes } from 'node:crypto';
import { type Database, IndexStore } from '#libs/db';
import { type Address, type BlockDeltas, foldBlocks, mintUuidV7 } from '#libs/domain';
import { aBlock, anInitialIndex, aWallet } from '#libs/testing/database';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const TOKEN = 10n ** 18n;

/** Seeds a wallet that stakes or withdraws on each day. */
export async function seedStakes(
  database: Database,
  { wallet, days, nowMs }: { wallet: Address; days: number; nowMs: number },
): Promise<void> {
  const store = new IndexStore(database);
  const secondsOf = (daysAgo: number) => Math.floor((nowMs - daysAgo * DAY_MS) / 1000);
  const first = aBlock(1, secondsOf(days + 1));
  await store.create(anInitialIndex({ head: first }));
  const blocks: BlockDeltas[] = Array.from({ length: days }, (_, place) => ({
    blockNumber: BigInt(place + 2),
    timestampSeconds: secondsOf(days - place),
    deltas: [{ wallet, amount: (place % 3 === 2 ? -40n : 100n) * TOKEN }],
  }));
  const folded = foldBlocks(new Map(), blocks);
  const head = aBlock(days + 10, Math.floor(nowMs / 1000) - 5);
  await store.commit({
    ...{ fence: await store.takeLead(), previousHead: first, head },
    ...{ folded, blocks: [head], synced: true },
  });
}

export interface SeededCalls {
  readonly partner: string;
  /** One call in each of the last hours, in turn answered as agreed, refused, unanswered and not sent. */
  readonly hours: number;
  readonly nowMs: number;
}

export async function seedCalls(
  database: Database,
  { partner, hours, nowMs }: SeededCalls,
): Promise<void> {
  const found = (code: string, status?: number) => {
    return { finding: { code, status, isUsable: code.startsWith('good') } };
  };
  const answered = { verdict: 'verified' };
  const ends = [
    [
      'answer',
      { ...answered, ...found('good-success', 200), status: 200, excerpt: '{"balance":"5000"}' },
    ],
    [
      'answer',
      {
        ...answered,
        ...found('wrong-envelope', 404),
        status: 404,
        excerpt: '{"error":"<b>no</b>"}',
      },
    ],
    ['no-answer', { ...found('timeout'), cause: 'timeout' }],
    ['nothing-sent', { ...found('circuit-open'), cause: 'circuit-open' }],
  ] as const;
  for (let hour = 0; hour < hours; hour++) {
    const ms = nowMs - hour * HOUR_MS;
    const [outcome, record] = ends[hour % ends.length] ?? ends[0];
    await database.pool.query(
      `INSERT INTO redemption.partner_call (request_id, partner, step, begun_at, ended_at, outcome, record)
        VALUES ($1, $2, 'balance', $3, $3, $4, $5)`,
      [mintUuidV7(ms, randomBytes(10)), partner, new Date(ms), outcome, JSON.stringify(record)],
    );
  }
}

/** Seeds a partner's requests to the api: one in each of the last hours, with different answers in turn. */
export async function seedRequests(
  database: Database,
  { keyPrefix, hours }: { readonly keyPrefix: string; readonly hours: number },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO partners.request
        (partner_id, credential_id, at, method, path, path_length, status, body, body_bytes, signature, duration_us, request_id)
      SELECT c.partner_id, c.id, now() - hour * interval '1 hour', 'GET', '/api/staking/snapshots', 22,
        (ARRAY[200, 200, 404, 429, 503])[1 + hour % 5], '', 0, decode(repeat('00', 32), 'hex'), 1, 'r-' || hour
      FROM partners.credential c, generate_series(0, $2::int - 1) AS hour WHERE c.key_prefix = $1`,
    [keyPrefix, hours],
  );
}

/**
 * Seeds a deduction of a conformance run, as a console has it that took over from a killed one. It is due far in the
 * future, so that no console tries it again during a test.
 */
export async function seedOpenDeduction(
  database: Database,
  partner: string,
  { transactionId = null, attempts = 3 }: { transactionId?: string | null; attempts?: number } = {},
): Promise<{ readonly redemptionId: string; readonly dueAt: Date }> {
  const { rows } = await database.pool.query<{ redemptionId: string; dueAt: Date }>(
    `INSERT INTO console.conformance_deduction (redemption_id, run_id, partner, address, points, transaction_id, attempts, due_at)
      VALUES (gen_random_uuid(), gen_random_uuid(), $1, $2, 2.5, $3, $4, now() + interval '1 day')
      RETURNING redemption_id AS "redemptionId", due_at AS "dueAt"`,
    [partner, aWallet(0xabcdef), transactionId, attempts],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('it was added');
  return row;
}
