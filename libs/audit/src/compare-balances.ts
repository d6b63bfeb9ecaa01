/** One look at the index and at the contract, at one block. */
import { readWalletPage, type WalletBalance, IndexStore } from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { type AuditParts } from './audit-parts.js';
import { type AuditResult } from './audit-result.js';
import { chunks } from './chunks.js';
import { persist } from './persist.js';
import { Tally } from './tally.js';

const PAGE = 2000;
/** Drawn at once: each is two look-ups in the database. */
const DRAW = 1000;

/** @throws AllEndpointsFailedError, DatabaseUnavailableError, or the reason of the signal */
export async function compareBalances(parts: AuditParts, block: BlockRef): Promise<AuditResult> {
  const { database, reader, sample, pace, sleep, onProgress, signal } = parts;
  // First: a node that keeps little state has it longest for what is asked first.
  const contract = await persist(parts, () => reader.stakeTotal(block));
  const tally = new Tally(parts, block);
  if (sample !== 'all') {
    for (const wallets of chunks(await chosen(parts, sample), DRAW)) {
      const balances = await new IndexStore(database).balancesAt(wallets, block.number);
      await tally.compare(
        wallets.map((wallet, index) => ({ wallet, balance: balances[index] ?? 0n })),
      );
    }
  }
  let [indexed, wallets] = [0n, 0];
  let after: Address | undefined;
  do {
    signal?.throwIfAborted();
    const page: readonly WalletBalance[] = await readWalletPage(database, {
      block: block.number,
      after,
      limit: PAGE,
    });
    for (const { balance } of page) indexed += balance;
    wallets += page.length;
    if (sample === 'all') await tally.compare(page);
    after = page.length < PAGE ? undefined : page.at(-1)?.wallet;
    onProgress(`${wallets} wallets read, ${tally.compared ?? 'none'} compared`);
    if (after !== undefined && pace.pauseMs > 0) await sleep(pace.pauseMs);
  } while (after !== undefined);
  const { compared, isWhole, differences } = tally;
  return { block, wallets, compared, isWhole, differences, total: { indexed, contract } };
}

async function chosen(
  { database, always = [], signal }: AuditParts,
  sample: number,
): Promise<Address[]> {
  const store = new IndexStore(database);
  const wallets = new Set(always);
  for (let left = sample; left > 0; left -= DRAW) {
    signal?.throwIfAborted();
    for (const wallet of await store.sampleWallets(Math.min(left, DRAW))) wallets.add(wallet);
  }
  return [...wallets];
}
