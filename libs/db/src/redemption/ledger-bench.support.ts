/** Redemptions in each state and claims on chain, in a database without any others. */
import { reconcile, type Redemption, type RedemptionEvent } from '#libs/domain';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type CallEnd,
  type Checkpoint,
  type Database,
  ReconciliationStore,
  RedemptionStore,
  type TransitionWrite,
  type VaultClaim,
} from '../index.js';
import {
  aBlock,
  aKey,
  aNewRedemption,
  aUuid,
  claimOf,
  decided,
  expiryOf,
  PLACE,
  planOf,
  someLimits,
  START_MS,
} from './testing/builders.js';

export const CHAIN = PLACE.chainId;
export const TOKENS = 340n * 10n ** 18n;
/** The block of the claims that the builders make. */
export const CLAIM_BLOCK = aBlock(START_MS / 1000 + 1200);
export const FINAL = aBlock(START_MS / 1000 + 10_000);

export class LedgerBench {
  readonly store: ReconciliationStore;
  readonly redemptions: RedemptionStore;

  constructor(
    readonly test: TestDatabase,
    readonly database: Database,
  ) {
    this.store = new ReconciliationStore(database);
    this.redemptions = new RedemptionStore(database);
  }

  static async start(options: { poolSize?: number } = {}): Promise<LedgerBench> {
    const test = await createTestDatabase();
    return new LedgerBench(test, await test.open({ poolSize: 4, ...options }));
  }

  /** A store on its own connections, like that of another process. */
  async another(options: { poolSize?: number } = {}): Promise<ReconciliationStore> {
    return new ReconciliationStore(await this.test.open(options));
  }

  /** Removes all redemptions and what belongs to them. */
  empty(): Promise<void> {
    return this.test.empty();
  }

  stop(): Promise<void> {
    return this.test.drop();
  }

  async after(
    redemption: Redemption,
    event: RedemptionEvent,
    change: Partial<TransitionWrite> = {},
  ): Promise<Redemption> {
    const write = decided(redemption, event, change);
    await this.redemptions.apply(write);
    return write.decision.next;
  }

  cancelled(redemption: Redemption): Promise<Redemption> {
    return this.after(redemption, { type: 'cancel', by: 'user' });
  }

  async called(redemption: Redemption): Promise<{ calling: Redemption; callEnd: CallEnd }> {
    const neverPaid = expiryOf(redemption);
    const calling = await this.after(redemption, {
      type: 'call-due',
      requestId: aUuid(),
      neverPaid,
    });
    return { calling, callEnd: endOf(calling) };
  }

  async created(change: Partial<Redemption> = {}): Promise<Redemption> {
    const redemption = aNewRedemption(change);
    await this.redemptions.create(redemption, aKey(), someLimits());
    return redemption;
  }

  async deducted(change: Partial<Redemption> = {}): Promise<Redemption> {
    return this.confirmed((await this.called(await this.created(change))).calling);
  }

  /** The partner confirms the deduction that is under way. */
  confirmed(calling: Redemption): Promise<Redemption> {
    const callEnd = endOf(calling);
    const { requestId } = callEnd;
    const partnerTransactionId = aUuid();
    return this.after(
      calling,
      { type: 'deduct-confirmed', requestId, partnerTransactionId },
      { callEnd },
    );
  }

  async authorised(change: Partial<Redemption> = {}): Promise<Redemption> {
    return this.planned(await this.deducted(change));
  }

  planned(redemption: Redemption): Promise<Redemption> {
    return this.after(redemption, { type: 'plan-committed', plan: planOf(redemption) });
  }

  paid(redemption: Redemption): Promise<Redemption> {
    const evidence = claimOf(redemption);
    return this.after(redemption, { type: 'payout-paid', redemptionId: redemption.id, evidence });
  }

  async claimed(change: Partial<Redemption> = {}): Promise<Redemption> {
    return this.paid(await this.authorised(change));
  }

  /** The voucher has expired. */
  expired(paying: Redemption): Promise<Redemption> {
    const evidence = expiryOf(paying);
    return this.after(paying, { type: 'payout-dead', redemptionId: paying.id, evidence });
  }

  /** The partner gives the points back. */
  async givenBack(dead: Redemption): Promise<Redemption> {
    const { calling, callEnd } = await this.called(dead);
    const { requestId } = callEnd;
    return this.after(calling, { type: 'revert-already', requestId }, { callEnd });
  }

  async reverted(change: Partial<Redemption> = {}): Promise<Redemption> {
    return this.givenBack(await this.expired(await this.authorised(change)));
  }

  async begun(): Promise<Checkpoint> {
    await this.store.begin(PLACE, 12n);
    const [checkpoint] = await this.store.checkpoints(CHAIN);
    if (!checkpoint) throw new Error('no checkpoint');
    return checkpoint;
  }

  /** Adds these claims as everything on chain up to FINAL. */
  async read(...claims: VaultClaim[]): Promise<Checkpoint> {
    const checkpoint = await this.store.advance(await this.begun(), FINAL, claims, START_MS);
    await this.store.settle(PLACE);
    return checkpoint;
  }

  async differences(overdueBeforeMs = 0): Promise<Record<string, readonly string[]>> {
    const { figures } = await this.store.books(CHAIN, overdueBeforeMs);
    const found = reconcile(figures, await this.store.lastRun());
    return Object.fromEntries(found.map(({ kind, examples }) => [kind, examples]));
  }
}

function endOf({ openCall }: Redemption): CallEnd {
  const requestId = openCall?.requestId ?? aUuid();
  return { requestId, outcome: 'answer', record: { status: 200 } };
}

/** The claim of a redemption, as the chain has it. */
export function onChain({ id, wallet, tokenAmount }: Redemption, change: Partial<VaultClaim> = {}) {
  return {
    vaultId: `0x${id.replaceAll('-', '').padEnd(64, '0')}`,
    redemptionId: id,
    transactionHash: `0x${'c'.repeat(64)}`,
    block: CLAIM_BLOCK,
    recipient: wallet,
    amount: tokenAmount,
    ...change,
  };
}
