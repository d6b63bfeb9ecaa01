/** Validates the number of points that a player types. Pure. */

export interface PointsRange {
  readonly min: number;
  readonly max: number;
}

export type EntryProblem = 'not-a-number' | 'other-digits' | 'too-few' | 'too-many';

/**
 * Validates the entry before the service is asked; undefined where it is acceptable.
 * @param points the result of `parsePoints` for the text
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
  // Zero or negative.
  if (/^0+$/.test(typed) || /^[-−]\s?\d+$/.test(typed)) return 'too-few';
  // More digits than a safe integer can have.
  return /^\d+(?:[\s.,'’\u00a0\u202f]\d{3})*$/.test(typed) &&
    typed.replaceAll(/\D/g, '').length > 15
    ? 'too-many'
    : 'not-a-number';
}

/** How many points this player can redeem, within the limits and the balance. */
export function rangeOf(
  limits: { readonly minPoints: number; readonly maxPoints: number } | undefined,
  balance: number,
): PointsRange | undefined {
  if (limits === undefined || limits.maxPoints === 0) return undefined;
  return { min: limits.minPoints, max: Math.min(limits.maxPoints, balance) };
}
