/**
 * The core of Lowmark in a simulated world: indexer processes that follow a chain through providers, over one database.
 * After each step the database must hold what the oracle computes from the chain, and each answer of the api must agree
 * with it.
 */
import {
  type AuditRun,
  type AuditRunStore,
  type DayBlocks,
  type DayLows,
  type IndexStore,
  type LeaderLock,
  type Price,
  type PriceStore,
  type SealedDayStore,
  type SealWriter,
  type SnapshotStore,
  type WalletDayBytes,
} from '#libs/db';
import { type Address, type BlockHash, SECONDS_PER_DAY } from '#libs/domain';
import { type VerificationSetting } from '#libs/chain';
import { type Logger } from '#libs/platform';
import {
  type Choices,
  DeviationError,
  type RunOutcome,
  type Scheduler,
  type SimulatedProcess,
  type Simulation,
  type World,
} from '../kernel/index.js';
import { type Lies, shortHash, SimulatedProvider } from './chain/provider.js';
import {
  ancestor,
  type Block,
  SimulatedChain,
  type StakeEvent,
} from '../../../libs/testing/src/fake-node/simulated-chain.js';
import { SimulatedApi, type StoredMoment } from './api.js';
import { deviationOf, startAuditing } from './auditing.js';
import { createIndexer, type Indexer } from './indexer.js';
import { LockServer, SimulatedLock } from './leader-locks.js';
import { newestPrice } from './memory/memory-price-store.js';
import { type MemoryTables, type Public } from './memory/memory-tables.js';
import { dayOf, type IndexRows, rowsAt, sealedRow } from './oracle.js';
import { isJump, startPricing } from './pricing.js';
import { type SealingParts, startSealing, WorldScratch } from './sealing.js';
import { type StoreCall, throughScheduler } from './seam-store.js';
import { MemoryDatabase } from './memory/memory-database.js';
import { memoryRows } from './memory/memory-rows.js';

const FIRST_DAY = 20_000;
export const START_MS = (FIRST_DAY + 9) * SECONDS_PER_DAY * 1000 + 43_200_000;
const FENCED = ['commit', 'rollback', 'halt', 'clearHalt'];
const MOST_CALM_STEPS = 2000;
const STEPS_OF_AUDIT = 200;
const HOUR_MS = 3_600_000;
/** While the index is behind, the world may act once in so many steps. */
const STEPS_WHILE_BEHIND = 6;
const CALM_BLOCK_MS = 120_000;
/** Those that are started again after a death included. */
const MOST_PROCESSES = 4;

/** Spread over the address space. */
const COMMON_WALLETS = ['1b', '5c', '8d', 'ce'].map(walletOf);
/** Those that may stake for the first time late, the last address included. */
const RARE_WALLETS = ['0a', '6e', 'ff'].map(walletOf);
const WALLETS = [...COMMON_WALLETS, ...RARE_WALLETS];

function walletOf(byte: string): Address {
  return `0x${byte.repeat(20)}` as Address;
}

interface Scene {
  readonly providers: number;
  readonly lies: Lies;
  readonly verification: VerificationSetting;
  readonly hasTotal: boolean;
}

/** Each scene promises that every row is right; which lies a mode finds is told in docs/decisions/0003. */
const SCENES: readonly Scene[] = [
  { providers: 1, lies: 'none', verification: 'auto', hasTotal: true },
  { providers: 2, lies: 'none', verification: 'auto', hasTotal: true },
  { providers: 1, lies: 'one log', verification: 'auto', hasTotal: true },
  { providers: 2, lies: 'one log', verification: 'auto', hasTotal: true },
  { providers: 2, lies: 'all', verification: 'two', hasTotal: true },
  { providers: 2, lies: 'all', verification: 'two', hasTotal: false },
  { providers: 1, lies: 'none', verification: 'wallets', hasTotal: false },
];

