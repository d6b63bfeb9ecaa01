/** The order in which a redemption's transitions and calls are shown. Pure. */
import { type ConsoleBody } from '../../api/console-client';

type Transition = ConsoleBody<'RedemptionTransition'>;
type Call = ConsoleBody<'PartnerCall'>;

export type Moment =
  | { readonly at: string; readonly transition: Transition; readonly call?: never }
  | { readonly at: string; readonly call: Call; readonly transition?: never };

/**
 * Oldest first. Times alone do not tell the order within a millisecond: transitions go by their version, and a call
 * stands between the transition that began it and the one that followed from its answer.
 */
export function momentsOf(transitions: readonly Transition[], calls: readonly Call[]): Moment[] {
  const moments: Moment[] = transitions
    .toSorted((one, other) => one.version - other.version)
    .map((transition) => ({ at: transition.at, transition }));
  const begun = calls.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1));
  for (const call of begun) {
    const of = moments.flatMap(({ transition }, place) =>
      transition?.requestId === call.requestId ? [place] : [],
    );
    const [first = -1, second = -1] = of;
    const later = moments.findIndex(({ at }) => at > call.begunAt);
    const byTime = later === -1 ? moments.length : later;
    const place =
      second !== -1 ? second : first === -1 ? byTime : placeBeside(moments, first, call);
    moments.splice(place, 0, { at: call.begunAt, call });
  }
  return moments;
}

/** One transition names the call: it either began the call, or followed from its answer. */
function placeBeside(moments: readonly Moment[], place: number, call: Call): number {
  const { transition } = moments[place] ?? {};
  const isEnd = call.endedAt !== null && transition !== undefined && transition.at >= call.endedAt;
  return isEnd ? place : place + 1;
}
