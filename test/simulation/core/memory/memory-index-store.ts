import {
  DatabaseRefusedError,
  FencedError,
  type Findings,
  fingerprintOf,
  type IndexBatch,
  IndexMissingError,
  type IndexState,
  type IndexStore,
  type IndexSums,
  type InitialIndexState,
  requireSameSettings,
  type RollbackResult,
  StaleHeadError,
  type WalletBalance,
  type WalletPage,
  WrongStateError,
} from '#libs/db';
import {
  type Address,
  type BlockRef,
  type DayBalance,
  dayOf,
  type FoldedBlocks,
  SECONDS_PER_DAY,
  type WalletState,
} from '#libs/domain';
import { type MemoryTables, type Public, type StoredChange } from './memory-tables.js';

type Held = Pick<IndexBatch, 'fence'> & { readonly head: BlockRef };

export class MemoryIndexStore implements Public<IndexStore> {
  constructor(private readonly tables: MemoryTables) {}

  create({ head, ...initial }: InitialIndexState): Promise<IndexState> {
    const { tables } = this;
    if (tables.state === undefined) {
      tables.setState({
        ...initial,
        head,
        fence: 0n,
        finalised: undefined,
        verifiedNumber: undefined,
        total: 0n,
        rollbacks: 0n,
        syncedAt: undefined,
        halted: undefined,
      });
    }
    return Promise.resolve(this.held);
  }

  takeLead({ settings }: NonNullable<Parameters<IndexStore['takeLead']>[0]> = {}): Promise<bigint> {
    return attempt(() => {
      const { state } = this.tables;
      if (state && settings && state.fingerprint !== fingerprintOf(settings))
        requireSameSettings(state, settings);
      const { held } = this;
      const fence = held.fence + 1n;
      this.tables.setState({ ...held, fence });
      return fence;
    });
  }

  commit({ fence, previousHead, folded, ...batch }: IndexBatch): Promise<void> {
    return attempt(() => {
      const { tables } = this;
      const state = this.lock(fence, previousHead);
      const written = folded && this.write(folded, state);
      const { head, finalised: told, blocks } = batch;
      const isNewer = told && told.number >= (state.finalised?.number ?? told.number);
      const finalised = isNewer ? told : state.finalised;
      tables.setState({
        ...state,
        head,
        total: state.total + (folded?.totalDelta ?? 0n),
        finalised,
        verifiedNumber: greatest(state.verifiedNumber, batch.verifiedNumber),
        syncedAt: batch.synced === true ? new Date() : state.syncedAt,
      });
      if (written) Object.assign(tables, written);
      for (const [day, delta] of folded?.dayDeltas ?? [])
        tables.totals.set(day, state.total + delta);
      const isKept = ({ number }: BlockRef): boolean =>
        finalised === undefined || number >= finalised.number;
      for (const block of blocks) if (isKept(block)) tables.blocks.set(block.number, block);
      for (const block of tables.blocks.values())
        if (!isKept(block)) tables.blocks.delete(block.number);
    });
  }

  rollback({ fence, head, to }: Held & { readonly to: BlockRef }): Promise<RollbackResult> {
    return attempt(() => this.takeBack(this.lock(fence, head), to));
  }

  rewind({ fence, head, to }: Held & { readonly to: BlockRef }): Promise<RollbackResult> {
    return attempt(() => {
      const { tables } = this;
      const result = this.takeBack(this.lock(fence, head), to);
      const { held } = this;
      const isBelow = held.finalised !== undefined && held.finalised.number >= to.number;
      if (isBelow) tables.blocks.set(to.number, tables.blocks.get(to.number) ?? to);
      tables.setState({ ...held, halted: undefined, finalised: isBelow ? to : held.finalised });
      return result;
    });
  }

  recountTotal({ fence, head }: Held): Promise<void> {
    return attempt(() => {
      const state = this.lock(fence, head);
      const newest = [...this.tables.changes.values()].map((rows) => rows.at(-1)?.balance ?? 0n);
      this.tables.setState({ ...state, total: sumOf(newest) });
    });
  }

  halt(fence: bigint, reason: string): Promise<void> {
    return attempt(() => {
      this.tables.setState({ ...this.led(fence), halted: { at: new Date(), reason } });
    });
  }

  clearHalt(fence: bigint): Promise<void> {
    return attempt(() => {
      this.tables.setState({ ...this.led(fence), halted: undefined });
    });
  }

