/**
 * Seeds an index as the indexer leaves it after some weeks: many wallets with a few changes each, and one whose balance
 * changes in every block. The rows are written through the index store, by the same code as in a backfill.
 */
import { createDatabase, IndexStore, PartnerStore, PriceStore } from '#libs/db';
import {
  type Address,
  type BlockDeltas,
  foldBlocks,
  type StakeDelta,
  type WalletState,
} from '#libs/domain';
import { hashApiKey, KeyRing, type MintedCredential, mintCredential } from '#libs/signing';
import { Progress } from '../support/progress.js';
import { Random, walletAt } from '../support/random.js';
import { SYNTHETIC_INDEX, syntheticBlock } from '../support/synthetic-index.js';

export interface IndexShape {
  readonly wallets: number;
  /** Balance changes of the busiest wallet, one in each block. */
  readonly changes: number;
  readonly days: number;
  readonly nowMs: number;
}

/** Wallet 0 is the busiest one; the others are quiet. */
export const BUSIEST = walletAt(0);
const BLOCKS_AT_ONCE = 10_000;
const QUIET_CHANGES = 10;
const TOKEN = 10n ** 18n;
const KEY_PREFIX_LENGTH = 12;
/** Keeps the rate limit out of the measurement. */
const NO_LIMIT = 2 ** 31 - 1;

export async function seedIndex(url: string, shape: IndexShape): Promise<void> {
  const { changes, days, nowMs } = shape;
  const nowSeconds = Math.floor(nowMs / 1000);
  const fromSeconds = nowSeconds - days * 86_400;
  const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
  try {
    const store = new IndexStore(database);
    const secondsOf = (number: number): number =>
      fromSeconds + Math.floor((number / changes) * (nowSeconds - fromSeconds));
    let head = syntheticBlock(0, fromSeconds);
    await store.create({ ...SYNTHETIC_INDEX, head });
    const fence = await store.takeLead();
    const states = new Map<Address, WalletState>();
    const random = new Random(1);
    const progress = new Progress(`writing ${changes} changes of one wallet`, changes);
    for (let first = 1; first <= changes; first += BLOCKS_AT_ONCE) {
      const last = Math.min(first + BLOCKS_AT_ONCE - 1, changes);
      const blocks = Array.from({ length: last - first + 1 }, (_, index) =>
        blockAt(first + index, secondsOf(first + index), { random, shape }),
      );
      const folded = foldBlocks(states, blocks);
      for (const { wallet, after } of folded.wallets.values()) states.set(wallet, after);
      const next = syntheticBlock(last, secondsOf(last));
      await store.commit({
        fence,
        previousHead: head,
        head: next,
        folded,
        blocks: [next],
        finalised: next,
        synced: true,
      });
      head = next;
      progress.at(last);
    }
    await new PriceStore(database).add({
      usd: '0.000123',
      observedAt: new Date(nowMs),
      source: 'fixed',
    });
    await database.pool.query('VACUUM ANALYZE');
  } finally {
    await database.close();
  }
}

export interface SeedPartner {
  readonly name: string;
  readonly rate: number;
  readonly burst: number;
}

/** Stores a partner, by default one whose rate limit is never reached. */
export async function seedPartner(
  url: string,
  secretsKey: string,
  partner: SeedPartner = { name: 'bench', rate: NO_LIMIT, burst: NO_LIMIT },
): Promise<MintedCredential> {
  const database = await createDatabase({ url, applicationName: 'bench', poolSize: 1 });
  try {
    const minted = mintCredential();
    const keyHash = hashApiKey(minted.apiKey);
    await new PartnerStore(database).create({
      ...partner,
      credential: {
        keyHash,
        keyPrefix: minted.apiKey.slice(0, KEY_PREFIX_LENGTH),
        secretCiphertext: KeyRing.parse(secretsKey).seal(minted.sharedSecret, keyHash),
      },
    });
    return minted;
  } finally {
    await database.close();
  }
}

function blockAt(
  number: number,
  timestampSeconds: number,
  { random, shape }: { random: Random; shape: IndexShape },
): BlockDeltas {
  const deltas: StakeDelta[] = [
    // Amounts alternate in sign, so that the balance stays in bounds.
    { wallet: BUSIEST, amount: number % 2 === 1 ? 1000n * TOKEN : -999n * TOKEN },
  ];
  const quiet = shape.wallets - 1;
  // The quiet wallets take turns, evenly over the time.
  const turnsUntil = (block: number): number =>
    Math.floor((block / shape.changes) * quiet * QUIET_CHANGES);
  for (let turn = turnsUntil(number - 1); turn < turnsUntil(number); turn += 1) {
    const amount = TOKEN * BigInt(random.between(1, 100_000));
    deltas.push({ wallet: walletAt(1 + (turn % quiet)), amount });
  }
  return { blockNumber: BigInt(number), timestampSeconds, deltas };
}