export const coreSimulation: Simulation = {
  name: 'core',
  options: { startMs: START_MS, slowPerMille: 15, slowestMs: 45_000 },
  run: async (world) => {
    const core = new CoreWorld(world);
    try {
      await core.run();
    } finally {
      core.close();
    }
  },
};

interface RunningIndexer {
  readonly process: SimulatedProcess;
  readonly indexer: Indexer;
  readonly threads: SimulatedProcess[];
}

class CoreWorld {
  private readonly scheduler: Scheduler;
  private readonly choices: Choices;
  private readonly scene: Scene;
  private readonly chain: SimulatedChain;
  private readonly providers: ReadonlyMap<string, SimulatedProvider>;
  private readonly database = new MemoryDatabase();
  private readonly tables: MemoryTables = this.database.tables;
  private readonly locks: LockServer;
  private readonly finality: string;
  private readonly databaseFaults: number;
  private processes: RunningIndexer[] = [];
  private readonly seals: boolean;
  private readonly readsPrices: boolean;
  private readonly auditSample: number | 'all' | undefined;
  private lastUsd: number | undefined;
  private readonly checkedDays = new Set<string>();
  private started = 0;
  /** How many more times the chain changes. */
  private changesLeft: number;
  private sessionsToEnd = 2;
  private readonly stored: StoredMoment[] = [];
  private wasHeld = false;
  private readonly api: SimulatedApi;
  private readonly end = new AbortController();
  private readonly scratch = new WorldScratch();
  private refusal: DeviationError | undefined;
  private checkedVersion = -1;
  /** Rows are not those of the chain any more. */
  private isChanged = false;
  private ended: Error | undefined;

  constructor({ scheduler, choices }: World) {
    this.scheduler = scheduler;
    this.choices = choices;
    this.locks = new LockServer(scheduler, choices);
    this.scene = choices.pick('scene', SCENES);
    const finalityBlocks = choices.between('finality', 2, 4);
    this.finality = choices.chance('finality by depth', 300)
      ? `depth:${finalityBlocks}`
      : 'finalized';
    this.chain = new SimulatedChain(FIRST_DAY * SECONDS_PER_DAY - 100, finalityBlocks);
    this.seals = choices.chance('seals days', 500);
    this.readsPrices = choices.chance('reads prices', 300);
    const audits = choices.pick('audits', ['none', 'none', 'all', 2] as const);
    this.auditSample = audits === 'none' ? undefined : audits;
    this.databaseFaults = choices.pick('database faults', [0, 20, 80]);
    this.changesLeft = choices.between('changes', 1, 8);
    this.mineHistory(choices.between('history', 1, 10));
    const faultsPerMille = choices.pick('provider faults', [0, 50, 200]);
    const { lies, hasTotal, providers } = this.scene;
    this.providers = new Map(
      ['a', 'b'].slice(0, providers).map((name, place) => {
        const traits = {
          name,
          hasTotal,
          faultsPerMille,
          lies: place === 0 ? lies : 'none',
        } as const;
        return [name, new SimulatedProvider(this.chain, scheduler, choices, traits)];
      }),
    );
    const store = this.through(this.database.snapshots) as SnapshotStore;
    this.api = new SimulatedApi(store, this.stored, scheduler, choices);
  }

  close(): void {
    // Node keeps signals that were combined of others until they abort.
    this.end.abort();
    this.scratch.close();
  }

  async run(): Promise<void> {
    const { scheduler, choices } = this;
    this.startIndexer();
    if (choices.chance('second indexer', 400)) this.startIndexer();
    this.addActions();
    const steps = choices.between('steps', 80, 260);
    await this.runUntil(() => this.changesLeft === 0 && this.isLevel(), steps);
    scheduler.note('all is calm');
    scheduler.isCalm = true;
    scheduler.actions.length = 0;
    await this.reach('level', () => this.isLevel());
    if (this.seals) {
      this.goOn();
      await this.reach('sealed', () => this.isLevel() && this.isSealed());
    }
    await this.askCalmly();
    if (this.auditSample !== undefined) await this.auditCalmly();
  }

