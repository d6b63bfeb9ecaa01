import {
  forged,
  headerCase,
  otherJson,
  refusals,
  reused,
  unknownFields,
} from './access.stories.js';
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

/** The options and the endpoints of the partner on which the choice of stories depends. */
export interface Choice {
  readonly hasConfirm: boolean;
  readonly mayClaim: boolean;
  readonly emptyAddress: string | undefined;
}

export interface StoryRow {
  readonly story: Story;
  /** Why the options leave the story out; undefined where they do not. */
  readonly left?: (choice: Choice) => string | undefined;
}

/** The first story. Where the partner does not accept its call, nothing else can be tried. */
export const FIRST: StoryRow = { story: firstCall };

/** Stories that are played one after the other, before any calls are made at once. */
export const OPENING: readonly StoryRow[] = [
  {
    story: confirmOffered,
    left: ({ hasConfirm }) => (hasConfirm ? undefined : '--no-confirm was given.'),
  },
  { story: keptConnection },
];

/** Stories that compare no balance and move no points of an honest partner, so they are played all at once. */
export const PARALLEL_STORIES: readonly StoryRow[] = [
  ...refusals.map((story) => ({ story })),
  { story: forged },
  { story: reused },
  { story: headerCase },
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

/** Stories that move points and compare balances. They are played one after the other, each undone before the next. */
export const BALANCE_STORIES: readonly StoryRow[] = [
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
