/** The smaller stores of the ledger, on a MemoryLedger. */
import {
  type AttemptStore,
  type CoinRequest,
  type CoinStore,
  type KnownVault,
  type KnownVaults,
  type LedgerRestoreStore,
  type LedgerStanding,
  RestoreAheadError,
  type RestoreNote,
  type RestoreScope,
  type RestoreTimes,
  type SeenTransition,
} from '#libs/db';
import { type Address, isFinal } from '#libs/domain';
import { type MemoryLedger } from './memory-ledger.js';
import { refusal } from './row-guards.js';

const DAY_MS = 86_400_000;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 3_600_000;
const LONGEST_VOUCHER_SECONDS = 86_400 + 601;
const MOST_AHEAD_MS = 600_000;
const READS_KEPT = 10_000;

export class MemoryAttemptStore implements Pick<AttemptStore, keyof AttemptStore> {
  constructor(private readonly ledger: MemoryLedger) {}

  note(wallet: Address, nowMs: number): Promise<number> {
    const { waits } = this.ledger.tables;
    const known = waits.get(wallet);
    if (known !== undefined && known.untilMs > nowMs) return Promise.resolve(known.untilMs);
    const isForgotten = known === undefined || known.untilMs < nowMs - DAY_MS;
    const attempts = isForgotten ? 1 : known.attempts + 1;
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts - 1, 30), LONGEST_WAIT_MS);
    waits.set(wallet, { attempts, untilMs: nowMs + waitMs });
    return Promise.resolve(nowMs + waitMs);
  }

  waitsUntilMs(wallet: Address, nowMs: number): Promise<number | undefined> {
    const untilMs = this.ledger.tables.waits.get(wallet)?.untilMs ?? 0;
    return Promise.resolve(untilMs > nowMs ? untilMs : undefined);
  }

  forgetOld(nowMs: number): Promise<void> {
    const { waits, redemptions, transitions, keys, calls } = this.ledger.tables;
    for (const [wallet, { untilMs }] of waits) if (untilMs < nowMs - DAY_MS) waits.delete(wallet);
    for (const [id, { redemption: one }] of redemptions) {
      const isVain = one.state === 'failed' && one.pendingAtMs === null;
      if (!isVain || (one.failedAtMs ?? nowMs) >= nowMs - 2 * DAY_MS) continue;
      redemptions.delete(id);
      transitions.delete(id);
      for (const [key, { redemptionId }] of keys) if (redemptionId === id) keys.delete(key);
    }
    const kept = new Map<string, number>();
    const newestFirst = [...calls.values()].sort((a, b) => b.begunAtMs - a.begunAtMs);
    for (const { requestId, redemptionId, partner, begunAtMs } of newestFirst) {
      if (redemptionId !== null) continue;
      const place = (kept.get(partner) ?? 0) + 1;
      kept.set(partner, place);
      if (begunAtMs < nowMs - DAY_MS || place > READS_KEPT) calls.delete(requestId);
    }
    return Promise.resolve();
  }
}

export class MemoryCoinStore implements Pick<CoinStore, keyof CoinStore> {
  constructor(private readonly ledger: MemoryLedger) {}

  reserve({ chainId, account, wei, dailyWei, nowMs }: CoinRequest): Promise<boolean> {
    const key = coinKey(chainId, account, nowMs);
    const { coins } = this.ledger.tables;
    const sum = (coins.get(key) ?? 0n) + wei;
    if (sum <= dailyWei) coins.set(key, sum);
    return Promise.resolve(sum <= dailyWei);
  }

  spent(chainId: number, account: Address, nowMs: number): Promise<bigint> {
    return Promise.resolve(this.ledger.tables.coins.get(coinKey(chainId, account, nowMs)) ?? 0n);
  }
}

function coinKey(chainId: number, account: Address, nowMs: number): string {
  return `${chainId} ${account} ${new Date(nowMs).toISOString().slice(0, 10)}`;
}

export class MemoryKnownVaults implements Pick<KnownVaults, keyof KnownVaults> {
  constructor(private readonly ledger: MemoryLedger) {}

  add(chainId: number, { vault, startBlock }: KnownVault): Promise<void> {
    const { vaults } = this.ledger.tables;
    const key = `${chainId} ${vault}`;
    if (!vaults.has(key)) vaults.set(key, startBlock);
    return Promise.resolve();
  }

