/** Which days are to be worked out now. */
import { type BlockRef, dayOf } from '#libs/domain';

export interface SealStanding {
  /** The newest block that is indexed, final and verified. */
  readonly settled: BlockRef;
  /** The first day that is sealed; where none is, that of the first block that is indexed. */
  readonly firstDay: number;
  /** The newest day that is sealed. */
  readonly newestDay: number | null;
  /** Sealed days from this one on have to be worked out again. */
  readonly recheckFrom: number | null;
}

export interface DueDays {
  readonly from: number;
  /** The last one; below `from` where there is none. */
  readonly to: number;
}

/** Without gaps: those that have to be worked out again, then those that are not sealed yet. */
export function dueDays(standing: SealStanding): DueDays {
  const { settled, firstDay, newestDay, recheckFrom } = standing;
  const next = newestDay === null ? firstDay : newestDay + 1;
  const from = recheckFrom === null ? next : Math.min(next, Math.max(firstDay, recheckFrom));
  return { from, to: dayOf(settled.timestampSeconds) - 1 };
}