  private runUntil(until: () => boolean, mostSteps: number): Promise<RunOutcome> {
    const afterStep = (): void => {
      this.check();
    };
    return this.scheduler.run({ until, mostSteps, afterStep });
  }

  /** All is well now, so that this must come about. */
  private async reach(what: string, until: () => boolean): Promise<void> {
    const outcome = await this.runUntil(until, MOST_CALM_STEPS);
    if (outcome === 'reached') return;
    const told = this.processes.map(
      ({ process, indexer: { status } }) =>
        `${process.name} ${status.phase}, block ${status.head?.number ?? 'none'}, ${status.trouble ?? 'no trouble'}`,
    );
    throw new DeviationError(`never ${what}`, `${outcome}; ${told.join('; ')}`);
  }

  /** The chain goes on without events. */
  private goOn(): void {
    const { scheduler, chain } = this;
    scheduler.setTimer(
      () => {
        this.tellBlock(chain.mine(Math.floor(scheduler.nowMs() / 1000), []));
      },
      CALM_BLOCK_MS,
      CALM_BLOCK_MS,
    );
  }

  /** Each wallet gets an answer for the days that are over. */
  private async askCalmly(): Promise<void> {
    const { api, chain } = this;
    const before = api.answered;
    const endDay = dayOf(chain.head.seconds);
    for (const wallet of WALLETS) api.request({ wallet, lastDays: 9, endDay });
    await this.reach('answered', () => api.answered === before + WALLETS.length);
  }

  private async auditCalmly(): Promise<void> {
    await this.goOnAfter(HOUR_MS);
    await this.reachByAudit('audited', () => {
      const last = this.tables.audits.findLast(({ result }) => result !== 'impossible');
      return last !== undefined && dayOf(last.startedAt.getTime() / 1000) === this.today;
    });
    if (this.choices.chance('another hand', 500)) await this.changeByAnotherHand();
  }

  /**
   * A row that was changed behind the indexer is mended, or it is found: by the audit or by the loop, which halts. Then
   * the api does not answer about its wallet.
   */
  private async changeByAnotherHand(): Promise<void> {
    const { api, choices, database, tables, scene, chain } = this;
    const final = BigInt(chain.final.number);
    const settled = [...tables.changes].filter(([, rows]) => (rows.at(-1)?.block ?? 0n) <= final);
    const wallets = settled.map(([wallet]) => wallet);
    // Where the contract tells no total, a sample may pass over the wallet.
    const isSeen = this.auditSample === 'all' || scene.hasTotal;
    if (wallets.length === 0 || !isSeen) return;
    const wallet = choices.pick('changed wallet', wallets.sort());
    this.scheduler.note(`another hand changes a row of ${wallet.slice(0, 4)}`);
    this.isChanged = true;
    database.change(wallet);
    await this.goOnAfter(SECONDS_PER_DAY * 1000);
    const isFound = (): boolean => {
      const { findings, state } = tables;
      return findings === 'all' || findings.has(wallet) || state?.halted !== undefined;
    };
    await this.reachByAudit('found', () => isFound() || this.hasRightChanges());
    if (!isFound()) return;
    const before = api.refused;
    api.request({ wallet, lastDays: 1, endDay: dayOf(chain.head.seconds) });
    await this.reach('refused', () => api.refused > before);
  }

  /** An audit that could not be made is tried again within the hour. */
  private async reachByAudit(what: string, until: () => boolean): Promise<void> {
    for (let hours = 0; hours < 3; hours++) {
      if ((await this.runUntil(until, STEPS_OF_AUDIT)) === 'reached') return;
      await this.goOnAfter(HOUR_MS);
    }
    await this.reach(what, until);
  }

  private hasRightChanges(): boolean {
    const head = this.chain.block(this.tables.state?.head.hash ?? '');
    if (head === undefined) return false;
    const { changes } = rowsAt(head);
    return [...memoryRows(this.tables).changes].every((row) => changes.has(row));
  }

