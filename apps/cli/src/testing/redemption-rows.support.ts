/** Redemptions in every state, made by the domain's own transitions. Counts as a test file without being one. */
import { randomBytes, randomUUID } from 'node:crypto';
import { type Database, RedemptionStore } from '#libs/db';
import {
  type Address,
  type BlockHash,
  type BlockRef,
  type DeadEvidence,
  mintUuidV7,
  newRedemption,
  type PaidEvidence,
  type PartnerId,
  type PartnerPolicy,
  type PayoutPlace,
  type PayoutTerms,
  type Redemption,
  type RedemptionEvent,
  type RedemptionState,
  transition,
  type UuidV7,
} from '#libs/domain';

const DAY_MS = 86_400_000;
/** Old enough that no call of this time can still arrive. */
export const START_MS = Math.floor(Date.now() / 1000) * 1000 - 10 * DAY_MS;
export const POLICY: PartnerPolicy = { capabilities: [], confirms: true };
export const PLACE: PayoutPlace = {
  vault: `0x${'7a'.repeat(20)}` as Address,
  chainId: 31_337,
  fromBlock: 1n,
};

type Step = (before: Redemption) => RedemptionEvent & { readonly afterMs?: number };

function anId(): UuidV7 {
  return mintUuidV7(START_MS, randomBytes(10));
}

function block(timestampSeconds: number): BlockRef {
  const number = BigInt(timestampSeconds);
  return { number, hash: `0x${'b'.repeat(64)}` as BlockHash, timestampSeconds };
}

export function planOf({ wallet, tokenAmount }: Redemption): PayoutTerms {
  return { recipient: wallet, amount: tokenAmount, deadlineSeconds: START_MS / 1000 + 1800 };
}

function claim(redemption: Redemption): PaidEvidence {
  const { recipient, amount, deadlineSeconds } = planOf(redemption);
  const [mined, finalised] = [block(deadlineSeconds - 600), block(deadlineSeconds)];
  const transactionHash = `0x${'c'.repeat(64)}`;
  return { outcome: 'paid', finalised, transactionHash, block: mined, recipient, amount };
}

function expiry(redemption: Redemption): DeadEvidence {
  const finalised = block(planOf(redemption).deadlineSeconds + 1);
  return { outcome: 'dead', reason: 'expired', finalised };
}

function requestId({ openCall }: Redemption): UuidV7 {
  if (openCall === null) throw new Error('no call is open');
  return openCall.requestId;
}

const callDue: Step = (before) => ({
  type: 'call-due',
  requestId: anId(),
  ...(before.state === 'reverting' && { neverPaid: expiry(before) }),
});
const cancel: Step = () => ({ type: 'cancel', by: 'user' });
const deduct: Step = (before) => ({
  type: 'deduct-confirmed',
  requestId: requestId(before),
  partnerTransactionId: `tx-${before.id}`,
});
const plan: Step = (before) => ({ type: 'plan-committed', plan: planOf(before) });
const dead: Step = (before) => ({
  type: 'payout-dead',
  redemptionId: before.id,
  evidence: expiry(before),
});
const paid: Step = (before) => ({
  type: 'payout-paid',
  redemptionId: before.id,
  evidence: claim(before),
});
const duplicate: Step = (before) => ({ type: 'deduct-duplicate', requestId: requestId(before) });
const reused: Step = (before) => ({ type: 'deduct-id-reused', requestId: requestId(before) });
const disputed: Step = (before) => ({
  type: 'revert-amount-disputed',
  requestId: requestId(before),
});
const given: Step = (before) => ({
  type: 'revert-confirmed',
  requestId: requestId(before),
  partnerTransactionId: `tx-${before.id}`,
  partnerRevertId: `rev-${before.id}`,
});
const settledByHand: Step = () => ({ type: 'operator-settled' });
const unanswered: Step = (before) => ({
  type: 'deduct-unknown',
  requestId: requestId(before),
  reason: 'timeout',
});
const notFound: Step = (before) => ({
  type: 'revert-not-found',
  requestId: requestId(before),
  signed: true,
});
const stuck: Step = () => ({ type: 'payout-live', recheckMs: 1000, afterMs: 3 * DAY_MS });

const DEDUCTED = [callDue, deduct];
const AUTHORISED = [...DEDUCTED, plan];
const REVERTING = [...DEDUCTED, cancel];
const DEAD = [...AUTHORISED, dead];

/** The transitions that lead to every state, and to each case of states that operators treat in several ways. */
export const PATHS = {
  created: [],
  deducting: [callDue],
  'deducting, between two calls': [callDue, unanswered],
  deducted: DEDUCTED,
  authorised: AUTHORISED,
  'authorised, cancelling': [...AUTHORISED, cancel],
  reverting: REVERTING,
  'reverting, not found': [...REVERTING, callDue, notFound],
  'reverting, unknown': [callDue, duplicate],
  'reverting, after a voucher': DEAD,
  claimed: [...AUTHORISED, paid],
  reverted: [...REVERTING, callDue, given],
  failed: [cancel],
  'attention: deduction-unresolved': [callDue, duplicate, callDue],
  'attention: transaction-id-reused': [callDue, reused],
  'attention: amount-disputed': [...REVERTING, callDue, disputed],
  'attention: payout-unresolved': [...AUTHORISED, stuck],
  'attention: paid-after-dead': [...DEAD, paid],
  'attention: settled-by-hand': [...DEAD, paid, settledByHand],
  'attention: claimed-without-plan': [...REVERTING, paid],
} as const satisfies Record<string, readonly Step[]>;
export type Case = keyof typeof PATHS;

export const CASES = Object.keys(PATHS) as Case[];

export function stateOf(name: Case): RedemptionState {
  return (/^\w+/.exec(name)?.[0] ?? '') as RedemptionState;
}

/** Stores a redemption of a new wallet. */
export async function aStored(
  database: Database,
  partner: PartnerId,
  name: Case,
  change: Partial<Redemption> = {},
): Promise<Redemption> {
  const store = new RedemptionStore(database);
  const terms = {
    id: anId(),
    partner,
    wallet: `0x${randomBytes(20).toString('hex')}` as Address,
    points: 5000n,
    usdAmount: { digits: 5000n, scale: 2 },
    tokenAmount: 340n * 10n ** 18n,
    tokenDecimals: 18,
    priceUsd: { digits: 15n, scale: 2 },
    quoteExpiresAtMs: START_MS + 60_000,
  };
  let redemption: Redemption = { ...newRedemption(terms, START_MS), ...change };
  const key = { key: randomUUID(), bodyHash: randomBytes(32) };
  const limits = { paused: false, maxOpen: 1, priceMaxAgeSeconds: 7200 };
  await store.create(redemption, key, limits);
  for (const step of PATHS[name]) {
    const { afterMs = 0, ...event } = step(redemption);
    redemption = await moved(store, redemption, event, afterMs);
  }
  return redemption;
}

async function moved(
  store: RedemptionStore,
  before: Redemption,
  event: RedemptionEvent,
  afterMs: number,
): Promise<Redemption> {
  const nowMs = START_MS + before.version * 1000 + afterMs;
  const decision = transition(before, event, { nowMs, jitter: 0, policy: POLICY });
  if (decision.kind === 'refused') throw new Error(`${event.type}: ${decision.message}`);
  const place = event.type === 'plan-committed' ? { place: PLACE } : {};
  await store.apply({ before, decision, event: event.type, actor: 'worker', ...place });
  return decision.next;
}
