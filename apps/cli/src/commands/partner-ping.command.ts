import { type Address } from '#libs/domain';
import { type PingReport, pingPartner, resolveAudited } from '#libs/operations';
import { PartnerSettings } from '../cli.env.js';
import { command, CommandFailed } from '../command.js';
import { PARTNER, type PartnerArgument } from '../operation-command.js';
import { AS, JSON_LINE, option, positiveInteger, required, wallet } from '../options.js';
import { type Field, fieldLines } from '../output/text.js';

interface Given extends PartnerArgument {
  readonly address: Address;
  readonly timeout: number;
  readonly allowPrivate?: boolean;
}

/** Reads a balance as the service does, and shows everything that is signed, but never the secret. */
export const ping = command({
  name: 'ping',
  description: 'read a balance and show what is signed, by whom and how; changes nothing',
  arguments: [PARTNER],
  options: [
    required('--address <0x…>', 'the wallet of a player', wallet),
    option('--timeout <seconds>', 'for the whole call', positiveInteger, 10),
    option('--allow-private', 'development: call http and private addresses'),
    JSON_LINE,
    AS,
  ],
  settings: PartnerSettings,
  async action(call, { name, address, timeout: timeoutSeconds, allowPrivate }: Given) {
    const { clock, operator } = call;
    const keyRing = call.keyRing();
    const report = await call.withDatabase(async (database) => {
      const { partnerId: partner } = await resolveAudited(database, operator, name);
      const asked = { partner, address, timeoutSeconds, allowPrivate };
      return pingPartner({ database, clock, keyRing }, operator, asked);
    });
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
