/** What a player types as a number of points, and what is said of it. Pure. */

export interface PointsRange {
  readonly min: number;
  readonly max: number;
}

export type EntryProblem = 'not-a-number' | 'other-digits' | 'too-few' | 'too-many';

/**
 * Before the service is asked; undefined: it can be.
 * @param points what `parsePoints` makes of the text
 */
export function entryProblem(
  text: string,
  points: number | undefined,
  balance: number,
): EntryProblem | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  if (points !== undefined) return points > balance ? 'too-many' : undefined;
  if (/(?![0-9])\p{Nd}/u.test(typed)) return 'other-digits';
  // Zero, or less.
  if (/^0+$/.test(typed) || /^[-−]\s?\d+$/.test(typed)) return 'too-few';
  // More than a number of points can be.
  return /^\d+(?:[\s.,'’\u00a0\u202f]\d{3})*$/.test(typed) &&
    typed.replaceAll(/\D/g, '').length > 15
    ? 'too-many'
    : 'not-a-number';
}

/** How many this player can redeem: what is allowed, and no more than there are. */
export function rangeOf(
  limits: { readonly minPoints: number; readonly maxPoints: number } | undefined,
  balance: number,
): PointsRange | undefined {
  if (limits === undefined || limits.maxPoints === 0) return undefined;
  return { min: limits.minPoints, max: Math.min(limits.maxPoints, balance) };
}
