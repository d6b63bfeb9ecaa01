/** One look at the index and at the contract, at one block. */
import { readWalletPage, type WalletBalance, IndexStore } from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { type AuditParts } from './audit-parts.js';
import { type AuditResult } from './audit-result.js';
import { chunks } from './chunks.js';
import { firstWord, secondWord } from './second-word.js';
import { Tally } from './tally.js';

const PAGE = 2000;
/** Drawn at once: each is two look-ups in the database. */
const DRAW = 1000;

/** @throws AllEndpointsFailedError, DatabaseUnavailableError, or the reason of the signal */
export async function compareBalances(parts: AuditParts, block: BlockRef): Promise<AuditResult> {
  const { database, reader, sample, pace, sleep, onProgress, signal } = parts;
  // First: a node that keeps little state has it longest for what is asked first.
  const total = await firstWord(parts, (options) => reader.stakeTotal(block, options));
  const tally = new Tally(parts, block);
  if (sample !== 'all') {
    for (const wallets of chunks(await chosen(parts, sample, block), DRAW)) {
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
  const contract =
    total === undefined || total.figure === indexed
      ? total?.figure
      : await secondWord(parts, total.endpoint, (options) => reader.stakeTotal(block, options));
  const { compared, isWhole, differences } = tally;
  return { block, wallets, compared, isWhole, differences, total: { indexed, contract } };
}

/** Few wallets are taken all; of many, as many as wanted are drawn, and some of them twice. */
async function chosen(
  { database, always = [], signal }: AuditParts,
  sample: number,
  block: BlockRef,
): Promise<Address[]> {
  const wallets = new Set(always);
  const few = Math.min(sample, PAGE);
  const page = await readWalletPage(database, { block: block.number, limit: few + 1 });
  if (page.length <= few) {
    for (const { wallet } of page) wallets.add(wallet);
    return [...wallets];
  }
  const store = new IndexStore(database);
  for (let left = sample; left > 0; left -= DRAW) {
    signal?.throwIfAborted();
    for (const wallet of await store.sampleWallets(Math.min(left, DRAW))) wallets.add(wallet);
  }
  return [...wallets];
}
