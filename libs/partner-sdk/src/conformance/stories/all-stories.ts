import { otherJson, refusals, reused, unknownFields } from './access.stories.js';
import {
  badPoints,
  capitals,
  duplicates,
  overdraft,
  shortage,
  tenAtOnce,
} from './deduct.stories.js';
import { confirmClaimed, confirmContradiction, confirmReverted } from './confirm.stories.js';
import { deductionLife } from './deduction-life.story.js';
import { anyCase, unknownUser, unknownUserDeduction, zeroPoints } from './read.stories.js';
import { byRedemptionId, mismatchedPair, overtaking, tombstone } from './revert.stories.js';
import { type Story } from '../run/tester.js';

/** What the options leave in. */
export interface Choice {
  readonly hasConfirm: boolean;
  readonly mayClaim: boolean;
  readonly emptyAddress: string | undefined;
}

export interface ChosenStory {
  readonly story: Story;
  /** Why it is left out, if it is. */
  readonly left?: string;
}

/** Stories that look at no balance and move no points of an honest partner: told all at once. */
export function calmStories({ emptyAddress }: Choice): ChosenStory[] {
  const left = 'No player without points was given (--empty-address).';
  return [
    ...[...refusals, reused, anyCase, unknownUser, unknownUserDeduction].map((story) => ({
      story,
    })),
    ...[unknownFields, otherJson].map((story) => ({ story })),
    emptyAddress === undefined
      ? { story: zeroPoints(''), left }
      : { story: zeroPoints(emptyAddress) },
  ];
}

/** Stories that move points and watch the balance: told one after the other, each undone before the next. */
export function moneyStories({ hasConfirm, mayClaim, emptyAddress }: Choice): ChosenStory[] {
  const noConfirm = hasConfirm ? {} : { left: 'There is no POST /confirm-redemption.' };
  const noClaim = mayClaim ? {} : { left: '--no-claim was given.' };
  return [
    ...[deductionLife, duplicates(emptyAddress), capitals, badPoints, shortage].map((story) => ({
      story,
    })),
    ...[tenAtOnce, overdraft, byRedemptionId].map((story) => ({ story })),
    ...[mismatchedPair, tombstone, overtaking].map((story) => ({ story })),
    { story: confirmReverted, ...noConfirm },
    { story: confirmContradiction, ...noConfirm },
    { story: confirmClaimed, ...noClaim, ...noConfirm },
  ];
}