  private async goOnAfter(ms: number): Promise<void> {
    const { scheduler, chain } = this;
    scheduler.leap(ms);
    this.tellBlock(chain.mine(Math.floor(scheduler.nowMs() / 1000), []));
    await this.reach('level', () => this.isChanged || this.isLevel());
  }

  private get today(): number {
    return dayOf(this.scheduler.nowMs() / 1000);
  }

  private mineHistory(blocks: number): void {
    const { chain, choices } = this;
    for (let left = blocks; left > 0; left--) {
      const seconds = this.nextSeconds(choices.int('history gap', 6));
      if (seconds * 1000 > START_MS) return;
      chain.mine(seconds, this.someEvents(), this.somePrice());
    }
  }

  /** Half a minute, the same second, or around midnight. */
  private nextSeconds(kind: number): number {
    const { seconds } = this.chain.head;
    const midnight = (Math.floor(seconds / SECONDS_PER_DAY) + 1) * SECONDS_PER_DAY;
    const times = [
      seconds + 30,
      midnight,
      seconds,
      midnight - 1,
      midnight + 1,
      seconds + SECONDS_PER_DAY / 2,
    ];
    return times[kind] ?? seconds;
  }

  private someEvents(): StakeEvent[] {
    const { choices, chain } = this;
    const balances = new Map(chain.head.balances);
    return Array.from({ length: choices.int('events', 5) }, () => {
      const isRare = choices.chance('rare wallet', 80);
      const wallet = choices.pick('wallet', isRare ? RARE_WALLETS : COMMON_WALLETS);
      const balance = balances.get(wallet) ?? 0n;
      const withdraws = balance > 0n && choices.chance('withdraws', 450);
      const amount = withdraws
        ? -(choices.chance('withdraws all', 400) ? balance : (balance + 1n) / 2n)
        : BigInt(choices.between('amount', 1, 30));
      balances.set(wallet, balance + amount);
      return { wallet, amount };
    });
  }

  /** Mostly none; otherwise a tenth more or less, or so much that an operator has to accept it. */
  private somePrice(): number | undefined {
    const { choices, chain } = this;
    if (!this.readsPrices || !choices.chance('new price', 300)) return undefined;
    const factor = choices.pick('price factor', [1.1, 0.9, 1.19, 0.81, 1.5, 0.6]);
    return Math.max(2, Math.round(chain.head.round.answer * factor));
  }

  private addActions(): void {
    const { scheduler, chain } = this;
    const canReorganise = (): boolean => chain.head.number > chain.final.number;
    scheduler.actions.push(
      {
        name: 'a new block',
        weight: () => (this.canMine() ? this.pace(4) : 0),
        run: () => {
          this.changesLeft--;
          this.mineNow();
        },
      },
      {
        name: 'a reorganisation',
        weight: () => (this.canMine() && canReorganise() ? this.pace(2) : 0),
        run: () => {
          this.changesLeft--;
          this.reorganise();
        },
      },
      {
        name: 'a request',
        weight: () => (this.tables.state === undefined ? 0 : this.pace(6)),
        run: () => {
          this.api.requestAny(WALLETS);
        },
      },
      {
        name: 'the leader dies',
        weight: () => (this.started < MOST_PROCESSES && this.locks.holder ? this.pace(1) : 0),
        run: () => {
          this.killLeader();
        },
      },
      {
        name: 'the session of the leader lock ends',
        weight: () => (this.locks.holder && this.sessionsToEnd > 0 ? this.pace(1) : 0),
        run: () => {
          this.sessionsToEnd--;
          this.locks.endSession();
        },
      },
    );
  }

  /** The world acts mostly while the index is level with the chain, so that there is an index to act on. */
  private pace(weight: number): number {
    if (this.isLevel()) return weight;
    return this.scheduler.steps % STEPS_WHILE_BEHIND === 0 ? 1 : 0;
  }

