import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsBoolean, IsOptional, Matches } from 'class-validator';
import { type OpenDeduction } from '#libs/db';
import { type Report } from '#libs/partner-sdk/conformance';
import { type ConformanceRun } from './conformance.service.js';
import { MAYBE_TEXT, MAYBE_TIME, TIME, WALLET_PATTERN } from './page.dto.js';

const WALLET = { type: 'string', pattern: WALLET_PATTERN.source } as const;
const WALLET_FAULT = { message: '$property must be 0x and 40 hex digits.' };
const COUNT = { type: 'integer' } as const;

@ApiSchema({ name: 'ConformanceWish' })
export class ConformanceDto {
  @ApiProperty({ ...WALLET, description: 'A test player with five points or more.' })
  @Matches(WALLET_PATTERN, WALLET_FAULT)
  readonly address!: string;

  @ApiPropertyOptional({ ...WALLET, description: 'A player without points.' })
  @IsOptional()
  @Matches(WALLET_PATTERN, WALLET_FAULT)
  readonly emptyAddress?: string;

  @ApiProperty({ type: 'boolean', description: 'Whether a claim may be confirmed, for one point.' })
  @IsBoolean({ message: '$property must be true or false.' })
  readonly mayClaim!: boolean;
}

@ApiSchema({ name: 'ConformanceProgress' })
class ProgressBody {
  @ApiProperty(COUNT)
  readonly judged!: number;

  @ApiProperty(COUNT)
  readonly checks!: number;

  @ApiProperty(COUNT)
  readonly calls!: number;

  @ApiProperty({ type: 'string', description: 'What is being done.' })
  readonly now!: string;
}

@ApiSchema({ name: 'ConformanceExchange' })
class ExchangeBody {
  @ApiProperty({ type: 'string' })
  readonly purpose!: string;

  @ApiProperty({ type: 'string' })
  readonly method!: string;

  @ApiProperty({ type: 'string', description: 'Path and query.' })
  readonly target!: string;

  @ApiProperty({ type: 'string' })
  readonly body!: string;

  @ApiProperty({ type: Number, nullable: true, description: 'Null where no answer came.' })
  readonly status!: number | null;

  @ApiProperty({ type: 'string', description: 'Its beginning, where it is long.' })
  readonly answer!: string;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Why no answer came.' })
  readonly fault!: string | null;
}

@ApiSchema({ name: 'ConformanceCheck' })
class CheckBody {
  @ApiProperty({ type: 'string' })
  readonly id!: string;

  @ApiProperty({ enum: ['passed', 'failed', 'skipped'] })
  readonly status!: 'passed' | 'failed' | 'skipped';

  @ApiProperty({ enum: ['error', 'warning', 'info'] })
  readonly severity!: 'error' | 'warning' | 'info';

  @ApiProperty({ type: 'string' })
  readonly title!: string;

  @ApiProperty({ type: 'string' })
  readonly rule!: string;

  @ApiProperty({ type: 'string', description: 'How to mend it.' })
  readonly remedy!: string;

  @ApiProperty({ ...MAYBE_TEXT, description: 'What was seen, where it failed.' })
  readonly observed!: string | null;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Why it was not tried.' })
  readonly skippedBecause!: string | null;

  @ApiProperty({ type: [ExchangeBody], description: 'The calls that show the failure.' })
  readonly exchanges!: ExchangeBody[];
}

@ApiSchema({ name: 'ConformanceCapability' })
class CapabilityBody {
  @ApiProperty({ type: 'string' })
  readonly name!: string;

  @ApiProperty({ type: Boolean, nullable: true, description: 'Null: it could not be found out.' })
  readonly isFound!: boolean | null;
}

@ApiSchema({ name: 'ConformanceReport' })
class ReportBody {
  @ApiProperty({ enum: ['conforms', 'violates', 'incomplete'] })
  readonly outcome!: Report['outcome'];

