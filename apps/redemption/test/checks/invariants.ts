/** The invariants of docs/redemption.md, judged by partner's books, chain and database, not by what the service believes. */
import { isFinal } from '#libs/domain';
import { type RedemptionFacts } from './redemption-facts.js';

export interface Breach {
  readonly invariant: string;
  readonly redemptionId: string;
  readonly what: string;
}

/** @returns what is wrong; false or undefined where nothing is */
type Check = (facts: RedemptionFacts) => string | false | undefined;

function standing({ books }: RedemptionFacts) {
  return books.deductions.filter(({ reverted }) => !reverted);
}

/** Whether a final block proves that the vault will never pay the redemption. */
function isDeadForGood({ row, vault }: RedemptionFacts): boolean {
  if (row.deadlineSeconds === null) return vault.status !== 'claimed';
  if (vault.status === 'none') return vault.finalSeconds > row.deadlineSeconds;
  return vault.status === 'cancelled';
}

function wrongClaim({ row, vault }: RedemptionFacts): string | undefined {
  const [claim] = vault.claims;
  if (claim === undefined || vault.claims.length > 1) return `${vault.claims.length} final claims`;
  if (claim.recipient !== row.wallet) return `${claim.recipient} was paid, not ${row.wallet}`;
  if (claim.amount !== row.tokenAmount) {
    return `${claim.amount.toString()} was paid, not ${row.tokenAmount.toString()}`;
  }
  if (claim.transactionHash !== row.claimHash) return `claimed by ${String(row.claimHash)}`;
  return claim.blockSeconds * 1000 === row.claimedAtMs
    ? undefined
    : `claimedAt is ${String(row.claimedAtMs)}, the block is of second ${claim.blockSeconds}`;
}

function wrongDeduction(facts: RedemptionFacts): string | undefined {
  const [deduction] = standing(facts);
  if (deduction === undefined) return 'no deduction stands';
  const { partnerTransactionId } = facts.row;
  return deduction.transactionId === partnerTransactionId
    ? undefined
    : `${deduction.transactionId} stands, not ${String(partnerTransactionId)}`;
}

const CHECKS: Readonly<Record<string, Check>> = {
  'I1 points restored and tokens claimed': ({ books, vault }) =>
    books.deductions.some(({ reverted }) => reverted) && vault.claims.length > 0 && 'both',
  'I2 claimed: a final claim and a standing deduction': (facts) =>
    facts.row.state === 'claimed' && (wrongClaim(facts) ?? wrongDeduction(facts)),
  'I3 reverted: points restored and no token can move': (facts) => {
    if (facts.row.state !== 'reverted') return false;
    if (standing(facts).length > 0) return 'the deduction stands';
    if (facts.books.deductions.length === 0) return 'there was no deduction to revert';
    return !isDeadForGood(facts) && `tokens can move: the vault says ${facts.vault.status}`;
  },
  'I4 failed: no deduction stands, now or later': (facts) => {
    if (facts.row.state !== 'failed') return false;
    if (facts.row.deadlineSeconds !== null) return 'a payout was authorised';
    return standing(facts).length > 0 && 'a deduction stands';
  },
  'I5 tokens paid: a standing deduction': (facts) => {
    if (facts.vault.claims.length === 0) return false;
    const [deduction] = standing(facts);
    if (deduction === undefined) return 'no deduction stands';
    return deduction.points !== facts.row.points && `of ${deduction.points} points`;
  },
  'I6 at most one deduction': ({ books }) =>
    books.deductions.length > 1 && `${books.deductions.length} deductions`,
  'I7 every redemption ends': ({ row }) => !isFinal(row.state) && `it is ${row.state}`,
  'I8 one confirmation for claimed and reverted, none for failed': ({ row, confirmation }) => {
    const { payload, state, received } = confirmation;
    const owed = row.state === 'claimed' || row.state === 'reverted';
    if (!owed) {
      return (payload !== null || received.length > 0) && `none is owed, ${received.length} came`;
    }
    if (payload === null) return 'it was never recorded';
    if (received.some((body) => body !== payload)) return 'another payload arrived';
    if ((JSON.parse(payload) as { status: string }).status !== row.state)
      return 'it says otherwise';
    return (received.length === 0 || state !== 'delivered') && `it is ${String(state)}`;
  },
  'I9 claimedAt xor revertedAt': ({ row }) => {
    const times = [row.claimedAtMs, row.revertedAtMs, row.failedAtMs];
    const set = times.filter((time) => time !== null).length;
    const own = { claimed: row.claimedAtMs, reverted: row.revertedAtMs, failed: row.failedAtMs };
    if (!isFinal(row.state)) return set > 0 && 'a final time before the end';
    return (set !== 1 || own[row.state] === null) && `${set} final times`;
  },
  'I11 one plan': ({ row }) =>
    row.plans !== (row.deadlineSeconds === null ? 0 : 1) && `${row.plans} plans were committed`,
  'rule A: a row before each call': ({ callsWithoutRow }) =>
    callsWithoutRow.length > 0 && `no row for ${callsWithoutRow.join(', ')}`,
};

export function breachesOf(all: readonly RedemptionFacts[]): Breach[] {
  const breaches: Breach[] = [];
  const ids = new Map<string, string>();
  for (const facts of all) {
    for (const [invariant, check] of Object.entries(CHECKS)) {
      const what = check(facts);
      if (typeof what === 'string') breaches.push({ invariant, redemptionId: facts.id, what });
    }
    const { partner, partnerTransactionId } = facts.row;
    if (partnerTransactionId === null) continue;
    const key = `${partner}/${partnerTransactionId}`;
    const other = ids.get(key);
    ids.set(key, facts.id);
    if (other === undefined) continue;
    const invariant = 'I11 transaction ids are unique';
    breaches.push({ invariant, redemptionId: facts.id, what: `${key} is also that of ${other}` });
  }
  return breaches;
}

export function told({ invariant, redemptionId, what }: Breach): string {
  return `${invariant}: ${what} (${redemptionId})`;
}
