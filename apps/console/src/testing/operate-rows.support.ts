/**
 * Rows of an installation: an index, a price, audits, redemptions, a claim, the audit log. A spec by name only: it has
 * no tests.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  AuditRunStore,
  ClaimWatchStore,
  type Database,
  IndexStore,
  PriceStore,
  ReconciliationStore,
  RedemptionStore,
  RedemptionViews,
  type VaultClaim,
} from '#libs/db';
import {
  dayOf,
  mintUuidV7,
  newRedemption,
  PARTNER_CAPABILITIES,
  type PartnerId,
  type Redemption,
  type RedemptionEvent,
  SECONDS_PER_DAY,
  transition,
} from '#libs/domain';
import { aBlock, aFold, anInitialIndex, aWallet } from '#libs/testing/database';
import { aPartnerId } from '#libs/testing/partner';

export const STAKER = aWallet(0x57);
export const VAULT = aWallet(0x7a);
export const CHAIN_ID = 31_337;
const TOKEN = 10n ** 18n;
/** An amount with more digits than a JavaScript number can hold. */
export const EXACT = 123_456_789_012_345_678_901_234_567n;
/** Low-water mark of the day before yesterday, on which the balance fell from 100 to 40.5. */
const LOW = 40n * TOKEN + TOKEN / 2n;

/** An index with `STAKER`: 100 from ten days ago, 40.5 from the day before yesterday, EXACT from an hour ago. */
export async function seedIndex(database: Database, nowMs: number): Promise<void> {
  const store = new IndexStore(database);
  const nowSeconds = Math.floor(nowMs / 1000);
  const today = dayOf(nowSeconds);
  const [begun, dropped] = [today - 10, today - 2];
  const at = (day: number): number => day * SECONDS_PER_DAY + 3600;
  const [first, second] = [aBlock(100, at(begun)), aBlock(200, at(dropped))];
  // An hour ago, but not before today.
  const third = aBlock(300, Math.max(nowSeconds - 3600, today * SECONDS_PER_DAY));
  const head = aBlock(400, nowSeconds - 5);
  await store.create(anInitialIndex({ head: aBlock(1, at(begun) - 1) }));
  const fence = await store.takeLead();
  const changes = [
    { wallet: STAKER, block: first, balance: 100n * TOKEN },
    { wallet: STAKER, block: second, balance: LOW },
    { wallet: STAKER, block: third, balance: EXACT },
  ].map(({ wallet, block, balance }) => ({
    ...{ wallet, balance, blockNumber: block.number, timestampSeconds: block.timestampSeconds },
  }));
  await store.commit({
    fence,
    previousHead: aBlock(1, at(begun) - 1),
    head,
    folded: aFold({
      changes,
      days: [
        { wallet: STAKER, day: begun, low: 0n, closing: 100n * TOKEN },
        { wallet: STAKER, day: dropped, low: LOW, closing: LOW },
        { wallet: STAKER, day: today, low: LOW, closing: EXACT },
      ],
      total: EXACT,
    }),
    blocks: [],
    finalised: aBlock(390, nowSeconds - 30),
    verifiedNumber: 390n,
    synced: true,
  });
  await new PriceStore(database).add({
    usd: '0.15',
    source: 'coingecko:low',
    observedAt: new Date(nowMs - 60_000),
  });
  await seedAudits(database, fence, nowMs);
}

async function seedAudits(database: Database, fence: bigint, nowMs: number): Promise<void> {
  const runs = new AuditRunStore(database);
  const times = { startedAt: new Date(nowMs - 90_000), finishedAt: new Date(nowMs - 80_000) };
  const impossible = { ...times, result: 'impossible', reason: '<b>no</b> endpoint' } as const;
  await runs.record(fence, impossible);
  const { number: blockNumber, hash: blockHash } = aBlock(390);
  await runs.record(fence, {
    ...times,
    result: 'different',
    ...{ blockNumber, blockHash, wallets: 3, compared: 3, differences: 1 },
    different: [{ wallet: STAKER, indexed: EXACT, contract: EXACT - 1n }],
    indexedTotal: EXACT,
    contractTotal: EXACT - 1n,
    sums: { stored: EXACT, closings: EXACT, balances: EXACT },
  });
}

function aRedemption(change: Partial<Redemption>, nowMs: number): Redemption {
  const terms = {
    id: mintUuidV7(nowMs, randomBytes(10)),
    partner: aPartnerId(),
    wallet: STAKER,
    points: 5000n,
    usdAmount: { digits: 5000n, scale: 2 },
    tokenAmount: 340n * TOKEN,
    tokenDecimals: 18,
    priceUsd: { digits: 15n, scale: 2 },
    quoteExpiresAtMs: nowMs + 60_000,
  };
  return { ...newRedemption(terms, nowMs), ...change };
}

/** A redemption that stopped in `attention` or, without `isStuck`, one that was only created. */
export async function seedRedemption(
  database: Database,
  nowMs: number,
  { isStuck, ...change }: Partial<Redemption> & { readonly isStuck: boolean },
): Promise<Redemption> {
  const store = new RedemptionStore(database);
  let redemption = aRedemption(change, nowMs);
  const key = { key: randomUUID(), bodyHash: Buffer.alloc(32, 1) };
  await store.create(redemption, key, { paused: false, maxOpen: 1000, priceMaxAgeSeconds: 7200 });
  if (!isStuck) return redemption;
  const requestId = mintUuidV7(nowMs, randomBytes(10));
  for (const event of [
    { type: 'call-due', requestId },
    { type: 'deduct-id-reused', requestId },
  ] satisfies RedemptionEvent[]) {
    const decision = transition(redemption, event, {
      nowMs: nowMs + redemption.version * 1000,
      jitter: 0,
      policy: { capabilities: PARTNER_CAPABILITIES, confirms: true },
    });
    if (decision.kind === 'refused') throw new Error(decision.message);
    await store.apply({ before: redemption, decision, event: event.type, actor: 'worker' });
    redemption = decision.next;
  }
  return redemption;
}

/** Claims without a redemption, as the claim watch finds them. @returns their redemption ids, oldest first */
export async function seedClaims(database: Database, nowMs: number, count = 1): Promise<string[]> {
  const place = { chainId: CHAIN_ID, vault: VAULT };
  await new ReconciliationStore(database).begin(place, 1n);
  const claims = Array.from({ length: count }, (_, at): VaultClaim => {
    const redemptionId = mintUuidV7(nowMs, randomBytes(10));
    return {
      vaultId: `0x${redemptionId.replaceAll('-', '').padEnd(64, '0')}`,
      redemptionId,
      transactionHash: `0x${randomBytes(32).toString('hex')}`,
      block: aBlock(200 + at, Math.floor(nowMs / 1000) - 600),
      recipient: aWallet(0xbad),
      amount: 7n * TOKEN,
    };
  });
  await new ClaimWatchStore(database).record({ ...place, claims, nextBlock: 999n, nowMs });
  return claims.map(({ redemptionId }) => redemptionId ?? '');
}

/** Rows of the audit log. The newest row is the last. */
export async function seedLog(
  database: Database,
  partner: PartnerId,
  count: number,
): Promise<void> {
  const views = new RedemptionViews(database);
  for (let at = 0; at < count; at++) {
    const command = at % 2 === 0 ? 'partner set' : 'partner pause';
    const given = { note: `<script>alert(${at})</script>` };
    const note = { command, arguments: given, outcome: 'done' };
    await views.audit(`operator:${at % 3 === 0 ? 'ann' : 'bob'}`, note, { partner });
  }
}
