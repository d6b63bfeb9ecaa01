/**
 * The common environment for tests of the service and of its engine. Named as a test file, without tests of its own.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { type CallbackSettings } from '#libs/db';
import { addressOfKey } from '#libs/chain';
import { type VaultSetup } from '#libs/devchain';
import {
  type Address,
  mintUuidV7,
  type newRedemption,
  parseDecimal,
  type PartnerId,
} from '#libs/domain';
import { type Logger } from '#libs/platform';
import { createLogger } from '#libs/service';
import { KeyRing } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { aPartnerId, FakePartner, registerPartner } from '#libs/testing/partner';
import { VaultBench } from '#libs/testing/vault';

export const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
/** Address of the signer, which may also cancel vouchers. */
export const SIGNER = addressOfKey(VaultBench.SIGNER_KEY);

/** A database, a vault on a chain, a partner, a clock that starts at the chain's time, and the log. */
export interface Stage {
  readonly database: TestDatabase;
  readonly bench: VaultBench;
  readonly game: FakePartner;
  readonly clock: FakeClock;
  readonly logs: string[];
  readonly logger: Logger;
}

export async function startStage(vault: Partial<VaultSetup> = {}): Promise<Stage> {
  const database = await createTestDatabase();
  const bench = await VaultBench.start({ canceller: SIGNER, ...vault });
  const game = await FakePartner.start();
  const clock = new FakeClock(bench.seconds * 1000);
  const logs: string[] = [];
  const destination = { write: (line: string) => void logs.push(line) };
  const logger = createLogger({ app: 'redemption', level: 'trace', destination });
  return { database, bench, game, clock, logs, logger };
}

export async function stopStage({ game, bench, database }: Stage): Promise<void> {
  await game.stop();
  await bench.stop();
  await database.drop();
}

type Terms = Parameters<typeof newRedemption>[0];

/** The terms of a redemption of 5000 points, as far as a test names no others. */
export function someTerms(nowMs: number, changes: Partial<Terms> = {}): Terms {
  return {
    id: mintUuidV7(nowMs, randomBytes(10)),
    partner: aPartnerId(),
    wallet: `0x${randomBytes(20).toString('hex')}` as Address,
    points: 5000n,
    usdAmount: parseDecimal('50.00'),
    tokenAmount: 340n,
    tokenDecimals: 18,
    priceUsd: parseDecimal('0.15'),
    quoteExpiresAtMs: nowMs + 120_000,
    ...changes,
  };
}

/** An idempotency key that no other redemption has. */
export const someKey = () => ({ key: randomUUID(), bodyHash: Buffer.alloc(32) });

/** Takes a chain back to this block, without what was sent since and is in no block. */
export async function backTo(bench: VaultBench, block: bigint): Promise<void> {
  const { rpc, player } = bench.chain;
  await rpc.call('anvil_dropAllTransactions');
  const depth = (await player.head()) - block;
  if (depth > 0n) await bench.rollback(Number(depth));
}

/** One pool per database for all rows that a test adds. */
const pools = new WeakMap<TestDatabase, ReturnType<TestDatabase['open']>>();
export function connected(database: TestDatabase): ReturnType<TestDatabase['open']> {
  const pool = pools.get(database) ?? database.open();
  pools.set(database, pool);
  return pool;
}

/** Adds a partner whose callbacks go to the game server, at 0.01 USD per point. */
export async function addPartner(
  { database, game, clock }: Pick<Stage, 'database' | 'game' | 'clock'>,
  name: string,
  overrides: Partial<CallbackSettings> = {},
): Promise<PartnerId> {
  const partnerId = await registerPartner(await connected(database), KeyRing.parse(SECRETS_KEY), {
    name,
    url: game.url,
    dailyTokenBudget: parseDecimal('1000000'),
    ...overrides,
  });
  // Lets the directory read the partners again.
  clock.advance(2_000);
  return partnerId;
}
