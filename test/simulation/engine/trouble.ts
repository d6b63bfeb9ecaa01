/** What goes wrong in a world, besides the calls that fail: deaths, reorganisations, lies, restores, forged rows. */
import { RestoreNotNotedError } from '#libs/db';
import { type Address, newRedemption } from '#libs/domain';
import { TO_FINALITY } from './chain.js';
import { type Fleet, RESTART_MS } from './fleet.js';
import { type LedgerTables, MemoryRedemptionStore, MemoryRestoreStore } from './ledger/index.js';
import { LIES } from './node.js';
import { termsOf } from './players.js';
import { VOUCHER_TTL_SECONDS } from './worker.js';
import { type WorldState } from './world-state.js';

const FORGED_POINTS = 40;
const FORGES_AFTER_MS = 1_500;
const BACKUP_STATES = ['created', 'deducting', 'deducted', 'authorised', 'reverting'] as const;

interface Backup {
  readonly tables: LedgerTables;
  readonly atMs: number;
}

export class Trouble {
  /** Makes the backup where it is time for it; after each step. */
  backUp: (() => void) | undefined;
  private backup: Backup | undefined;
  private restoredFrom: Backup | undefined;

  /** @param wentBack called when the ledger has gone back to a backup */
  constructor(
    private readonly world: WorldState,
    private readonly fleet: Fleet,
    private readonly wentBack: () => void,
  ) {}

  /** Whether the ledger will still go back. */
  get isRestoreAhead(): boolean {
    return this.backup !== undefined;
  }

  start(): void {
    const { plan, scheduler, choices, chain } = this.world;
    const add = (name: string, weight: () => number, run: () => void): void => {
      scheduler.actions.push({ name, weight: () => (this.world.isCalm ? 0 : weight()), run });
    };
    if (plan.kills) {
      add(
        'a worker is killed',
        () => (this.fleet.alive().length > 0 && this.fleet.calls.isCallUnderWay ? 1 : 0),
        () => {
          this.fleet.killOne();
        },
      );
    }
    if (plan.reorganises) {
      add(
        'the chain reorganises',
        () => (chain.latest.transactions.length > 0 ? 1 : 0),
        () => {
          const depth = choices.between('reorganisation', 1, TO_FINALITY);
          chain.reorganise(depth, () => choices.int('reorganisation', 3) < 2);
        },
      );
    }
    if (plan.lies) this.lieForAWhile();
    if (plan.restores) this.planRestore();
    if (plan.forges) setTimeout(() => void this.forge(), FORGES_AFTER_MS);
  }

  /** A row without the service's MAC, for a player who has the points. */
  private async forge(): Promise<void> {
    const [partner] = this.world.partners.values();
    if (partner === undefined) return;
    const wallet = `0x${'5e'.repeat(20)}` as Address;
    partner.books.points.set(wallet, FORGED_POINTS);
    const terms = termsOf(
      this.world,
      { wallet, points: FORGED_POINTS, quoteTtlMs: 120_000 },
      partner,
    );
    this.world.forged.add(terms.id);
    const limits = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 60 };
    const key = { key: terms.id, bodyHash: Buffer.alloc(32, 2) };
    const nowMs = this.world.scheduler.nowMs();
    const keyless = new MemoryRedemptionStore(this.world.ledger);
    this.world.scheduler.note('an intruder writes a redemption');
    await keyless.create(newRedemption(terms, nowMs), key, limits).catch((error: unknown) => {
      if (!(error instanceof RestoreNotNotedError)) throw error;
    });
  }

  /** One of two nodes lies, from time to time. */
  private lieForAWhile(): void {
    const { choices, nodes } = this.world;
    const [, liar] = nodes;
    if (liar === undefined) return;
    const turn = (): void => {
      if (this.world.isCalm) return;
      const at = choices.int('lie', LIES.length + 1);
      liar.lie = LIES[at - 1];
      this.world.scheduler.note(
        `node ${liar.name} ${liar.lie === undefined ? 'is honest' : `lies: ${liar.lie}`}`,
      );
      setTimeout(turn, choices.pick('lie', [30_000, 120_000, 600_000]));
    };
    turn();
  }

  /** The backup is made as soon as a redemption is in a state that the seed chooses. */
  private planRestore(): void {
    const { choices, ledger } = this.world;
    const state = choices.pick('backup', BACKUP_STATES);
    const restoreAtMs = choices.pick('backup', [1_000, 5_000, 90_000, 400_000, 1_200_000]);
    this.backUp = () => {
      if (![...ledger.redemptions()].some((one) => one.state === state)) return;
      this.world.scheduler.note('a backup is made');
      this.backup = { tables: ledger.snapshot(), atMs: this.world.scheduler.nowMs() };
      this.backUp = undefined;
      setTimeout(() => {
        this.restore();
      }, restoreAtMs);
    };
  }

  /** The ledger goes back, as restored.sql marks it, whatever runs. */
  private restore(): void {
    const { backup } = this;
    const { ledger, scheduler } = this.world;
    if (backup === undefined || this.world.isCalm) return;
    scheduler.note('the ledger goes back to the backup');
    ledger.tables = backup.tables;
    const nowMs = scheduler.nowMs();
    const noticed = 'restored from a backup';
    ledger.tables.unnoted.set(noticed, { atMs: nowMs, noticed, missingAtMs: undefined });
    this.restoredFrom = backup;
    this.backup = undefined;
    this.world.hasRestored = true;
    this.wentBack();
    setTimeout(
      () => {
        this.noteRestore();
      },
      this.world.choices.pick('note', [1_000, 30_000, 400_000]),
    );
  }

  /** As docs/operating/backup.md says: stop every service, note, start again. */
  noteRestore(): void {
    const { restoredFrom } = this;
    const { scheduler } = this.world;
    if (restoredFrom === undefined) return;
    this.fleet.killAll();
    scheduler.note('the restore is noted');
    this.restoredFrom = undefined;
    void new MemoryRestoreStore(this.world.ledger).record({
      nowMs: scheduler.nowMs(),
      voucherSeconds: VOUCHER_TTL_SECONDS + 600,
      // The backup has what happened up to its moment.
      lostSinceMs: restoredFrom.atMs + 1,
      ...{ actor: 'operator:simulation', command: 'ledger restored', arguments: {} },
    });
    setTimeout(() => {
      this.fleet.startAll();
    }, RESTART_MS);
  }
}
