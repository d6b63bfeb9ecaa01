/** The report as text for people: the worst first, each finding with the call, the answer, the rule and the remedy. */
import { CAPABILITIES, type Severity } from '../checks/check.js';
import { type Left, type Report, type ReportedCheck } from './report.js';
import { type ReportedExchange } from './reported-exchange.js';

const ORDER: readonly Severity[] = ['error', 'warning', 'info'];
const SHOWN = 3;
const MAX_CHARACTERS = 600;
/** Amounts that can be owed. The tester asks for other amounts only to see them refused, so none of them is owed. */
const WHOLE = /^[1-9]\d*$/;

export function textReport(report: Report): string {
  const failed = report.checks.filter(({ status }) => status === 'failed');
  const findings = ORDER.flatMap((severity) =>
    failed.filter((check) => check.severity === severity).map(findingText),
  );
  const parts = [
    `Conformance of ${report.baseUrl}`,
    ...findings,
    skippedText(report.checks),
    capabilitiesText(report),
    leftText(report.left, report.address),
    summaryText(report),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function findingText(check: ReportedCheck): string {
  const lines = [
    `${check.severity.toUpperCase()}  ${check.id}: ${check.title}`,
    `  Seen:      ${clean(check.observed ?? '')}`,
    `  Rule:      ${check.rule} (${check.section})`,
    `  To mend:   ${check.remedy}`,
    ...check.exchanges.slice(-SHOWN).map(exchangeText),
  ];
  return lines.join('\n');
}

function exchangeText({ purpose, sent, came }: ReportedExchange): string {
  const lines = [`  - ${purpose}`, `    sent     ${sent.method} ${sent.target}`];
  for (const name of ['x-api-request', 'x-api-signature']) {
    lines.push(`             ${name}: ${sent.headers[name] ?? '(left out)'}`);
  }
  if (sent.body !== '') lines.push(`             ${short(sent.body)}`);
  if (came.status === null) {
    lines.push(`    came     ${clean(came.fault ?? '')}, after ${came.durationMs} ms`);
    return lines.join('\n');
  }
  lines.push(`    came     ${came.status} in ${came.durationMs} ms, signature ${came.signature}`);
  for (const [name, value] of Object.entries(came.headers)) {
    if (name !== 'date') lines.push(`             ${name}: ${short(value)}`);
  }
  lines.push(`             ${short(came.body)}`);
  return lines.join('\n');
}

/** Puts a text on one line and removes the control characters that a terminal would obey. */
function clean(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

function short(text: string): string {
  const line = clean(text);
  return line.length > MAX_CHARACTERS ? `${line.slice(0, MAX_CHARACTERS)}…` : line;
}

function skippedText(checks: readonly ReportedCheck[]): string {
  const skipped = checks.filter(({ status }) => status === 'skipped');
  if (skipped.length === 0) return '';
  const reasons = new Map<string, string[]>();
  for (const { id, skippedBecause } of skipped) {
    const reason = skippedBecause ?? '';
    reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
  }
  const lines = [...reasons].map(([reason, ids]) => `  ${clean(reason)}\n${wrapped(ids)}`);
  return ['Not tried', ...lines].join('\n');
}

const LINE = 110;

function wrapped(ids: readonly string[]): string {
  const lines: string[] = [];
  for (const id of ids) {
    const last = lines.at(-1);
    if (last === undefined || last.length + id.length > LINE) lines.push(`    ${id}`);
    else lines[lines.length - 1] = `${last}, ${id}`;
  }
  return lines.join(',\n');
}

function capabilitiesText({ capabilities, outcome }: Report): string {
  const lines = CAPABILITIES.map((name) => {
    const has = capabilities[name];
    return `  ${has === true ? 'yes' : has === false ? 'no ' : '?  '}  ${name}`;
  });
  const found = CAPABILITIES.filter((name) => capabilities[name] === true);
  const flags = found.map((name) => `--capability ${name}`).join(' ');
  // A partner that violates the interface is not ready for its capabilities to be set.
  const isReady = outcome === 'conforms' && found.length > 0;
  const hint = !isReady ? [] : [`  For the service's operator: partner set NAME ${flags}`];
  return ['Capabilities', ...lines, ...hint].join('\n');
}

function leftText({ before, after, unresolved }: Left, address: string): string {
  const lines = unresolved.map((deduction) => {
    const ids = clean(deduction.partnerTransactionIds.join(', '));
    const named = ids === '' ? '' : `, partnerTransactionId ${ids}`;
    const what = {
      claimed: 'spent by the confirmed claim (--no-claim leaves that out)',
      deducted: 'NOT GIVEN BACK',
      uncertain: 'PERHAPS NOT GIVEN BACK',
    }[deduction.state];
    const each = deduction.partnerTransactionIds.length > 1 ? ' each' : '';
    const points = WHOLE.test(String(deduction.points))
      ? `${deduction.points} point(s)`
      : `a deduction of ${deduction.points} points, which should have been refused`;
    return `  ${what}: ${points}${each}, svcRedemptionId ${deduction.svcRedemptionId}${named}. ${short(deduction.why)}`;
  });
  if (before === null && lines.length === 0) return '';
  const now = after ?? 'unknown';
  return [`Points of ${address}: ${before ?? 'unknown'} before, ${now} after`, ...lines].join('\n');
}

function summaryText({ counts, calls, durationMs, outcome, stopped }: Report): string {
  const said = {
    conforms:
      counts.skipped === 0
        ? 'Everything was tried, and no error was found.'
        : 'No error was found in all that the options left in.',
    violates: counts.errors > 0 ? 'The interface is violated.' : 'Points could not be given back.',
    incomplete: 'No error was found, but not everything could be tried.',
  }[outcome];
  const numbers = [
    `${counts.passed} passed`,
    `${counts.errors} error(s)`,
    `${counts.warnings} warning(s)`,
    `${counts.infos} info(s)`,
    `${counts.skipped} not tried`,
  ].join(', ');
  const costs = counts.warnings === 0 ? '' : ' Read the warnings: each has a cost.';
  const early = stopped === null ? '' : ` ${clean(stopped)}`;
  return `${said}${costs}${early}\n${numbers}; ${calls} calls in ${(durationMs / 1000).toFixed(1)} s`;
}
