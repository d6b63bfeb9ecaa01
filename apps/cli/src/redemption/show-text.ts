import {
  decimalText,
  type LoggedCall,
  type LoggedTransition,
  type RedemptionHistory,
} from '#libs/db';
import { type PayoutEvidence, publicStatus, type Redemption } from '#libs/domain';
import {
  duration,
  type LiveEvidence,
  moment,
  type ShownRedemption,
  tokensText,
  waitsFor,
} from '#libs/operations';
import { type Field, fieldLines, table } from '../output/text.js';

export interface Shown extends ShownRedemption {
  readonly live: LiveEvidence;
}

export function showText(shown: Shown, nowMs: number): string {
  const { history } = shown;
  return [
    fieldLines(headFields(shown, nowMs)),
    'Timeline\n' + timeline(history.transitions),
    'Calls to the partner\n' + calls(history.calls),
    'Payout\n' + fieldLines(payoutFields(shown), '  '),
    'Confirmation\n' + fieldLines(confirmationFields(history), '  '),
  ].join('\n');
}

function headFields({ history, partnerName }: Shown, nowMs: number): Field[] {
  const { redemption, lease } = history;
  const { state, reason, resume, points } = redemption;
  const since = `for ${duration(nowMs - redemption.stateSinceMs)}`;
  const target = redemption.candidateTransactionIds;
  return [
    ['redemption', redemption.id],
    ['state', `${state} (${publicStatus(state)} to the user), ${since}`],
    ['reason', reason ?? undefined],
    ['goes on in', resume ?? undefined],
    ['waits for', waitsFor(history, nowMs)],
    [
      'lease',
      lease === null ? 'nobody has it' : `${lease.owner} until ${moment(lease.until) ?? ''}`,
    ],
    ['partner', `${partnerName} (${redemption.partner})`],
    ['wallet', redemption.wallet],
    [
      'amounts',
      `${points.toString()} points = ${decimalText(redemption.usdAmount)} USD = ${tokensText(redemption)} tokens`,
    ],
    [
      'price',
      `${decimalText(redemption.priceUsd)} USD a token, until ${moment(redemption.quoteExpiresAtMs) ?? ''}`,
    ],
    ['version', String(redemption.version)],
    ['deduction', deductionText(redemption)],
    ['partner transaction', redemption.partnerTransactionId ?? 'not known'],
    ['candidates', target.length === 0 ? undefined : `${target.join(', ')} (unverified)`],
    ['partner revert', redemption.partnerRevertId ?? undefined],
    ['reverted because', redemption.revertReason ?? undefined],
  ];
}

/** What is known of the points that were asked for, in the words of an operator. */
function deductionText({
  state,
  exposure,
  partnerTransactionId,
  unprovenAttempts,
  openCall,
}: Redemption): string {
  if (state === 'reverted') return 'given back';
  if (partnerTransactionId !== null) return 'confirmed by the partner; the points are taken';
  if (exposure === 'none') return 'none: no call could have deducted';
  const ended = unprovenAttempts - (openCall?.step === 'deduct' ? 1 : 0);
  const open = ended === unprovenAttempts ? '' : ', one is under way';
  return `possible: ${ended} deduct calls ended without a proof${open}`;
}

function timeline(transitions: readonly LoggedTransition[]): string {
  const rows = transitions.map(({ version, event, from, to, reason, actor, at }) => [
    moment(at) ?? '',
    String(version),
    event,
    from === null || from === to ? to : `${from} -> ${to}`,
    reason ?? '',
    actor,
  ]);
  return table(['AT', 'VERSION', 'EVENT', 'STATE', 'REASON', 'BY'], rows);
}

function calls(logged: readonly LoggedCall[]): string {
  if (logged.length === 0) return '  none\n';
  const rows = logged.map(({ requestId, step, begunAt, end }) => {
    const record = (end?.record ?? {}) as Readonly<Record<string, unknown>>;
    const timings = record['timings'] as { readonly total?: number } | undefined;
    return [
      moment(begunAt) ?? '',
      step,
      requestId,
      end === null ? 'end not known' : end.outcome,
      textOf(record['status']),
      textOf(record['verdict'] ?? record['cause']),
      timings?.total === undefined ? '' : `${timings.total} ms`,
      textOf(record['excerpt'] ?? record['error']).slice(0, 160),
    ];
  });
  return table(
    ['BEGUN', 'STEP', 'REQUEST', 'OUTCOME', 'STATUS', 'VERDICT', 'TOOK', 'ANSWER'],
    rows,
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function payoutFields({ history, live }: Shown): Field[] {
  const { redemption, place } = history;
  const { plan, paidEvidence, deadEvidence, lostVoucherUntilSeconds: lost } = redemption;
  return [
    ['recipient', plan?.recipient],
    ['amount', plan === null ? undefined : `${plan.amount.toString()} in the smallest unit`],
    ['deadline', plan === null ? undefined : moment(plan.deadlineSeconds * 1000)],
    ['vault', place === null ? undefined : `${place.vault} on chain ${place.chainId}`],
    [
      'lost voucher',
      lost === null ? undefined : `may be claimed until ${moment(lost * 1000) ?? ''}`,
    ],
    ['stored as paid', paidEvidence === null ? undefined : evidenceText(paidEvidence)],
    ['stored as dead', deadEvidence === null ? undefined : evidenceText(deadEvidence)],
    ['the chain now', live.asked ? evidenceText(live.evidence) : `not asked: ${live.why}`],
  ];
}

function evidenceText(evidence: PayoutEvidence): string {
  switch (evidence.outcome) {
    case 'paid':
      return `paid in ${evidence.transactionHash}, block ${evidence.block.number.toString()}, ${final(evidence)}`;
    case 'dead':
      return evidence.reason === 'expired'
        ? `dead: expired unclaimed, ${final(evidence)}`
        : `dead: cancelled in ${evidence.transactionHash}, ${final(evidence)}`;
    case 'live':
      return `live: neither paid nor dead in a final block${evidence.doubt ? `; ${evidence.doubt.kind}: ${evidence.doubt.text}` : ''}`;
  }
}

function final({ finalised }: Extract<PayoutEvidence, { finalised: unknown }>): string {
  const at = moment(finalised.timestampSeconds * 1000) ?? '';
  return `by final block ${finalised.number.toString()} of ${at}`;
}

function confirmationFields({ confirmation }: RedemptionHistory): Field[] {
  if (confirmation === null) return [['owed', 'none']];
  return [
    ['state', confirmation.state],
    ['attempts', String(confirmation.attempts)],
    ['next attempt', moment(confirmation.nextActionAt)],
    ['delivered', moment(confirmation.deliveredAt)],
    ['given up', moment(confirmation.undeliveredAt)],
    ['payload', confirmation.payload],
  ];
}
