/**
 * Consequence of each operation, by its command, for the operator to read before the operation. `allowedActions`
 * describes the consequences of actions on one redemption, and `restoreConsequence` those of a restored ledger.
 */
export const CONSEQUENCES = {
  'partner create':
    'The partner gets its first credential, which is shown once. Nothing can be redeemed with it before it has a callback and a daily token budget.',
  'partner set':
    'What is given takes the place of what is set, and all else stays. Redemptions under way keep their points and tokens; calls to the partner go by what is set now.',
  'partner rotate':
    'One more credential is issued and shown once; the old ones work until they are revoked.',
  'partner revoke':
    'Within seconds every call that the partner signs with this credential is refused. This cannot be taken back.',
  'partner pause': 'No new redemptions are taken with this partner; those under way go on.',
  'partner resume': 'Redemptions are taken with this partner again.',
  'redemption adopt':
    'Each of these can be paid, or its deduction reverted as it is named, once it is adopted.',
  'reconciliation acknowledge':
    'The claim is no alert any more once the next reconciliation was made, within the hour; it stays in the list, with the note.',
  'price accept':
    'Redemptions and snapshots go on with the next reading near this figure, within a minute; one that is not near it stays held.',
  'secrets rewrap': 'Every stored secret is sealed again under the first key of SECRETS_KEY.',
} as const satisfies Readonly<Record<string, string>>;
