import {
  type DayBlocks,
  type DayLows,
  type IndexSnapshotRef,
  type SealedDay,
  type SealedDayStore,
  SealOutdatedError,
  type SealOutcome,
  type SealRequest,
  type SealSummary,
  type SealWriter,
  type WalletDayBytes,
} from '#libs/db';
import { type Address, addressBytes, type DayBalance } from '#libs/domain';
import { type MemoryTables, type Public } from './memory-tables.js';

export class MemoryDayLows implements Public<DayLows> {
  constructor(private readonly tables: MemoryTables) {}

  /** Reads all wallets at once. */
  all(day: number): AsyncGenerator<WalletDayBytes> {
    const found = this.wallets().flatMap((wallet) => {
      const newest = this.tables.days.get(wallet)?.findLast((one) => one.day <= day);
      if (newest === undefined) return [];
      return [bytesOf(wallet, { ...newest, low: newest.day === day ? newest.low : null })];
    });
    return inTurn(found);
  }

  total(day: number): Promise<bigint> {
    const days = [...this.tables.totals.keys()].filter((one) => one <= day);
    return Promise.resolve(this.tables.totals.get(Math.max(...days)) ?? 0n);
  }

  changed({ day, above, upTo }: DayBlocks, take: (wallet: WalletDayBytes) => void): Promise<void> {
    for (const wallet of this.wallets()) {
      const changes = this.tables.changes.get(wallet) ?? [];
      if (!changes.some(({ block }) => block > above && block <= upTo)) continue;
      const row = this.tables.days.get(wallet)?.find((one) => one.day === day);
      if (row === undefined)
        return Promise.reject(new Error(`wallet ${wallet} has no row of day ${day}`));
      take(bytesOf(wallet, row));
    }
    return Promise.resolve();
  }

  private wallets(): Address[] {
    return [...this.tables.days.keys()].sort();
  }
}

/** Undefined: before the wallet's first change. */
function bytesOf(wallet: Address, { low, closing }: DayBalance): WalletDayBytes {
  const lowest = low === null || closing < low ? closing : low;
  return { wallet: Buffer.from(addressBytes(wallet)), low: lowest, closing };
}

// eslint-disable-next-line @typescript-eslint/require-await
async function* inTurn<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export class MemorySealWriter implements Public<SealWriter> {
  constructor(private readonly tables: MemoryTables) {}

  basis(fence: bigint): Promise<IndexSnapshotRef | undefined> {
    const { state, generation } = this.tables;
    return Promise.resolve(state?.fence === fence ? { fence, generation } : undefined);
  }

  seal({ basis, content }: SealRequest): Promise<SealOutcome> {
    const { tables } = this;
    const { day, block, ...columns } = content;
    const { state, generation } = tables;
    const isSettled = (number: bigint | undefined): boolean =>
      number !== undefined && number > block.number;
    const holds =
      state?.fence === basis.fence &&
      generation === basis.generation &&
      state.halted === undefined &&
      [state.finalised?.number, state.verifiedNumber, state.head.number].every(isSettled);
    if (!holds) return Promise.reject(new SealOutdatedError(day));
    const revisions = tables.sealed.get(day) ?? [];
    const before = revisions.at(-1);
    if (before?.root === content.root && before.blockHash === block.hash)
      return Promise.resolve({ kind: 'same', sealed: before });
    const sealed: SealedDay = {
      ...{ day, ...columns, revision: revisions.length + 1, previousRoot: before?.root },
      ...{ blockNumber: block.number, blockHash: block.hash, sealedAt: new Date() },
    };
    tables.sealed.set(day, [...revisions, sealed]);
    tables.version++;
    return Promise.resolve({ kind: before ? 'revised' : 'sealed', sealed });
  }

  /** Lists are not kept in memory. */
  forgetLists(): Promise<void> {
    return Promise.resolve();
  }

  recheck(day: number): Promise<void> {
    this.tables.noteRecheck(day);
    return Promise.resolve();
  }

  rechecked(from: number, next?: number): Promise<void> {
    const { tables } = this;
    if (tables.recheckFrom === from) tables.recheckFrom = next;
    return Promise.resolve();
  }
}

export class MemorySealedDayStore implements Public<SealedDayStore> {
  constructor(private readonly tables: MemoryTables) {}

  byDay(day: number): Promise<SealedDay | undefined> {
    return Promise.resolve(this.tables.sealed.get(day)?.at(-1));
  }

  revisions(day: number): Promise<SealedDay[]> {
    return Promise.resolve([...(this.tables.sealed.get(day) ?? [])]);
  }

  firstDoubtful(days: readonly number[]): Promise<number | undefined> {
    const { findings } = this.tables;
    const isDoubtful = findings === 'all' || findings.size > 0;
    return Promise.resolve(isDoubtful && days.length > 0 ? Math.min(...days) : undefined);
  }

  newest(): Promise<SealedDay | undefined> {
    return this.page({ limit: 1 }).then(([day]) => day);
  }

  page({ before = Infinity, limit }: { before?: number; limit: number }): Promise<SealedDay[]> {
    const days = this.days().filter((day) => day < before);
    const found = days.reverse().slice(0, limit);
    return Promise.resolve(found.flatMap((day) => this.tables.sealed.get(day)?.at(-1) ?? []));
  }

  summary(): Promise<SealSummary> {
    const days = this.days();
    const revised = [...this.tables.sealed.values()].flat().filter(({ revision }) => revision > 1);
    return Promise.resolve({
      days: days.length,
      first: days[0] ?? null,
      last: days.at(-1) ?? null,
      revisions: revised.length,
      revisedAt: revised.at(-1)?.sealedAt ?? null,
      recheckFrom: this.tables.recheckFrom ?? null,
    });
  }

  private days(): number[] {
    return [...this.tables.sealed.keys()].sort((one, other) => one - other);
  }
}
