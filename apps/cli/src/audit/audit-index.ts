/**
 * The balances of the index held against the contract's own view of them, and their sum against the contract's total, at one final
 * block. It reads only.
 */
import { AllEndpointsFailedError, type ChainReader } from '#libs/chain';
import {
  type Database,
  IndexStore,
  type IndexState,
  readWalletPage,
  type WalletBalance,
} from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { AuditImpossibleError } from './audit.error.js';

export interface AuditDifference {
  readonly wallet: Address;
  /** In the token's smallest unit, as all amounts here. */
  readonly indexed: bigint;
  readonly contract: bigint;
}

export interface AuditResult {
  readonly block: BlockRef;
  /** Of the index, also those whose history begins after the block. */
  readonly wallets: number;
  /** Held against the contract; undefined where no contract or node tells balances. */
  readonly compared: number | undefined;
  readonly differences: readonly AuditDifference[];
  readonly total: { readonly indexed: bigint; readonly contract: bigint | undefined };
}

export interface AuditParts {
  readonly database: Database;
  readonly reader: Pick<ChainReader, 'stakeBalances' | 'stakeTotal'>;
  readonly state: IndexState;
  readonly block: BlockRef;
  /** How many wallets are drawn at random. */
  readonly sample: number | 'all';
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly onProgress: (said: string) => void;
}

const PAGE = 2000;
/** In one batch; with several contracts as many calls for each. */
const WALLETS_AT_ONCE = 100;
const BATCHES_AT_ONCE = 4;
const ATTEMPTS = 5;
const LONGEST_WAIT_MS = 10_000;

/** @throws AuditImpossibleError, AllEndpointsFailedError, DatabaseUnavailableError */
export async function auditIndex(parts: AuditParts): Promise<AuditResult> {
  const { database, block, sample, onProgress } = parts;
  const tally = new Tally(parts);
  if (sample !== 'all') await tally.compare(await drawn(parts, sample));
  let [indexed, wallets] = [0n, 0];
  let after: Address | undefined;
  do {
    const page = await readWalletPage(database, { block: block.number, after, limit: PAGE });
    for (const { balance } of page) indexed += balance;
    wallets += page.length;
    if (sample === 'all') await tally.compare(page);
    after = page.length < PAGE ? undefined : page.at(-1)?.wallet;
    onProgress(`${wallets} wallets read, ${tally.compared ?? 'none'} compared`);
  } while (after !== undefined);
  const contract = await persist(parts, () => parts.reader.stakeTotal(block));
  await requireUnmoved(parts);
  const { compared, differences } = tally;
  return { block, wallets, compared, differences, total: { indexed, contract } };
}

class Tally {
  readonly differences: AuditDifference[] = [];
  /** Undefined once it is known that nobody tells balances. */
  compared: number | undefined = 0;

  constructor(private readonly parts: AuditParts) {}

  async compare(balances: readonly WalletBalance[]): Promise<void> {
    const batches = chunks(balances, WALLETS_AT_ONCE);
    for (const together of chunks(batches, BATCHES_AT_ONCE)) {
      await Promise.all(together.map((batch) => this.compareBatch(batch)));
    }
  }

  private async compareBatch(batch: readonly WalletBalance[]): Promise<void> {
    if (this.compared === undefined) return;
    const { reader, block } = this.parts;
    const wallets = batch.map(({ wallet }) => wallet);
    const told = await persist(this.parts, () => reader.stakeBalances(wallets, block));
    if (told === undefined) {
      this.compared = undefined;
      return;
    }
    this.compared += batch.length;
    this.parts.onProgress(`${this.compared} wallets compared`);
    for (const [index, { wallet, balance }] of batch.entries()) {
      const contract = told[index] ?? 0n;
      if (contract !== balance) this.differences.push({ wallet, indexed: balance, contract });
    }
  }
}

async function drawn(
  { database, block }: AuditParts,
  sample: number,
): Promise<readonly WalletBalance[]> {
  const store = new IndexStore(database);
  const wallets = await store.sampleWallets(sample);
  const balances = await store.balancesAt(wallets, block.number);
  return wallets.map((wallet, index) => ({ wallet, balance: balances[index] ?? 0n }));
}

/** An endpoint that has had enough for the moment does not end a long audit. */
async function persist<T>({ sleep }: AuditParts, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || attempt >= ATTEMPTS) throw error;
      await sleep(Math.min(Math.max(error.retryAfterMs, 250 * attempt), LONGEST_WAIT_MS));
    }
  }
}

/** The indexer itself goes back below what is final where the contract's figures prove it wrong. */
async function requireUnmoved({ database, state }: AuditParts): Promise<void> {
  const now = await new IndexStore(database).state();
  if (now?.rollbacks === state.rollbacks && now.fingerprint === state.fingerprint) return;
  throw new AuditImpossibleError(
    'The index went back while it was looked at: run the audit again once the indexer is level with the chain.',
  );
}

function chunks<T>(list: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}