  /** The first blocks come when the index has begun. */
  private canMine(): boolean {
    return this.changesLeft > 0 && this.tables.state !== undefined;
  }

  private mineNow(): void {
    const { choices, chain } = this;
    const seconds = this.nextSeconds(choices.int('gap', 6));
    this.tellBlock(chain.mine(seconds, this.someEvents(), this.somePrice()));
  }

  private tellBlock(block: Block): void {
    const { scheduler } = this;
    const aheadMs = block.seconds * 1000 - scheduler.nowMs();
    if (aheadMs > 0) scheduler.leap(aheadMs);
    const events = block.events.map(({ wallet, amount }) => `${wallet.slice(0, 4)} ${amount}`);
    scheduler.note(
      `  block ${shortHash(block.hash)}, ${block.seconds} s: ${events.join(', ') || 'no events'}`,
    );
  }

  private reorganise(): void {
    const { choices, chain } = this;
    const depth = choices.between('depth', 1, chain.head.number - chain.final.number);
    chain.takeBack(depth);
    const longer = choices.int('longer', 2);
    for (let left = depth + longer; left > 0; left--) this.mineNow();
  }

  private killLeader(): void {
    const { scheduler, locks, choices } = this;
    const leader = this.processes.find(({ process }) => process === locks.holder?.process);
    if (!leader) return;
    for (const one of [leader.process, ...leader.threads]) scheduler.kill(one);
    this.processes = this.processes.filter((one) => one !== leader);
    scheduler.setTimer(
      () => {
        locks.holder = undefined;
      },
      choices.between('session', 1, 8000),
    );
    scheduler.setTimer(
      () => {
        this.startIndexer();
      },
      choices.between('restart', 1, 20_000),
    );
  }

  private startIndexer(): void {
    const { scheduler, scene, providers } = this;
    const name = `indexer${++this.started}`;
    const fences = new Set<unknown>();
    const requireOwn = (fence: unknown, method: string): void => {
      if (fences.has(fence)) return;
      this.refusal ??= new DeviationError('fence of another leader', `${name} ${method}`);
    };
    const index = throughScheduler(this.database.index, scheduler, {
      name: 'database',
      faultsPerMille: this.databaseFaults,
      onRefusal: ({ code, message }) => {
        this.refusal ??= new DeviationError(`refused: ${code}`, message);
      },
      onCall: (method, [asked], result) => {
        if (method === 'takeLead') fences.add(result);
        const fence = typeof asked === 'object' && asked && 'fence' in asked ? asked.fence : asked;
        if (FENCED.includes(method)) requireOwn(fence, method);
      },
    }) as IndexStore;
    const lock = new SimulatedLock(this.locks);
    const logger = loggerInto(scheduler);
    let indexer: Indexer | undefined;
    const threads: SimulatedProcess[] = [];
    const process = scheduler.start(name, () => {
      indexer = createIndexer(
        {
          urls: [...providers.keys()].map((provider) => `http://${provider}.test`),
          post: (url, request) => {
            const provider = providers.get(new URL(url).hostname.slice(0, 1));
            if (provider === undefined) throw new Error(`there is no provider at ${url}`);
            return provider.post(request);
          },
          finality: this.finality,
          verification: scene.verification,
          ...(!scene.hasTotal && { totalView: [] }),
        },
        {
          store: index,
          lock: lock as unknown as LeaderLock,
          logger,
        },
      );
      const { status, options, backgroundReader: reader } = indexer;
      if (this.readsPrices) startPricing(indexer.reader, this.priceStore(), status, logger);
      if (this.auditSample !== undefined) {
        const runs = this.auditRuns((fence) => {
          requireOwn(fence, 'record');
        });
        startAuditing({ index, runs, reader, status, logger, sample: this.auditSample });
      }
      if (this.seals) {
        const { scratch } = this;
        const parts = { ...this.sealStores(), index, reader, status, options, logger, scratch };
        startSealing(parts, scheduler, (thread) => threads.push(thread));
      }
      indexer.run(this.end.signal).catch((error: unknown) => {
        this.ended ??= error as Error;
      });
    });
    if (indexer) this.processes.push({ process, indexer, threads });
  }

