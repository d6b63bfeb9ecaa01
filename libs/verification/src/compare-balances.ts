/**
 * One comparison of the index with the contract, at one block. A difference is believed only if a second provider finds
 * it too, or the only one finds it twice.
 */
import {
  AllEndpointsFailedError,
  askStatement,
  believed,
  type ChainReader,
  type FigureOptions,
  Quorum,
  type Statement,
} from '#libs/chain';
import { type AuditDifference, type IndexReader, type WalletBalance, walletPages } from '#libs/db';
import { type Address, type BlockRef } from '#libs/domain';
import { BalanceAudit } from './balance-audit.js';

export interface AuditQuestion {
  readonly index: IndexReader;
  readonly reader: ChainReader;
  readonly block: bigint | 'finalised';
  /** How many wallets are drawn at random. */
  readonly sample: number | 'all';
  readonly always?: readonly Address[];
  /** Batches have 100 wallets each. The pause is between two requests to the endpoints or the database. */
  readonly pace: { readonly batchesAtOnce: number; readonly pauseMs: number };
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Ends the audit between two requests, with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly onProgress: (said: string) => void;
}

export interface ContractComparison {
  readonly block: BlockRef;
  /** Number of wallets of the index, including those whose history begins after the block. */
  readonly wallets: number;
  /** Number of wallets compared with the contract; undefined where no contract or endpoint reports balances. */
  readonly compared: number | undefined;
  /** False where the endpoints lost the block's state before all wanted balances were compared. */
  readonly isComplete: boolean;
  readonly differences: readonly AuditDifference[];
  readonly total: { readonly indexed: bigint; readonly contract: bigint | undefined };
}

const PAGE = 2000;
/** Wallets drawn in one query; each needs two look-ups in the database. */
const DRAW = 1000;
/** Wallets in one batch. With several contracts, each contract needs one call for each wallet. */
const WALLETS_AT_ONCE = 100;

/** @throws AllEndpointsFailedError, DatabaseUnavailableError, or the reason of the signal */
export async function compareBalances(
  question: AuditQuestion,
  block: BlockRef,
): Promise<ContractComparison> {
  const { index, reader, sample, pace, sleep, onProgress, signal } = question;
  const askTotal = (options: FigureOptions) => reader.stakeTotal(block, options);
  // The total comes first, while a node that keeps little state still has the state of the block.
  const total = await askPatiently(question, () => askStatement(askTotal));
  const comparison = new WalletComparison(question, block);
  if (sample !== 'all') {
    for (const wallets of chunks(await drawWallets(question, sample, block), DRAW)) {
      const balances = await index.balancesAt(wallets, block.number);
      await comparison.compare(
        wallets.map((wallet, place) => ({ wallet, balance: balances[place] ?? 0n })),
      );
    }
  }
  let [indexed, wallets] = [0n, 0];
  for await (const page of walletPages(index, { block: block.number, limit: PAGE })) {
    signal?.throwIfAborted();
    for (const { balance } of page) indexed += balance;
    wallets += page.length;
    if (sample === 'all') await comparison.compare(page);
    onProgress(`${wallets} wallets read, ${comparison.compared ?? 'none'} compared`);
    if (page.length === PAGE && pace.pauseMs > 0) await sleep(pace.pauseMs);
  }
  const confirmed =
    total === undefined || total.value === indexed
      ? total?.value
      : await confirmTotal(question, block, { indexed, told: total });
  const withZero = confirmed === indexed ? undefined : await reader.totalWithZero(block);
  // Either the contract leaves the zero address out of its total itself, or the index lacks what was sent there: only
  // the balances of all wallets tell.
  const isWithoutZero = withZero?.total === indexed;
  if (isWithoutZero && sample !== 'all')
    return compareBalances({ ...question, sample: 'all' }, block);
  const contract = isWithoutZero ? indexed : confirmed;
  const { compared, isComplete, differences } = comparison;
  return {
    block,
    wallets,
    compared,
    isComplete,
    differences,
    total: { indexed, contract },
  };
}

