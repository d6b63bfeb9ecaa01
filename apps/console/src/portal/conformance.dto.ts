import { ApiSchema } from '@nestjs/swagger';
import { type OwnConformanceRun } from '#libs/db';
import { Field } from '#libs/openapi';
import { type Progress, type Report } from '#libs/partner-sdk/conformance';
import * as Input from '../http/inputs.js';

@ApiSchema({ name: 'ConformanceWish' })
export class ConformanceDto {
  @Input.Wallet('A test player with five points or more.') readonly address!: string;

  @Input.Optional() @Input.Wallet('A player without points.') readonly emptyAddress?: string;

  @Input.Flag('Whether a claim may be confirmed, for one point.') readonly mayClaim!: boolean;
}

@ApiSchema({ name: 'ConformanceProgress' })
class ProgressBody {
  @Field.Whole() readonly judged!: number;
  @Field.Whole() readonly checks!: number;
  @Field.Whole() readonly calls!: number;
  @Field.Text('What is being done.') readonly now!: string;
}

@ApiSchema({ name: 'ConformanceExchange' })
class ExchangeBody {
  @Field.Text() readonly purpose!: string;
  @Field.Text() readonly method!: string;
  @Field.Text('Path and query.') readonly target!: string;
  @Field.Text() readonly body!: string;
  @Field.NumberOrNull('Null where no answer came.') readonly status!: number | null;
  @Field.Text('Its beginning, where it is long.') readonly answer!: string;
  @Field.TextOrNull('Why no answer came.') readonly fault!: string | null;
}

@ApiSchema({ name: 'ConformanceCheck' })
class CheckBody {
  @Field.Text() readonly id!: string;
  @Field.OneOf(['passed', 'failed', 'skipped']) readonly status!: 'passed' | 'failed' | 'skipped';
  @Field.OneOf(['error', 'warning', 'info']) readonly severity!: 'error' | 'warning' | 'info';
  @Field.Text() readonly title!: string;
  @Field.Text() readonly rule!: string;
  @Field.Text('How to mend it.') readonly remedy!: string;
  @Field.TextOrNull('What was seen, where it failed.') readonly observed!: string | null;
  @Field.TextOrNull('Why it was not tried.') readonly skippedBecause!: string | null;
  @Field.ListOf(ExchangeBody, 'The calls that show the failure.')
  readonly exchanges!: ExchangeBody[];
}

@ApiSchema({ name: 'ConformanceCapability' })
class CapabilityBody {
  @Field.Text() readonly name!: string;
  @Field.FlagOrNull('Null: it could not be found out.') readonly isFound!: boolean | null;
}

@ApiSchema({ name: 'ConformanceReport' })
class ReportBody {
  @Field.OneOf(['conforms', 'violates', 'incomplete']) readonly outcome!: Report['outcome'];
  @Field.TextOrNull('Why the run ended early.') readonly stopped!: string | null;
  @Field.Whole() readonly passed!: number;
  @Field.Whole() readonly errors!: number;
  @Field.Whole() readonly warnings!: number;
  @Field.Whole() readonly skipped!: number;
  @Field.ListOf(CheckBody) readonly checks!: CheckBody[];
  @Field.ListOf(CapabilityBody, 'What the endpoints can do.')
  readonly capabilities!: CapabilityBody[];
  @Field.ListOf(String, 'Points that could not be given back, and why.')
  readonly unresolved!: string[];
  @Field.ListOf(String, 'Points that the confirmed claim cost, as agreed.')
  readonly spent!: string[];
  @Field.Whole() readonly calls!: number;
  @Field.Whole('Milliseconds.') readonly durationMs!: number;
  @Field.Text('The whole report as the command line has it.') readonly json!: string;
}

@ApiSchema({ name: 'ConformanceRun' })
export class RunBody {
  @Field.Text('Your callback.') readonly baseUrl!: string;
  @Field.Text() readonly address!: string;
  @Field.Time() readonly startedAt!: Date;
  @Field.TimeOrNull('Null while it is under way.') readonly endedAt!: Date | null;
  @Field.Nested(ProgressBody) readonly progress!: ProgressBody;
  @Field.NestedOrNull(ReportBody) readonly report!: ReportBody | null;
  @Field.TextOrNull('Why there is no report.') readonly failure!: string | null;
}

@ApiSchema({ name: 'Conformance' })
export class ConformanceBody {
  @Field.Text('To be read before it is run.') readonly consequence!: string;
  @Field.NestedOrNull(RunBody) readonly run!: RunBody | null;
}

export const CONFORMANCE_MODELS = [ReportBody, RunBody];

const LOST =
  'The run ended without a report: the console that made it was stopped. Points that it took are given back.';

export function runBody(run: OwnConformanceRun): RunBody {
  const report = run.report as Report | null;
  const isLost = run.endedAt !== null && report === null;
  return {
    ...run,
    progress: run.progress as Progress,
    report: report && reportBody(report),
    failure: run.failure ?? (isLost ? LOST : null),
  };
}

function reportBody(report: Report): ReportBody {
  const { outcome, stopped, counts, checks, left, calls, durationMs } = report;
  const { passed, errors, warnings, skipped } = counts;
  return {
    ...{ outcome, stopped, passed, errors, warnings, skipped, calls, durationMs },
    checks: checks.map(checkBody),
    capabilities: Object.entries(report.capabilities).map(([name, isFound]) => ({ name, isFound })),
    unresolved: debtTexts(left, (state) => state !== 'claimed'),
    spent: debtTexts(left, (state) => state === 'claimed'),
    json: JSON.stringify(report, undefined, 2),
  };
}

type Left = Report['left'];

function debtTexts(
  { unresolved }: Left,
  isWanted: (state: Left['unresolved'][number]['state']) => boolean,
): string[] {
  return unresolved
    .filter(({ state }) => isWanted(state))
    .map(({ svcRedemptionId, points, state, why }) => {
      return `${svcRedemptionId}: ${points} ${points === 1 ? 'point is' : 'points are'} ${state}. ${why}`;
    });
}

function checkBody(check: Report['checks'][number]): CheckBody {
  const { id, status, severity, title, rule, remedy, observed, skippedBecause } = check;
  const exchanges = check.exchanges.map(({ purpose, sent, came }) => ({
    ...{ purpose, method: sent.method, target: sent.target, body: sent.body },
    ...{ status: came.status, answer: came.body, fault: came.fault },
  }));
  return { id, status, severity, title, rule, remedy, observed, skippedBecause, exchanges };
}

@ApiSchema({ name: 'OpenDeduction' })
class OpenDeductionBody {
  @Field.Uuid('svcRedemptionId of the deduction.') readonly redemptionId!: string;
  @Field.Text('Of the player, as it was sent.') readonly address!: string;
  @Field.Text('A decimal number.') readonly points!: string;
  @Field.TextOrNull('Of your answer; empty where it named none, null where no success was seen.')
  readonly transactionId!: string | null;
  @Field.Whole('How often giving it back was tried.') readonly attempts!: number;
  @Field.Time('When it is tried again.') readonly nextAt!: Date;
}

@ApiSchema({ name: 'OpenDeductions' })
export class OpenDeductionsBody {
  @Field.ListOf(OpenDeductionBody, 'At most 100.') readonly deductions!: OpenDeductionBody[];
}
