import { type LoggedCall, type LoggedTransition, type RedemptionHistory } from '#libs/db';
import {
  type LiveEvidence,
  moment,
  payoutFields,
  type ShownRedemption,
  standingFields,
} from '#libs/operations';
import { type Field, fieldLines, table } from '../output/text.js';

export interface Shown extends ShownRedemption {
  readonly live: LiveEvidence;
}

export function showText(shown: Shown, nowMs: number): string {
  const { history } = shown;
  return [
    fieldLines(standingFields(shown, nowMs)),
    'Timeline\n' + timeline(history.transitions),
    'Calls to the partner\n' + calls(history.calls),
    'Payout\n' + fieldLines(payoutFields(history, shown.live), '  '),
    'Confirmation\n' + fieldLines(confirmationFields(history), '  '),
  ].join('\n');
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