  state(): Promise<IndexState | undefined> {
    return Promise.resolve(this.tables.state);
  }

  hasFindings(): Promise<boolean> {
    const { findings } = this.tables;
    return Promise.resolve(findings === 'all' || findings.size > 0);
  }

  recordFinding(found: Findings): Promise<void> {
    const { tables } = this;
    const { findings } = tables;
    tables.findings =
      found === 'all' || findings === 'all' ? 'all' : new Set([...findings, ...found]);
    tables.version++;
    return Promise.resolve();
  }

  walletStates(wallets: readonly Address[], fromDay: number): Promise<Map<Address, WalletState>> {
    const { days, changes } = this.tables;
    const states = new Map<Address, WalletState>();
    for (const wallet of wallets) {
      const newest = days.get(wallet)?.at(-1);
      if (newest === undefined) continue;
      const lastSecond = (newest.day + 1) * SECONDS_PER_DAY - 1;
      const change = newest.day >= fromDay ? changes.get(wallet)?.at(-1) : undefined;
      const sinceSeconds = change?.seconds ?? lastSecond;
      states.set(wallet, { balance: newest.closing, low: newest.low, sinceSeconds });
    }
    return Promise.resolve(states);
  }

  balancesAt(wallets: readonly Address[], block: bigint): Promise<bigint[]> {
    const balanceOf = (wallet: Address): bigint =>
      this.tables.changes.get(wallet)?.findLast((change) => change.block <= block)?.balance ?? 0n;
    return Promise.resolve(wallets.map(balanceOf));
  }

  /** The first ones: where there are few wallets, each is drawn. */
  sampleWallets(count: number): Promise<Address[]> {
    return Promise.resolve([...this.tables.changes.keys()].sort().slice(0, count));
  }

  changedWallets({
    above,
    block,
    after,
    limit,
  }: WalletPage & { readonly above: bigint }): Promise<Address[]> {
    const isChanged = (change: StoredChange): boolean =>
      change.block > above && change.block <= block;
    const found = [...this.tables.changes]
      .filter(([wallet, rows]) => wallet > (after ?? '') && rows.some(isChanged))
      .map(([wallet]) => wallet);
    return Promise.resolve(found.sort().slice(0, limit));
  }

  walletPage({ block, after, limit }: WalletPage): Promise<WalletBalance[]> {
    const balanceOf = (rows: readonly StoredChange[]): bigint =>
      rows.findLast((change) => change.block <= block)?.balance ?? 0n;
    const found = [...this.tables.changes]
      .filter(([wallet]) => wallet > (after ?? ''))
      .map(([wallet, rows]) => ({ wallet, balance: balanceOf(rows) }));
    return Promise.resolve(found.sort(byWallet).slice(0, limit));
  }

  sums(beforePage: (wallets: number) => void = () => undefined): Promise<IndexSums | undefined> {
    return attempt(() => {
      const { state, days, changes } = this.tables;
      if (state === undefined) return undefined;
      // The two large tables.
      for (let table = 0; table < 2; table++) beforePage(0);
      return {
        stored: state.total,
        closings: sumOf([...days.values()].map((rows) => rows.at(-1)?.closing ?? 0n)),
        balances: sumOf([...changes.values()].map((rows) => rows.at(-1)?.balance ?? 0n)),
        wallets: changes.size,
        head: state.head,
      };
    });
  }

  blocks(fromNumber: bigint): Promise<BlockRef[]> {
    const found = [...this.tables.blocks.values()].filter(({ number }) => number >= fromNumber);
    return Promise.resolve(found.sort((a, b) => (a.number < b.number ? -1 : 1)));
  }

  private get held(): IndexState {
    const { state } = this.tables;
    if (state === undefined) throw new IndexMissingError();
    return state;
  }

  /** @throws FencedError */
  private led(fence: bigint): IndexState {
    if (this.held.fence !== fence) throw new FencedError();
    return this.held;
  }

  private lock(fence: bigint, head: BlockRef): IndexState {
    const state = this.led(fence);
    if (state.head.number !== head.number || state.head.hash !== head.hash)
      throw new StaleHeadError(head);
    return state;
  }

