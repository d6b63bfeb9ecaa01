/**
 * The invariants of the redemption (I1 to I9, I11), judged by the records of partner and chain, not by what the machine
 * believes.
 */
import { type Redemption } from '../redemption.js';
import { type ModelRun } from './model-run.js';

/** @param run settled before, so that nothing is under way any more */
export function breachesOf(run: ModelRun): string[] {
  const { row, partner, chain, history, commands } = run;
  const { state } = row;
  const breaches = [...run.breaches];
  const require = (holds: boolean, name: string) => {
    if (!holds) breaches.push(`${name}, in ${state} (${row.reason ?? 'no reason'})`);
  };
  const confirmable = state === 'claimed' || state === 'reverted';
  const deliveries = commands.filter(({ kind }) => kind === 'confirm').length;
  const deadForGood = run.tokensAreSafe();

  require(!(partner.revertsMade > 0 && chain.paid), 'I1 points restored and tokens claimed');
  if (state === 'claimed') {
    require(chain.isPaidForGood(run.nowSeconds), 'I2 without a finalised claim');
    require(partner.standing, 'I2 without a standing deduction');
  }
  if (state === 'reverted') {
    require(!partner.standing, 'I3 points not restored');
    require(deadForGood, 'I3 tokens can move');
  }
  if (state === 'failed') require(!partner.standing, 'I4 a deduction stands');
  if (chain.paid) require(partner.standing, 'I5 tokens paid without a deduction');
  require(partner.deductionsMade <= 1, 'I6 deducted twice');
  require(run.hasEnded(), 'I7 neither final nor in attention');
  require(deliveries === (confirmable && run.plan.policy.confirms ? 1 : 0), 'I8 confirmations');
  require(!partner.bystanderRobbed, "somebody else's points were moved");
  for (const one of history) {
    require((one.claimedAtMs !== null) === (one.state === 'claimed'), 'I9 claimedAt');
    require((one.revertedAtMs !== null) === (one.state === 'reverted'), 'I9 revertedAt');
    require(sameTerms(one, history[0] ?? row), 'terms have changed');
  }
  for (const field of KEPT) {
    const values = history.map((one) => one[field]).filter((value) => value !== null);
    require(new Set(values).size <= 1, `I11 ${field} has changed`);
  }
  return [...new Set(breaches)];
}

const KEPT = ['plan', 'partnerTransactionId', 'pendingAtMs', 'deductedAtMs'] as const;

function sameTerms(one: Redemption, other: Redemption): boolean {
  return (
    one.id === other.id &&
    one.wallet === other.wallet &&
    one.points === other.points &&
    one.tokenAmount === other.tokenAmount &&
    one.usdAmount === other.usdAmount &&
    one.priceUsd === other.priceUsd
  );
}
