import { PingPartner, type PingReport } from '#libs/operations';
import { CommandFailed } from '../command.js';
import { commandOf } from '../operation-command.js';
import { option, positiveInteger } from '../options.js';
import { type Field, fieldLines } from '../output/text.js';

interface Given {
  readonly timeout: number;
  readonly allowPrivate?: boolean;
}

/** Reads a balance as the service does, and shows everything that is signed, but never the secret. */
export const ping = commandOf(PingPartner, {
  hasJson: true,
  namesPartner: true,
  options: [
    option('--timeout <seconds>', 'for the whole call', positiveInteger, 10),
    option('--allow-private', 'development: call http and private addresses'),
  ],
  amend(values, given) {
    const { timeout: timeoutSeconds, allowPrivate } = given as unknown as Given;
    return { ...values, timeoutSeconds, allowPrivate };
  },
  print(call, report) {
    call.print(report, pingText(report));
    if (!report.good) throw new CommandFailed();
  },
});

/** A larger difference means that one of the clocks is wrong; from 300 s on calls are refused as too old. */
const TOLERABLE_SECONDS = 30;

function pingText(report: PingReport): string {
  const { partner, answer, request } = report;
  const timings = Object.entries(report.timings);
  const fields: Field[] = [
    ['partner', `${partner.partnerName} (${partner.partnerId})`],
    ['called', `${report.url}${report.remoteAddress ? ` at ${report.remoteAddress}` : ''}`],
    ['request id', report.requestId],
    ['we signed', request?.content ?? 'nothing: no request was made'],
    ['our signature', request?.signature],
    ['came to', `${report.phase}${report.cause ? `: ${report.cause}` : ''}`],
    ['error', report.error ?? undefined],
    ...(answer === null ? [] : answerFields(answer)),
    ['times', timings.map(([name, ms]) => `${name} ${ms} ms`).join(', ')],
    ['clocks', clockText(report.clockDifferenceSeconds)],
    ['result', report.outcome],
    ['found', report.says],
    ['to mend', report.mend],
  ];
  return `${fieldLines(fields)}\n${report.good ? 'GOOD' : 'NOT GOOD'}\n`;
}

function answerFields(answer: NonNullable<PingReport['answer']>): Field[] {
  return [
    ['status', String(answer.status)],
    ['body', answer.body],
    ['to be signed', answer.expected?.content ?? 'unknown: neither text nor JSON, or unsigned'],
    ['expected', answer.expected?.signature],
    ['their signature', answer.signature ?? 'none'],
    [
      'verdict',
      answer.signatureFits === 'canonical form'
        ? `${answer.verdict}, over the canonical form of the body`
        : answer.verdict,
    ],
  ];
}

function clockText(seconds: number | null): string {
  if (seconds === null) return 'unknown: the answer has no Date';
  if (seconds === 0) return 'theirs and ours agree to the second';
  const text = `theirs is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} ours`;
  return Math.abs(seconds) > TOLERABLE_SECONDS
    ? `${text}: mend one of them, calls are refused from 300 s on`
    : text;
}