  /** The tables with the new rows; nothing is changed where a row is refused. */
  private write({ wallets, changes, days }: FoldedBlocks, { head }: IndexState) {
    for (const { wallet, before } of wallets.values()) this.requireState(wallet, before);
    const nextChanges = new Map(this.tables.changes);
    for (const { wallet, blockNumber: block, timestampSeconds: seconds, balance } of changes) {
      const rows = nextChanges.get(wallet) ?? [];
      if (block <= head.number || block <= (rows.at(-1)?.block ?? -1n))
        throw refused('23000', `a balance change at block ${block} is not above the indexed block`);
      nextChanges.set(wallet, [...rows, { block, seconds, balance }]);
    }
    const nextDays = new Map(this.tables.days);
    for (const { wallet, hasRow, ...day } of days) {
      nextDays.set(wallet, hasRow ? replaced(nextDays, wallet, day) : added(nextDays, wallet, day));
    }
    return { changes: nextChanges, days: nextDays };
  }

  private requireState(wallet: Address, stated: WalletState | undefined): void {
    const stored = this.tables.days.get(wallet)?.at(-1);
    const day = stated && dayOf(stated.sinceSeconds);
    const isSame =
      stored?.day === day && stored?.low === stated?.low && stored?.closing === stated?.balance;
    if (isSame) return;
    throw new WrongStateError(
      wallet,
      stated?.balance.toString() ?? null,
      stored?.closing.toString() ?? null,
    );
  }

  private takeBack(state: IndexState, to: BlockRef): RollbackResult {
    const { tables } = this;
    const { number, timestampSeconds } = to;
    const toDay = dayOf(timestampSeconds);
    let [removed, wallets, total] = [0, 0, state.total];
    for (const [wallet, rows] of tables.changes) {
      const kept = rows.filter(({ block }) => block <= number);
      if (kept.length === rows.length) continue;
      removed += rows.length - kept.length;
      wallets++;
      total += (kept.at(-1)?.balance ?? 0n) - (rows.at(-1)?.balance ?? 0n);
      const older = (tables.days.get(wallet) ?? []).filter(({ day }) => day < toDay);
      const days = [...older, ...dayFrom(kept, toDay)];
      if (kept.length > 0) tables.changes.set(wallet, kept);
      else tables.changes.delete(wallet);
      if (days.length > 0) tables.days.set(wallet, days);
      else tables.days.delete(wallet);
    }
    for (const day of tables.totals.keys()) if (day > toDay) tables.totals.delete(day);
    if (tables.totals.has(toDay)) tables.totals.set(toDay, total);
    for (const block of tables.blocks.keys()) if (block > number) tables.blocks.delete(block);
    const verified = state.verifiedNumber;
    tables.setState({
      ...state,
      head: to,
      total,
      rollbacks: state.rollbacks + 1n,
      verifiedNumber: verified !== undefined && verified > number ? number : verified,
    });
    tables.renewGeneration();
    return { changes: removed, wallets, total };
  }
}

/** The row of a day, from all changes up to it; none where the day has no change. */
function dayFrom(changes: readonly StoredChange[], day: number): DayBalance[] {
  const from = day * SECONDS_PER_DAY;
  const held: bigint[] = [];
  let hasChange = false;
  const points = [{ seconds: -Infinity, balance: 0n }, ...changes];
  for (const [place, { seconds, balance }] of points.entries()) {
    const until = points[place + 1]?.seconds ?? Infinity;
    if (seconds >= from) hasChange = true;
    if (Math.max(seconds, from) < until) held.push(balance);
  }
  const closing = held.pop();
  if (!hasChange || closing === undefined) return [];
  const low = held.reduce<bigint | null>(
    (least, balance) => (least === null || balance < least ? balance : least),
    null,
  );
  return [{ day, low, closing }];
}

type Days = ReadonlyMap<Address, readonly DayBalance[]>;

function replaced(days: Days, wallet: Address, row: DayBalance): readonly DayBalance[] {
  return (days.get(wallet) ?? []).map((one) => (one.day === row.day ? row : one));
}

function added(days: Days, wallet: Address, row: DayBalance): readonly DayBalance[] {
  const before = days.get(wallet) ?? [];
  if (before.some(({ day }) => day === row.day))
    throw refused('23505', 'duplicate key value violates unique constraint "balance_day_1_pkey"');
  return [...before, row].sort((a, b) => a.day - b.day);
}

function byWallet(one: WalletBalance, other: WalletBalance): number {
  return one.wallet < other.wallet ? -1 : 1;
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, one) => sum + one, 0n);
}

function greatest(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one > other ? one : other;
}

function refused(sqlState: string, message: string): DatabaseRefusedError {
  return new DatabaseRefusedError(sqlState, new Error(message));
}

function attempt<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
