import {
  notBalance,
  notRefused,
  notSucceeded,
  readable,
  type Story,
  type Tester,
  transactionOf,
} from '../run/tester.js';
import { type Exchange } from '../wire/exchange.js';

/** Statuses of a server that does not have the endpoint. */
const ABSENT = [404, 405, 501];

/** Finds out whether the endpoint exists, before any other story uses it. */
export const confirmOffered: Story = {
  title: 'whether redemptions can be confirmed',
  checks: ['confirm-offered', 'confirm-unknown'],
  async play(tester) {
    const { address } = tester;
    const payload = revertedPayload({ id: tester.newId(), address, points: 1 });
    const exchange = await tester.confirm('an unknown redemption', payload);
    tester.hasConfirm = !isAbsent(exchange);
    if (!tester.hasConfirm) {
      const status = exchange.came.kind === 'answer' ? exchange.came.status : 0;
      tester.judge('confirm-offered', `The answer has status ${status}.`, [exchange]);
      // The audits do not judge how a server answers for a missing page.
      tester.caller.forget(exchange);
      return;
    }
    tester.verdicts.pass('confirm-offered');
    tester.judge('confirm-unknown', notRefused(exchange, ['ERR-REDEMPTION-NOT-FOUND']), [exchange]);
  },
};

function isAbsent({ came, reading }: Exchange): boolean {
  if (came.kind === 'none' || !ABSENT.includes(came.status)) return false;
  return reading.kind !== 'refusal' || reading.code === 'ERR-INTERNAL';
}

export const confirmReverted: Story = {
  title: 'the confirmation of a reverted redemption',
  checks: ['confirm-reverted', 'confirm-repeat'],
  async play(tester) {
    const id = await revertedRedemption(tester);
    const payload = revertedPayload({ id, address: tester.address, points: 1 });
    await confirmTwice(tester, 'reverted', payload);
  },
};

export const confirmContradiction: Story = {
  title: 'the claim of a reverted redemption',
  checks: ['confirm-contradiction'],
  async play(tester) {
    const id = await revertedRedemption(tester);
    const payload = claimedPayload({ id, address: tester.address, points: 1 });
    const exchange = await tester.confirm('confirm as claimed what was reverted', payload);
    tester.judge('confirm-contradiction', notRefused(exchange, []), [exchange]);
  },
};

/** @returns the id of a redemption whose point was deducted and given back */
async function revertedRedemption(tester: Tester): Promise<string> {
  await tester.points('before', 1);
  const id = tester.newId();
  const deducted = await tester.deduct({ purpose: 'deduct one point', points: 1, id });
  const transactionId = transactionOf(deducted);
  const reverted = await tester.revert({ purpose: 'revert it', points: 1, id, transactionId });
  readable(reverted.reading, 'success');
  return id;
}

export const confirmClaimed: Story = {
  title: 'the confirmation of a claimed redemption',
  checks: ['confirm-claimed', 'confirm-repeat', 'confirm-claimed-stands'],
  async play(tester) {
    await tester.points('before', 1);
    const id = tester.newId();
    const deducted = await tester.deduct({ purpose: 'deduct one point', points: 1, id });
    const transactionId = transactionOf(deducted);
    const payload = claimedPayload({ id, address: tester.address, points: 1 });
    // From here on the point may be spent, so no other process may give it back.
    await tester.tellSettled([id]);
    await confirmTwice(tester, 'claimed', payload);
    if (tester.verdicts.isFailed('confirm-claimed')) {
      const why = 'The claim could not be confirmed (confirm-claimed).';
      tester.verdicts.skip(['confirm-claimed-stands'], why);
      return;
    }
    await revertClaimed(tester, { id, transactionId });
  },
};

/** Reverts a claimed redemption, which the service never does: the player would have both points and tokens. */
async function revertClaimed(
  tester: Tester,
  { id, transactionId }: { readonly id: string; readonly transactionId: string | undefined },
): Promise<void> {
  const before = await tester.points('before the revert of a claim');
  const purpose = 'revert what was confirmed as claimed';
  const reverted = await tester.revert({ purpose, points: 1, id, transactionId });
  const after = await tester.points('after the revert of a claim');
  const problem = notBalance(before, after, 'a revert of a claim') ?? notRefused(reverted, []);
  tester.judge('confirm-claimed-stands', problem, [reverted]);
}

async function confirmTwice(
  tester: Tester,
  status: 'claimed' | 'reverted',
  payload: Readonly<Record<string, unknown>>,
): Promise<void> {
  const first = await tester.confirm(`confirm as ${status}`, payload);
  if (status === 'claimed' && first.reading.kind !== 'refusal') {
    tester.ledger.claimed(String(payload['svcRedemptionId']));
  }
  const problem = notSucceeded(first);
  tester.judge(`confirm-${status}`, problem, [first]);
  if (problem !== undefined) return;
  const again = await tester.confirm(`confirm as ${status} again`, payload);
  const { reading } = again;
  // The service counts a duplicate as delivered.
  const isDuplicate = reading.kind === 'refusal' && reading.code === 'ERR-DUPLICATE-REQUEST';
  tester.judge('confirm-repeat', isDuplicate ? undefined : notSucceeded(again), [first, again]);
}

/** The two payloads of POST /confirm-redemption, as the service sends them. */

interface Outcome {
  readonly id: string;
  readonly address: string;
  readonly points: number;
}

type Payload = Readonly<Record<string, unknown>>;

const PRICE = 0.15;
const USD_PER_POINT = 0.01;

const INITIAL_AT = '2026-01-15T10:00:00.000Z';
const PENDING_AT = '2026-01-15T10:00:01.000Z';
const FINAL_AT = '2026-01-15T10:08:00.000Z';

export function claimedPayload(outcome: Outcome): Payload {
  return {
    ...common(outcome),
    status: 'claimed',
    txnConfirmed: true,
    txnHash: `0x${'c0'.repeat(32)}`,
    claimedAt: FINAL_AT,
    revertedAt: null,
  };
}

/** A reverted redemption has no transaction on chain, so there is no hash. */
function revertedPayload(outcome: Outcome): Payload {
  return {
    ...common(outcome),
    status: 'reverted',
    txnConfirmed: false,
    claimedAt: null,
    revertedAt: FINAL_AT,
  };
}

function common({ id, address, points }: Outcome): Payload {
  const usdAmount = points * USD_PER_POINT;
  return {
    address,
    deductPoints: points,
    usdAmount,
    svcAmount: usdAmount / PRICE,
    priceSvcUsd: PRICE,
    svcRedemptionId: id,
    initialAt: INITIAL_AT,
    pendingAt: PENDING_AT,
  };
}