/**
 * The contract's total, after one provider has told another one than the index. What the zero address holds is taken
 * off, if a part of the total is there.
 */
async function confirmTotal(
  question: AuditQuestion,
  block: BlockRef,
  { indexed, told }: { readonly indexed: bigint; readonly told: Statement<bigint> },
): Promise<bigint | undefined> {
  const { reader } = question;
  const ask = (options: FigureOptions) =>
    askPatiently(question, () =>
      askStatement((said) => reader.stakeTotal(block, { ...options, ...said })),
    );
  const isReadAgain = await askPatiently(question, () => reader.findsZeroHolding(block));
  const first = isReadAgain ? await ask({}) : told;
  const said =
    first &&
    (await new Quorum(reader.endpoints).confirm(ask, (one, other) => one === other, first));
  return (
    said &&
    believed(
      indexed,
      said.map(({ value }) => value),
    )
  );
}

/** Takes all wallets if there are few. Of many, draws as many as wanted, some of them twice. */
async function drawWallets(
  { index, always = [], signal }: AuditQuestion,
  sample: number,
  block: BlockRef,
): Promise<Address[]> {
  const wallets = new Set(always);
  const few = Math.min(sample, PAGE);
  const page = await index.walletPage({ block: block.number, limit: few + 1 });
  if (page.length <= few) {
    for (const { wallet } of page) wallets.add(wallet);
    return [...wallets];
  }
  for (let left = sample; left > 0; left -= DRAW) {
    signal?.throwIfAborted();
    for (const wallet of await index.sampleWallets(Math.min(left, DRAW))) wallets.add(wallet);
  }
  return [...wallets];
}

class WalletComparison {
  readonly differences: AuditDifference[] = [];
  private count = 0;
  private isAnswered = true;
  private readonly audit: BalanceAudit;

  constructor(
    private readonly question: AuditQuestion,
    private readonly block: BlockRef,
  ) {
    this.audit = new BalanceAudit(question.reader, undefined);
  }

  /** Undefined if no endpoint reports balances. */
  get compared(): number | undefined {
    return this.isAnswered || this.count > 0 ? this.count : undefined;
  }

  /** False if endpoints reported balances at first, and no endpoint had the block's state any more later. */
  get isComplete(): boolean {
    return this.isAnswered || this.count === 0;
  }

  async compare(balances: readonly WalletBalance[]): Promise<void> {
    const { pace, sleep, signal } = this.question;
    for (const together of chunks(chunks(balances, WALLETS_AT_ONCE), pace.batchesAtOnce)) {
      signal?.throwIfAborted();
      if (!this.isAnswered) return;
      await Promise.all(together.map((batch) => this.compareBatch(batch)));
      if (pace.pauseMs > 0) await sleep(pace.pauseMs);
    }
  }

  private async compareBatch(batch: readonly WalletBalance[]): Promise<void> {
    const { question, block } = this;
    const patiently = <T>(ask: () => Promise<T>) => askPatiently(question, ask);
    const { compared, differences, isComplete } = await this.audit.compare(batch, block, patiently);
    this.count += compared;
    this.differences.push(...differences);
    if (isComplete) question.onProgress(`${this.count} wallets compared`);
    else this.isAnswered = false;
  }
}

function chunks<T>(list: readonly T[], size: number): (readonly T[])[] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

const ATTEMPTS = 5;
const LONGEST_WAIT_MS = 10_000;

/**
 * Retries while all endpoints fail, so that a rate limit does not end a long audit.
 * @throws AllEndpointsFailedError, or the reason of the signal
 */
async function askPatiently<T>(
  { sleep, signal }: AuditQuestion,
  ask: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || attempt >= ATTEMPTS) throw error;
      await sleep(Math.min(Math.max(error.retryAfterMs, 250 * attempt), LONGEST_WAIT_MS));
    }
  }
}
