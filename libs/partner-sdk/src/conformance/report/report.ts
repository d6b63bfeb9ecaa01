/**
 * The result of a run, as `--json` prints it. The shape is stable: fields may be added, and `version` rises where a
 * field changes its meaning. The report never holds the API key or the shared secret, even if the partner sends them
 * back.
 */
import { type CheckId, CHECKS } from '../checks/all-checks.js';
import { CAPABILITIES, type Capability, type Severity } from '../checks/check.js';
import { type ReportedExchange, reportExchange, scrubber } from './reported-exchange.js';
import { type ConformanceOptions } from '../run/options.js';
import { type Unresolved } from '../run/revert-open.js';
import { type Verdict } from '../run/tester.js';

export interface Report {
  readonly version: 1;
  readonly tool: 'lowmark-conformance';
  readonly baseUrl: string;
  readonly address: string;
  /**
   * `conforms`: everything was tried and no error found. `violates`: at least one error, or points that could not be
   * given back. `incomplete`: no error was found, but not everything could be tried.
   */
  readonly outcome: 'conforms' | 'violates' | 'incomplete';
  readonly exitStatus: 0 | 1 | 2;
  /** Why the run ended early; null where it did not. */
  readonly stopped: string | null;
  readonly counts: {
    readonly passed: number;
    readonly errors: number;
    readonly warnings: number;
    readonly infos: number;
    readonly skipped: number;
  };
  /** Null where the run could not find out. */
  readonly capabilities: Readonly<Record<Capability, boolean | null>>;
  readonly checks: readonly ReportedCheck[];
  readonly left: Left;
  readonly calls: number;
  readonly durationMs: number;
}

export interface ReportedCheck {
  readonly id: CheckId;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly severity: Severity;
  readonly title: string;
  readonly section: string;
  readonly rule: string;
  readonly remedy: string;
  readonly capability: Capability | null;
  /** What was observed, where the check failed; else null. */
  readonly observed: string | null;
  /** Why the check was not tried, where it was skipped; else null. */
  readonly skippedBecause: string | null;
  /** The calls that show the failure. */
  readonly exchanges: readonly ReportedExchange[];
}

interface Findings {
  readonly options: ConformanceOptions;
  readonly baseUrl: URL;
  readonly verdicts: readonly (readonly [CheckId, Verdict])[];
  readonly stopped: string | undefined;
  readonly calls: number;
  readonly left: Left;
  readonly durationMs: number;
}

export function makeReport(findings: Findings): Report {
  const { options, baseUrl, verdicts, left, calls, durationMs } = findings;
  const checks = verdicts.map(([id, verdict]) => reportCheck(id, verdict));
  const count = (severity: Severity): number =>
    checks.filter((check) => check.status === 'failed' && check.severity === severity).length;
  const errors = count('error');
  const isWhole = verdicts.every(([, verdict]) => verdict.status !== 'skipped' || verdict.isWished);
  const isIncomplete = !isWhole || findings.stopped !== undefined;
  const outcome =
    errors > 0 || isShort(left) ? 'violates' : isIncomplete ? 'incomplete' : 'conforms';
  const report: Report = {
    version: 1,
    tool: 'lowmark-conformance',
    baseUrl: baseUrl.href,
    address: options.address,
    outcome,
    exitStatus: outcome === 'conforms' ? 0 : outcome === 'violates' ? 1 : 2,
    stopped: findings.stopped ?? null,
    counts: {
      passed: checks.filter(({ status }) => status === 'passed').length,
      errors,
      warnings: count('warning'),
      infos: count('info'),
      skipped: checks.filter(({ status }) => status === 'skipped').length,
    },
    capabilities: capabilitiesOf(checks),
    checks,
    left,
    calls,
    durationMs,
  };
  return scrubber(options)(report);
}

function reportCheck(id: CheckId, verdict: Verdict): ReportedCheck {
  const { severity, title, section, rule, remedy, capability = null } = CHECKS[id];
  const isFailed = verdict.status === 'failed';
  const failure = isFailed ? verdict.failure : undefined;
  return {
    id,
    status: verdict.status,
    severity: failure?.severity ?? severity,
    title,
    section,
    rule,
    remedy: failure?.remedy ?? remedy,
    capability,
    observed: failure?.observed ?? null,
    skippedBecause: verdict.status === 'skipped' ? verdict.why : null,
    exchanges: failure?.exchanges.map(reportExchange) ?? [],
  };
}

function capabilitiesOf(checks: readonly ReportedCheck[]): Report['capabilities'] {
  const entries = CAPABILITIES.map((capability) => {
    const statuses = checks.filter((check) => check.capability === capability);
    const isMissing = statuses.some(({ status }) => status === 'failed');
    const isKnown = statuses.every(({ status }) => status === 'passed');
    return [capability, isMissing ? false : isKnown ? true : null] as const;
  });
  return Object.fromEntries(entries) as Report['capabilities'];
}

/** What the run leaves behind at the partner. */
export interface Left {
  /** Points of the player; null where the balance could not be read. */
  readonly before: number | null;
  readonly after: number | null;
  readonly unresolved: readonly Unresolved[];
}

/** Removes the uncertain deductions where the balance shows that they took nothing. */
export function explain(left: Left): Left {
  const { unresolved } = left;
  const certain = unresolved.filter(({ state }) => state !== 'uncertain');
  return isBalanced({ ...left, unresolved: certain }) ? { ...left, unresolved: certain } : left;
}

/** Whether points are missing or too many, beyond the cost of the confirmed claim. */
function isShort(left: Left): boolean {
  const isStuck = left.unresolved.some(({ state }) => state !== 'claimed');
  return isStuck || !(isBalanced(left) || left.after === null);
}

/** Whether the balance is what it was, less the points of the deductions that are left. */
export function isBalanced({ before, after, unresolved }: Left): boolean {
  const gone = unresolved.reduce(
    (sum, { points, partnerTransactionIds: ids }) => sum + points * Math.max(1, ids.length),
    0,
  );
  return before !== null && after !== null && before - gone === after;
}
