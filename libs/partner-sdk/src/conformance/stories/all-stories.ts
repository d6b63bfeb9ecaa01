import { otherJson, refusals, reused, unknownFields } from './access.stories.js';
import {
  confirmClaimed,
  confirmContradiction,
  confirmOffered,
  confirmReverted,
} from './confirm.stories.js';
import {
  badPoints,
  capitals,
  duplicates,
  overdraft,
  shortage,
  tenAtOnce,
} from './deduct.stories.js';
import { deductionLife } from './deduction-life.story.js';
import {
  anyCase,
  firstCall,
  keptConnection,
  unknownUser,
  unknownUserDeduction,
  zeroPoints,
} from './read.stories.js';
import { byRedemptionId, mismatchedPair, overtaking, tombstone } from './revert.stories.js';
import { type Story } from '../run/tester.js';

/** What the options leave in, and what the partner has. */
export interface Choice {
  readonly hasConfirm: boolean;
  readonly mayClaim: boolean;
  readonly emptyAddress: string | undefined;
}

export interface StoryRow {
  readonly story: Story;
  /** Why the options leave it out, if they do. */
  readonly left?: (choice: Choice) => string | undefined;
}

/** Where it is not accepted, nothing else can be tried. */
export const FIRST: StoryRow = { story: firstCall };

/** Told one after the other, before calls come at once. */
export const OPENING: readonly StoryRow[] = [
  {
    story: confirmOffered,
    left: ({ hasConfirm }) => (hasConfirm ? undefined : '--no-confirm was given.'),
  },
  { story: keptConnection },
];

/** They look at no balance and move no points of an honest partner: told all at once. */
export const CALM: readonly StoryRow[] = [
  ...refusals.map((story) => ({ story })),
  { story: reused },
  { story: anyCase },
  { story: unknownUser },
  { story: unknownUserDeduction },
  { story: unknownFields },
  { story: otherJson },
  {
    story: zeroPoints,
    left: ({ emptyAddress }) =>
      emptyAddress === undefined
        ? 'No player without points was given (--empty-address).'
        : undefined,
  },
];

const noConfirm = ({ hasConfirm }: Choice): string | undefined =>
  hasConfirm ? undefined : 'There is no POST /confirm-redemption.';

/** They move points and watch the balance: told one after the other, each undone before the next. */
export const MONEY: readonly StoryRow[] = [
  { story: deductionLife },
  { story: duplicates },
  { story: capitals },
  { story: badPoints },
  { story: shortage },
  { story: tenAtOnce },
  { story: overdraft },
  { story: byRedemptionId },
  { story: mismatchedPair },
  { story: tombstone },
  { story: overtaking },
  { story: confirmReverted, left: noConfirm },
  { story: confirmContradiction, left: noConfirm },
  {
    story: confirmClaimed,
    left: (choice) => noConfirm(choice) ?? (choice.mayClaim ? undefined : '--no-claim was given.'),
  },
];
