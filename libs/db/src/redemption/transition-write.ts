/** What one transition writes, as the parameters of its statement. */
import {
  canonicalJson,
  evidenceContent,
  namesContent,
  type Moved,
  PermanentError,
  type Redemption,
  type UuidV7,
} from '#libs/domain';
import { type ReservationLimits, reservationValues } from './reservation-limits.js';
import { type CallEnd } from './call-log-entry.js';
import { type AuditNote } from './command.entity.js';
import { type EvidenceSeal } from './evidence-seal.js';
import {
  addressBytes,
  type PayoutPlace,
  stateValues,
  type StoredRedemption,
} from './redemption-row.js';

export interface TransitionWrite {
  /** As it was read: the write is refused where the row has moved on. */
  readonly before: Redemption;
  /** The domain's decision on it. Its records (calls, the confirmation) are written, its other effects are the caller's. */
  readonly decision: Moved;
  /** The type of the event that was decided on. */
  readonly event: string;
  /** Who: `worker`, `user`, `operator:NAME`. */
  readonly actor: string;
  /** The lease that the write happens under; absent for users and operators, whom the version alone guards. */
  readonly owner?: string;
  /** Gives the lease back as well; a final or stopped redemption always does. */
  readonly release?: boolean;
  /** Needed with the transition that commits the plan. */
  readonly place?: PayoutPlace;
  /** The row as it was read: where it bore our MAC, what follows from it bears one. Needed of who has the keys. */
  readonly stored?: Pick<StoredRedemption, 'place' | 'isSealed' | 'namesAreOurs'>;
  /** A person vouches for what the next row calls its deduction. Counts only of who has the keys. */
  readonly vouchesForNames?: true;
  /** The call that the event is the result of, where it was learnt. */
  readonly callEnd?: CallEnd;
  /** The call that the event belongs to, where its end was not learnt. */
  readonly requestId?: UuidV7;
  readonly audit?: AuditNote;
  /** Reserves the tokens with the transition; needed with the one that begins the deduction. */
  readonly reserve?: ReservationLimits;
}

/**
 * @param seal absent for who has no keys, an operator say: the row keeps the MAC that it has
 * @throws PermanentError PLAN_WITHOUT_PLACE
 */
export function applyValues(write: TransitionWrite, seal?: EvidenceSeal): unknown[] {
  const { before, decision, callEnd, audit } = write;
  const { next, effects } = decision;
  if (next.plan !== null && before.plan === null && write.place === undefined) {
    throw new PermanentError(
      'PLAN_WITHOUT_PLACE',
      'A payout plan is stored with its vault, chain and first block.',
    );
  }
  const place = before.plan === null && next.plan !== null ? write.place : undefined;
  const call = effects.find((effect) => effect.kind === 'record-call');
  const delivery = effects.find((effect) => effect.kind === 'record-delivery');
  return [
    before.id,
    before.state,
    before.version,
    write.owner ?? null,
    write.event,
    write.actor,
    callEnd?.requestId ?? call?.requestId ?? write.requestId ?? null,
    call?.requestId ?? null,
    call?.step ?? null,
    callEnd?.requestId ?? null,
    callEnd?.outcome ?? null,
    callEnd === undefined ? null : JSON.stringify(callEnd.record),
    delivery === undefined ? null : canonicalJson(delivery.payload),
    audit?.command ?? null,
    audit?.arguments === undefined ? null : JSON.stringify(audit.arguments),
    audit?.outcome ?? null,
    effects.some(({ kind }) => kind === 'notify'),
    place === undefined ? null : addressBytes(place.vault),
    place?.chainId ?? null,
    place?.fromBlock ?? null,
    write.release === true || next.nextActionAtMs === null,
    before.lostVoucherUntilSeconds,
    seal !== undefined,
    seal === undefined ? null : macOf(write, seal),
    seal === undefined ? null : namesMacOf(write, seal),
    ...stateValues(next),
    ...reservationValues(write.reserve),
  ];
}

/** Only of what follows from a row that bore one: a MAC must not make ours what others wrote. */
function macOf(write: TransitionWrite, seal: EvidenceSeal): Buffer | null {
  const { before, decision, stored } = write;
  if (stored?.isSealed !== true) return null;
  const place = before.plan === null ? write.place : stored.place;
  const content = evidenceContent(decision.next, place ?? null);
  return content === undefined ? null : seal.mac(content);
}

function namesMacOf(write: TransitionWrite, seal: EvidenceSeal): Buffer | null {
  const { decision, stored, vouchesForNames } = write;
  const content = namesContent(decision.next);
  const areOurs = stored?.namesAreOurs === true || vouchesForNames === true;
  return areOurs && content !== undefined ? seal.mac(content) : null;
}