  private through<T extends object>(store: T, onCall?: StoreCall): T {
    const { scheduler, databaseFaults: faultsPerMille } = this;
    const faults = { name: 'database', faultsPerMille, ...(onCall && { onCall }) };
    return throughScheduler(store, scheduler, faults);
  }

  private priceStore(): PriceStore {
    return this.through(this.database.prices, (method, values, result) => {
      if (method === 'record' && result === true) this.checkPrice(values[1] as Price);
    }) as PriceStore;
  }

  /** @param requireOwn gets the fence of each run that was recorded */
  private auditRuns(requireOwn: (fence: unknown) => void): AuditRunStore {
    const { chain, scene, auditSample: sample = 'all' } = this;
    return this.through(this.database.audits, (method, [fence, run]) => {
      if (method !== 'record' || this.isChanged) return;
      requireOwn(fence);
      const { hasTotal } = scene;
      this.refusal ??= deviationOf(run as AuditRun, { chain, hasTotal, sample });
    }) as AuditRunStore;
  }

  private checkPrice({ usd, observedAt }: Price): void {
    const { lastUsd, chain } = this;
    this.lastUsd = Number(usd);
    const cents = Math.round(Number(usd) * 100);
    if (!chain.hasRound(cents, observedAt.getTime() / 1000))
      this.refusal ??= new DeviationError('unknown price', `${usd} of ${observedAt.toISOString()}`);
    if (this.wasHeld || (lastUsd !== undefined && isJump(Number(usd), lastUsd)))
      this.refusal ??= new DeviationError(
        'price without an operator',
        `${usd} after ${lastUsd ?? 'none'}`,
      );
  }

  private sealStores(): Pick<SealingParts, 'days' | 'writer' | 'dayLows'> {
    const { days, writer, lows: stored } = this.database;
    const lows = this.through({
      // The read of all wallets is one call.
      all: (day: number) => collected(stored.all(day)),
      total: (day: number) => stored.total(day),
      changed: (blocks: DayBlocks, take: (wallet: WalletDayBytes) => void) =>
        stored.changed(blocks, take),
    });
    const dayLows: Public<DayLows> = {
      all: async function* (day) {
        yield* await lows.all(day);
      },
      total: (day) => lows.total(day),
      changed: (blocks, take) => lows.changed(blocks, take),
    };
    return {
      days: this.through(days) as SealedDayStore,
      writer: this.through(writer) as SealWriter,
      dayLows: dayLows as unknown as DayLows,
    };
  }

  /** Whether each day that is over, final and verified is sealed. */
  private isSealed(): boolean {
    const { tables, chain } = this;
    const { state, sealed, recheckFrom } = tables;
    const { finalised, verifiedNumber } = state ?? {};
    if (!this.seals || !finalised || verifiedNumber === undefined) return !this.seals;
    const settled = Number(finalised.number < verifiedNumber ? finalised.number : verifiedNumber);
    const first = ancestor(chain.head, 1);
    const last = ancestor(chain.head, settled);
    if (!first || !last) return false;
    const days = dayOf(last.seconds) - dayOf(first.seconds);
    return recheckFrom === undefined && sealed.size >= days;
  }

  private checkSealed(): void {
    for (const [day, revisions] of this.tables.sealed) {
      const newest = revisions.at(-1);
      if (newest === undefined || this.checkedDays.has(`${day} ${newest.revision}`)) continue;
      this.checkedDays.add(`${day} ${newest.revision}`);
      const { root, wallets, total, blockNumber, blockHash } = newest;
      const stored = [root, wallets, total, blockNumber, blockHash].join(' ');
      const expected = sealedRow(day, this.chain.final);
      if (stored !== expected)
        throw new DeviationError('sealed day', `${day}: ${stored}, but ${expected}`);
    }
  }

