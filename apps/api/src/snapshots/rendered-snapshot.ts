import { type SnapshotState, walletDaysFrom } from '#libs/db';
import { type Address, type DayWindow, parseDecimal } from '#libs/domain';
import { type BodyParts, bodyParts } from './snapshot-body.js';
import { snapshotOf, type TokenFacts } from './snapshot.js';
import { type KeptPart } from './kept-part.js';

export interface Rendering {
  readonly wallet: Address;
  readonly lastDays: number;
  readonly window: DayWindow;
  readonly state: SnapshotState;
  readonly usd: string | undefined;
}

/** The answer made of a part: the one that was made before where nothing differs. */
export function render(part: KeptPart, rendering: Rendering): BodyParts {
  const { rendered } = part;
  const { wallet, lastDays, window, state, usd } = rendering;
  if (
    rendered?.lastDays === lastDays &&
    rendered.usd === usd &&
    (rendered.facts === state || sameFacts(rendered.facts, state))
  ) {
    return rendered.body;
  }
  const days = walletDaysFrom(part.daysText ?? '[]');
  const rate = usd === undefined ? undefined : parseDecimal(usd);
  const body = bodyParts(snapshotOf({ wallet, window, days: daysIn(days, window) }, state, rate));
  part.rendered = { lastDays, facts: state, usd, body };
  return body;
}

/** Those of the window and the newest one before it; the rows are newest first. */
function daysIn<T extends { readonly day: number }>(
  days: readonly T[],
  { firstDay }: DayWindow,
): readonly T[] {
  const before = days.findIndex(({ day }) => day < firstDay);
  return before < 0 ? days : days.slice(0, before + 1);
}

function sameFacts(one: TokenFacts, other: TokenFacts): boolean {
  return (
    one.tokenSymbol === other.tokenSymbol &&
    one.tokenDecimals === other.tokenDecimals &&
    one.tokenContract === other.tokenContract &&
    one.stakeContract === other.stakeContract
  );
}
