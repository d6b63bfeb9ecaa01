import { type CheckRows } from './check.js';

const REVERT = 'POST /revert-deduct-points';
const CONFIRM = 'POST /confirm-redemption';
const CAPABILITY = 'Redemption: capabilities';

export const REVERT_CHECKS = {
  'revert-gives-back': {
    title: 'A revert gives back exactly what was taken',
    section: `${REVERT}, rule 4`,
    rule: 'On success the points are added back and the transaction is marked reverted.',
    remedy:
      'Add the points of the recorded deduction to the same user, in the transaction that marks it reverted.',
  },
  'revert-names-transaction': {
    title: 'A revert names the transaction it reverted',
    section: REVERT,
    rule: 'partnerTransactionId in the answer is the id of the original deduction.',
    remedy: 'Send the id of the deduction there, and the new one in partnerRevertId.',
  },
  'revert-wrong-amount': {
    title: 'A revert of another amount is ERR-INVALID-AMOUNT',
    section: `${REVERT}, rule 3`,
    rule: 'deductPoints must equal the original amount, otherwise ERR-INVALID-AMOUNT and nothing is given back.',
    remedy: 'Compare deductPoints with the recorded deduction.',
  },
  'revert-twice-once': {
    title: 'A second revert gives nothing back',
    section: `${REVERT}, rule 2`,
    rule: 'Points are never restored twice for the same svcRedemptionId.',
    remedy:
      'Mark the deduction reverted and add the points in one transaction, under a lock on the deduction.',
  },
  'revert-twice-refused': {
    title: 'A second revert is ERR-ALREADY-REVERTED',
    section: `${REVERT}, rule 2`,
    rule: 'If it was already reverted, ERR-ALREADY-REVERTED.',
    remedy: 'Answer with that code: the service takes it for a finished revert.',
  },
  'revert-at-once': {
    title: 'The same revert ten times at once gives back once',
    section: `${REVERT}, rule 2`,
    rule: 'Points are never restored twice for the same svcRedemptionId, also when calls overlap.',
    remedy:
      'UPDATE … SET status = reverted WHERE status = deducted, and add points only if a row changed.',
  },
  'revert-unknown': {
    title: 'A revert of an unknown deduction is ERR-TRANSACTION-NOT-FOUND',
    section: `${REVERT}, rule 1`,
    rule: 'The original transaction must exist, otherwise ERR-TRANSACTION-NOT-FOUND.',
    remedy: 'Answer with that code in the envelope.',
  },
  'revert-frees-no-id': {
    title: 'A reverted redemption id is not deducted again',
    section: 'POST /deduct-points-by-address, rule 1',
    rule: 'A repeated svcRedemptionId is not deducted again, also after its revert: a late copy of the call would take the points for good.',
    remedy: 'Keep the svcRedemptionId of reverted deductions, and answer ERR-DUPLICATE-REQUEST.',
  },
  'revert-right-deduction': {
    title: "A revert does not give back another redemption's points",
    section: `${REVERT}, rule 1`,
    rule: 'The deduction that is reverted is the one of the svcRedemptionId in the call.',
    remedy:
      'Look the deduction up by svcRedemptionId, then require that partnerTransactionId is its id.',
  },
  'refuses-mismatched-pair': {
    severity: 'warning',
    title: 'Two ids that do not belong together are refused',
    section: CAPABILITY,
    rule: "A revert with one redemption's svcRedemptionId and another's partnerTransactionId should be ERR-TRANSACTION-NOT-FOUND. Without that, an id from a doubtful answer cannot be tried.",
    remedy: 'Require that both ids, where both are given, name one deduction.',
    capability: 'refuses-mismatched-pair',
  },
  'revert-by-redemption-id': {
    severity: 'warning',
    title: 'A revert works with the redemption id alone',
    section: CAPABILITY,
    rule: 'When the answer to a deduction is lost, the service knows only svcRedemptionId. Without this, each such case has to be settled by hand on both sides.',
    remedy:
      'Make partnerTransactionId optional: svcRedemptionId is unique and names the deduction.',
    capability: 'revert-by-redemption-id',
  },
  tombstones: {
    severity: 'warning',
    title: 'A deduction that comes after its revert is refused',
    section: CAPABILITY,
    rule: 'A revert may overtake its deduction. If the unknown id is remembered, ERR-TRANSACTION-NOT-FOUND stays true and a late deduction takes nothing.',
    remedy:
      'Let a revert that finds nothing store the svcRedemptionId, so that a deduction finds it and gets ERR-DUPLICATE-REQUEST.',
    capability: 'tombstones',
  },
  'deduct-and-revert-at-once': {
    title: 'A deduction and its revert at once leave the books right',
    section: `${REVERT}, rules 1 and 4`,
    rule: 'Whatever order they take effect in, the balance is what the two answers say.',
    remedy: 'Let both lock the same row (by svcRedemptionId) before they look.',
  },
  'confirm-offered': {
    severity: 'warning',
    title: 'POST /confirm-redemption is there',
    section: CONFIRM,
    rule: 'The endpoint is optional. Without it you do not hear how a redemption ended; and the service must know, or it will retry for days.',
    remedy: 'Offer it, or tell the service that you do not (and this tester: --no-confirm).',
  },
  'confirm-unknown': {
    severity: 'warning',
    title: 'The confirmation of an unknown redemption is ERR-REDEMPTION-NOT-FOUND',
    section: 'Partner endpoints: errors',
    rule: 'Redemption unknown (confirmation): ERR-REDEMPTION-NOT-FOUND.',
    remedy: 'Look the deduction up. A confirmation that you know nothing of is worth an alarm.',
  },
  'confirm-claimed': {
    title: 'A claimed redemption is confirmed',
    section: CONFIRM,
    rule: 'status claimed: txnConfirmed true, txnHash and claimedAt set, revertedAt null. Success is {success: true}.',
    remedy: 'Accept the payload that is shown here.',
  },
  'confirm-claimed-stands': {
    title: 'Points of a redemption that was confirmed as claimed stay taken',
    section: CONFIRM,
    rule: 'claimed: the player has the tokens, so the points do not go back. The service asks for none of them; a call that does contradicts your books.',
    remedy:
      'Refuse a revert of what was confirmed as claimed (ERR-INTERNAL), give nothing back, and call us.',
  },
  'confirm-reverted': {
    title: 'A reverted redemption is confirmed',
    section: CONFIRM,
    rule: 'status reverted: revertedAt set, claimedAt null, txnConfirmed false, txnHash left out. Success is {success: true}.',
    remedy: 'Accept the payload that is shown here: txnHash is missing and claimedAt is null.',
  },
  'confirm-contradiction': {
    severity: 'warning',
    title: 'A confirmation that contradicts your books is refused',
    section: CONFIRM,
    rule: 'claimed, of a redemption that you have reverted: the books of one side are wrong. What you accept counts as delivered, and no alert is raised.',
    remedy:
      'Compare status with the recorded deduction; refuse what contradicts it (ERR-INTERNAL), and call us.',
  },
  'confirm-repeat': {
    title: 'The same confirmation again is no failure',
    section: 'Redemption: rule H',
    rule: 'A confirmation is sent until it succeeds; the same one again succeeds and changes nothing.',
    remedy: 'Store it once by svcRedemptionId, and answer {success: true} to the same again.',
  },
} as const satisfies CheckRows;
