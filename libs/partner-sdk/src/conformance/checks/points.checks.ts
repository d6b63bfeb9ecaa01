import { type CheckRows } from './check.js';

const BALANCE = 'GET /get-points-by-address';
const DEDUCT = 'POST /deduct-points-by-address';

export const POINTS_CHECKS = {
  'balance-read': {
    title: 'The balance of a player can be read',
    section: 'GET /get-points-by-address',
    rule: 'A rightly signed read of a registered player is answered with the balance. ERR-INTERNAL says that you could not, and no player can redeem.',
    remedy:
      'Compare the path of the base URL with the one that your endpoints are mounted at. Then look for the X-API-REQUEST shown here in the log of your server: an error of the handler, or of the database.',
  },
  'balance-address': {
    title: 'A balance repeats the address that was asked for',
    section: 'Points balance record',
    rule: 'address in the answer is the wallet of the call (capitals do not matter); otherwise the answer is rejected.',
    remedy:
      'Send the address back, not the one that is stored with a prefix or another wallet of the user.',
  },
  'balance-any-case': {
    title: 'The address is read in any case',
    section: BALANCE,
    rule: 'The wallet address is case-insensitive.',
    remedy: 'Turn the address into lower case before you look it up, and store it so.',
  },
  'balance-zero': {
    title: 'A user without points has a balance of 0',
    section: 'Points balance record',
    rule: 'Zero is a valid balance: success with points 0, not a failure.',
    remedy: 'Tell "no user" from "no points"; look for a test such as `if (points)`.',
  },
  'balance-unknown-user': {
    title: 'The balance of an unknown wallet is ERR-USER-NOT-FOUND',
    section: 'Partner endpoints: errors',
    rule: 'No user for the wallet address: ERR-USER-NOT-FOUND in the envelope.',
    remedy: 'Answer with the envelope instead of a balance of 0 or an error page.',
  },
  'balance-bad-address': {
    title: 'What is no address has no balance',
    section: BALANCE,
    rule: 'address is a wallet address; an unknown address or a failure yields the error envelope.',
    remedy: 'Accept 0x and 40 hex digits only.',
  },
  'deduct-takes': {
    title: 'A deduction takes exactly its points',
    section: DEDUCT,
    rule: 'A success means that deductPoints were taken from the balance.',
    remedy: 'Take the points in the transaction that records the deduction, before you answer.',
  },
  'deduct-any-case': {
    title: 'A deduction reads the address in any case',
    section: DEDUCT,
    rule: 'The wallet address is case-insensitive.',
    remedy: 'Turn the address into lower case before you look it up.',
  },
  'deduct-unknown-user': {
    title: 'A deduction from an unknown wallet is ERR-USER-NOT-FOUND',
    section: `${DEDUCT}, rule 3`,
    rule: 'If the wallet has no user, ERR-USER-NOT-FOUND.',
    remedy: 'Look the user up first, and answer with the envelope.',
  },
  'deduct-bad-points': {
    title: 'Only whole positive points are deducted',
    section: DEDUCT,
    rule: 'deductPoints is a positive integer. A negative one must never add points.',
    remedy: 'Refuse 0, negative and fractional amounts (ERR-INTERNAL) before anything is recorded.',
  },
  'deduct-new-id': {
    title: 'A new redemption id is a new deduction',
    section: `${DEDUCT}, rule 1`,
    rule: 'Idempotent on svcRedemptionId, and on nothing else: a player may redeem again, also the same number of points. ERR-DUPLICATE-REQUEST for a new id tells the service that its points were taken before.',
    remedy:
      'Look for an earlier deduction by svcRedemptionId, not by the wallet, the user, the points or the day.',
  },
  'deduct-repeat-once': {
    title: 'A repeated redemption id takes no points again',
    section: `${DEDUCT}, rule 1`,
    rule: 'Idempotent on svcRedemptionId: a repeated id is not deducted again.',
    remedy:
      'Make svcRedemptionId unique in your table of deductions, and record it with the points in one transaction.',
  },
  'deduct-repeat-refused': {
    title: 'A repeated redemption id gets ERR-DUPLICATE-REQUEST',
    section: `${DEDUCT}, rule 1`,
    rule: 'A repeated svcRedemptionId gets ERR-DUPLICATE-REQUEST.',
    remedy:
      'Answer a known svcRedemptionId with ERR-DUPLICATE-REQUEST (and, best, the partnerTransactionId of the first).',
  },
  'deduct-repeat-names-transaction': {
    severity: 'info',
    title: 'A duplicate names the deduction that stands',
    section: 'Redemption: rule E',
    rule: 'Additive: ERR-DUPLICATE-REQUEST may carry the partnerTransactionId of the standing deduction. Then a lost answer is settled by one retry.',
    remedy: 'Add partnerTransactionId to ERR-DUPLICATE-REQUEST, only while that deduction stands.',
  },
  'deduct-repeat-right-id': {
    title: 'A duplicate names no other transaction',
    section: 'Redemption: rule E',
    rule: 'A partnerTransactionId in a signed ERR-DUPLICATE-REQUEST is taken for proof that this deduction stands.',
    remedy:
      'Name the id that the deduction of this very svcRedemptionId was answered with, and none after it was reverted.',
  },
  'deduct-repeat-other-terms': {
    title: 'A repeated id with other terms takes nothing and names nothing',
    section: 'Redemption: rule E',
    rule: 'A duplicate names the deduction only to a call with the same wallet and points: a named id is taken for proof of those terms. svcRedemptionId alone names the redemption, so other points under it take nothing.',
    remedy:
      'Look the deduction up by svcRedemptionId alone; name it only where wallet and points are those of the call. Otherwise: ERR-DUPLICATE-REQUEST without partnerTransactionId.',
  },
  'deduct-repeat-before-balance': {
    title: 'A repeated id is a duplicate also when the points are gone',
    section: `${DEDUCT}, rule 1`,
    rule: 'A repeated svcRedemptionId gets ERR-DUPLICATE-REQUEST. ERR-INSUFFICIENT-POINTS would say that nothing was taken.',
    remedy: 'Look for the svcRedemptionId first, then at the balance.',
  },
  'deduct-at-once': {
    title: 'The same id ten times at once takes points once',
    section: `${DEDUCT}, rule 1`,
    rule: 'Idempotent on svcRedemptionId, also when calls overlap: one succeeds, the others get ERR-DUPLICATE-REQUEST.',
    remedy:
      'Let a unique index decide (insert first, then take the points), not a look before the write.',
  },
  'deduct-insufficient': {
    title: 'More than the balance is ERR-INSUFFICIENT-POINTS',
    section: `${DEDUCT}, rule 2`,
    rule: 'If the balance is below deductPoints, the deduction is refused with ERR-INSUFFICIENT-POINTS and nothing is taken.',
    remedy: 'Take points with a condition: UPDATE … SET points = points - $n WHERE points >= $n.',
  },
  'deduct-overdraft-at-once': {
    title: 'Deductions at once do not take more than there is',
    section: `${DEDUCT}, rule 2`,
    rule: 'The balance never goes below zero: of several deductions of the whole balance one succeeds.',
    remedy: 'Compare and take in one statement, or lock the user before you look.',
  },
  'deduct-again-after-refusal': {
    title: 'A refused id succeeds once there are points',
    section: `${DEDUCT}, rules 1 and 2`,
    rule: 'A refusal processes nothing: the same svcRedemptionId may be tried again and is deducted when the points are there.',
    remedy: 'Do not record the svcRedemptionId of a refused deduction.',
  },
} as const satisfies CheckRows;