  @ApiProperty({ ...MAYBE_TEXT, description: 'Why the run ended early.' })
  readonly stopped!: string | null;

  @ApiProperty(COUNT)
  readonly passed!: number;

  @ApiProperty(COUNT)
  readonly errors!: number;

  @ApiProperty(COUNT)
  readonly warnings!: number;

  @ApiProperty(COUNT)
  readonly skipped!: number;

  @ApiProperty({ type: [CheckBody] })
  readonly checks!: CheckBody[];

  @ApiProperty({ type: [CapabilityBody], description: 'What the endpoints can do.' })
  readonly capabilities!: CapabilityBody[];

  @ApiProperty({ type: [String], description: 'Points that could not be given back, and why.' })
  readonly unresolved!: string[];

  @ApiProperty({ type: [String], description: 'Points that the confirmed claim cost, as agreed.' })
  readonly spent!: string[];

  @ApiProperty(COUNT)
  readonly calls!: number;

  @ApiProperty({ ...COUNT, description: 'Milliseconds.' })
  readonly durationMs!: number;

  @ApiProperty({ type: 'string', description: 'The whole report as the command line has it.' })
  readonly json!: string;
}

@ApiSchema({ name: 'ConformanceRun' })
export class RunBody {
  @ApiProperty({ type: 'string', description: 'Your callback.' })
  readonly baseUrl!: string;

  @ApiProperty({ type: 'string' })
  readonly address!: string;

  @ApiProperty(TIME)
  readonly startedAt!: string;

  @ApiProperty({ ...MAYBE_TIME, description: 'Null while it is under way.' })
  readonly endedAt!: string | null;

  @ApiProperty({ type: ProgressBody })
  readonly progress!: ProgressBody;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/ConformanceReport' }, { type: 'null' }] })
  readonly report!: ReportBody | null;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Why there is no report.' })
  readonly failure!: string | null;
}

@ApiSchema({ name: 'Conformance' })
export class ConformanceBody {
  @ApiProperty({ type: 'string', description: 'To be read before it is run.' })
  readonly consequence!: string;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/ConformanceRun' }, { type: 'null' }] })
  readonly run!: RunBody | null;
}

export const CONFORMANCE_MODELS = [ReportBody, RunBody];

export function runBody(run: ConformanceRun): RunBody {
  const { baseUrl, address, startedAtMs, endedAtMs, progress, report, failure } = run;
  return {
    ...{ baseUrl, address, progress, startedAt: new Date(startedAtMs).toISOString() },
    endedAt: endedAtMs === undefined ? null : new Date(endedAtMs).toISOString(),
    ...{ report: report === undefined ? null : reportBody(report), failure: failure ?? null },
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
  @ApiProperty({ type: 'string', format: 'uuid', description: 'svcRedemptionId of the deduction.' })
  readonly redemptionId!: string;

  @ApiProperty({ type: 'string', description: 'Of the player, as it was sent.' })
  readonly address!: string;

  @ApiProperty({ type: 'string', description: 'A decimal number.' })
  readonly points!: string;

  @ApiProperty({
    ...MAYBE_TEXT,
    description: 'Of your answer; empty where it named none, null where no success was seen.',
  })
  readonly transactionId!: string | null;

  @ApiProperty({ ...COUNT, description: 'How often giving it back was tried.' })
  readonly attempts!: number;

  @ApiProperty({ ...TIME, description: 'When it is tried again.' })
  readonly nextAt!: string;
}

@ApiSchema({ name: 'OpenDeductions' })
export class OpenDeductionsBody {
  @ApiProperty({ type: [OpenDeductionBody], description: 'At most 100.' })
  readonly deductions!: OpenDeductionBody[];
}

export function openDeductionBody({ dueAt, ...deduction }: OpenDeduction): OpenDeductionBody {
  return { ...deduction, nextAt: dueAt.toISOString() };
}