  private isLevel(): boolean {
    const { tables, chain } = this;
    const { state } = tables;
    return (
      state?.head.hash === chain.head.hash &&
      state.syncedAt !== undefined &&
      state.halted === undefined &&
      this.processes.some(({ indexer: { status } }) => status.phase === 'following')
    );
  }

  private check(): void {
    if (this.ended !== undefined) throw new DeviationError('an indexer ended', this.ended.message);
    const { tables, chain } = this;
    const { state, version } = tables;
    const failure = this.refusal ?? this.api.failure;
    if (failure) throw failure;
    if (state === undefined || version === this.checkedVersion) return;
    this.checkedVersion = version;
    const block = chain.block(state.head.hash);
    if (block === undefined) throw new DeviationError('unknown head', state.head.hash);
    this.stored.push({ head: block, price: tables.priceHold ? undefined : newestPrice(tables) });
    this.wasHeld = tables.priceHold !== undefined;
    if (this.isChanged) return;
    compare('balances', memoryRows(tables), rowsAt(block));
    const total = [...block.balances.values()].reduce((sum, one) => sum + one, 0n);
    if (state.total !== total)
      throw new DeviationError('total', `${state.total} stored, ${total} by the chain`);
    if (state.head.timestampSeconds !== block.seconds)
      throw new DeviationError(
        'time of the head',
        `${state.head.timestampSeconds}, not ${block.seconds}`,
      );
    this.checkRemembered(block);
    this.checkSealed();
  }

  /** The final block and all indexed blocks above it are remembered, and no others. */
  private checkRemembered(head: Block): void {
    const { tables } = this;
    const { finalised } = tables.state ?? {};
    if (finalised === undefined) return;
    const final = ancestor(head, Number(finalised.number));
    if (final?.hash !== finalised.hash)
      throw new DeviationError('final block', `${shortHash(finalised.hash)} is not below the head`);
    const expected: BlockHash[] = [];
    for (let one: Block | undefined = head; one && one.number >= final.number; one = one.parent)
      expected.unshift(one.hash as BlockHash);
    const stored = [...tables.blocks.values()].filter(({ number }) => number >= finalised.number);
    const known = new Set(stored.map(({ hash }) => hash));
    for (const { number, hash } of stored)
      if (number <= BigInt(head.number) && !expected.includes(hash))
        throw new DeviationError('remembered blocks', `${shortHash(hash)} is not below the head`);
    // The head itself is known from the state.
    const missing = expected.slice(1, -1).find((hash) => !known.has(hash));
    if (missing !== undefined)
      throw new DeviationError('remembered blocks', `${shortHash(missing)} is missing`);
  }
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function compare(what: string, stored: IndexRows, expected: IndexRows): void {
  for (const kind of ['changes', 'days', 'totals'] as const) {
    const [has, must] = [stored[kind], expected[kind]];
    const extra = [...has].filter((row) => !must.has(row));
    if (extra.length === 0 && has.size === must.size) continue;
    const missing = [...must].filter((row) => !has.has(row));
    throw new DeviationError(
      `wrong ${what}: ${kind}`,
      `stored but wrong: ${extra.join(' | ') || 'none'}; missing: ${missing.join(' | ') || 'none'}`,
    );
  }
}

/** Warnings and errors go to the trace. */
function loggerInto(scheduler: Scheduler): Logger {
  const say = (fields: object | string, message?: string): void => {
    const text = typeof fields === 'string' ? fields : (message ?? '');
    const error = typeof fields === 'object' && 'err' in fields ? fields.err : undefined;
    scheduler.note(`  logs: ${text}${error instanceof Error ? ` (${error.message})` : ''}`);
  };
  const drop = (): void => undefined;
  return { fatal: say, error: say, warn: say, info: drop, debug: drop, trace: drop };
}