  of(chainId: number): Promise<KnownVault[]> {
    const { vaults, redemptions } = this.ledger.tables;
    const first = new Map<Address, bigint>();
    const add = (vault: Address, block: bigint): void => {
      const known = first.get(vault);
      if (known === undefined || block < known) first.set(vault, block);
    };
    for (const [key, block] of vaults) {
      const [chain, vault] = key.split(' ');
      if (Number(chain) === chainId) add(vault as Address, block);
    }
    for (const { place } of redemptions.values()) {
      if (place?.chainId === chainId) add(place.vault, place.fromBlock);
    }
    const all = [...first].sort(([a], [b]) => (a < b ? -1 : 1));
    return Promise.resolve(all.map(([vault, startBlock]) => ({ vault, startBlock })));
  }
}

export class MemoryRestoreStore implements Pick<LedgerRestoreStore, keyof LedgerRestoreStore> {
  constructor(private readonly ledger: MemoryLedger) {}

  // eslint-disable-next-line @typescript-eslint/require-await -- an error is a rejection, as of the other store
  async record(note: RestoreNote): Promise<RestoreScope> {
    const { lostSinceMs } = note;
    const scope = this.scopeOf(note);
    const { atMs, vouchersUntilSeconds } = scope;
    if (lostSinceMs > atMs) throw refusal('23514', 'ledger_restore_check');
    if (vouchersUntilSeconds > atMs / 1000 + LONGEST_VOUCHER_SECONDS) {
      throw refusal('23000', 'guard_new');
    }
    this.ledger.note({ atMs, lostSinceMs, vouchersUntilSeconds });
    return scope;
  }

  // eslint-disable-next-line @typescript-eslint/require-await
  async scope(note: RestoreTimes): Promise<RestoreScope> {
    return this.scopeOf(note);
  }

  list() {
    return Promise.resolve([...this.ledger.tables.restores].reverse());
  }

  standing(seen?: SeenTransition): Promise<LedgerStanding> {
    const { unnoted } = this.ledger.tables;
    const [first] = [...unnoted.values()].sort((a, b) => a.atMs - b.atMs);
    const missing = [...unnoted.values()].flatMap(({ missingAtMs }) => missingAtMs ?? []);
    return Promise.resolve({
      unnoted: first && {
        ...first,
        missingAtMs: missing.length === 0 ? undefined : Math.min(...missing),
      },
      lacksSeen: seen !== undefined && this.lacks(seen),
    });
  }

  mark(noticed: string, missingAtMs: number): Promise<void> {
    const { tables, nowMs } = this.ledger;
    if (!tables.unnoted.has(noticed)) {
      tables.unnoted.set(noticed, { atMs: nowMs, noticed, missingAtMs });
    }
    return Promise.resolve();
  }

  longestVoucherSeconds(): Promise<number> {
    let longest = 0;
    for (const { plan, authorisedAtMs } of this.ledger.redemptions()) {
      if (plan === null || authorisedAtMs === null) continue;
      longest = Math.max(longest, Math.floor(plan.deadlineSeconds - authorisedAtMs / 1000));
    }
    return Promise.resolve(longest);
  }

  private lacks({ redemptionId, version, event, requestId, atMs }: SeenTransition): boolean {
    const { transitions, restores } = this.ledger.tables;
    const isThere = (transitions.get(redemptionId) ?? []).some(
      (one) =>
        one.version === version &&
        one.event === event &&
        (requestId === null || one.requestId === requestId),
    );
    const isNoted = restores.some((note) => note.atMs > atMs && note.lostSinceMs <= atMs);
    return !isThere && !isNoted;
  }

  private scopeOf({ nowMs, voucherSeconds }: RestoreTimes): RestoreScope {
    const { ledger } = this;
    let atMs = Math.max(nowMs, ledger.nowMs);
    for (const { initialAtMs } of ledger.redemptions()) atMs = Math.max(atMs, initialAtMs + 1);
    if (atMs > ledger.nowMs + MOST_AHEAD_MS) throw new RestoreAheadError(atMs);
    const unplanned: Partial<Record<string, number>> = {};
    for (const { state, plan, initialAtMs } of ledger.redemptions()) {
      if (isFinal(state) || plan !== null || initialAtMs >= atMs) continue;
      unplanned[state] = (unplanned[state] ?? 0) + 1;
    }
    return { atMs, vouchersUntilSeconds: Math.ceil(atMs / 1000) + voucherSeconds, unplanned };
  }
}
