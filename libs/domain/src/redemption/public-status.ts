import { type RedemptionState } from './redemption.js';

/** What users and partners see of a redemption's state. */
export type PublicStatus = 'initial' | 'pending' | 'claimed' | 'reverted' | 'failed';

const PUBLIC: Readonly<Record<RedemptionState, PublicStatus>> = {
  created: 'initial',
  deducting: 'pending',
  deducted: 'pending',
  authorised: 'pending',
  reverting: 'pending',
  attention: 'pending',
  claimed: 'claimed',
  reverted: 'reverted',
  failed: 'failed',
};

export function publicStatus(state: RedemptionState): PublicStatus {
  return PUBLIC[state];
}

/** Nothing leaves a final state, and nothing of its row changes. */
export function isFinal(state: RedemptionState): state is 'claimed' | 'reverted' | 'failed' {
  return state === 'claimed' || state === 'reverted' || state === 'failed';
}
