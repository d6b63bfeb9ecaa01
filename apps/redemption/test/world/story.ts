import { type Database, RedemptionViews } from '#libs/db';
import { type UuidV7 } from '#libs/domain';
import { type ChaosPartner } from '../partner/chaos-partner.js';

/** All that is known about one redemption, for the search for a fault. */
export async function story(
  database: Database,
  id: string,
  partner: ChaosPartner | undefined,
): Promise<string> {
  const history = await new RedemptionViews(database).show(id as UuidV7);
  if (history === undefined) return `${id}: no such redemption`;
  const { redemption, transitions, calls, confirmation } = history;
  const { state, reason, revertReason, partnerTransactionId, plan } = redemption;
  const seen = partner?.log.filter(({ redemptionId }) => redemptionId === id) ?? [];
  return [
    `${id}: ${state}, ${reason ?? '-'}/${revertReason ?? '-'}, ${partnerTransactionId ?? 'no transaction id'}, deadline ${plan?.deadlineSeconds ?? '-'}`,
    `  partner ${partner?.name ?? '?'}: ${JSON.stringify(partner?.books.nature)}, recorded ${String(partner?.recorded)}`,
    ...transitions.map(
      ({ version, event, from, to, reason: why, actor }) =>
        `  ${version} ${event}: ${from ?? '-'} -> ${to}${why === null ? '' : ` (${why})`} by ${actor}`,
    ),
    ...calls.map(
      ({ step, requestId, end }) =>
        `  call ${step} ${requestId}: ${end === null ? 'end unknown' : end.outcome}`,
    ),
    ...seen.map(
      ({ atMs, step, requestId, what, named = '' }) =>
        `  partner at ${new Date(atMs).toISOString()}: ${step} ${requestId} ${named}: ${what}`,
    ),
    `  confirmation: ${JSON.stringify(confirmation)}`,
  ].join('\n');
}
