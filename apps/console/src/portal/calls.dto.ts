/** Our calls to a partner, for its engineers: what was asked, what came, and what the signature of the answer should have been over. */
import { createHash } from 'node:crypto';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { type OwnCall } from '#libs/db';
import { PARTNER_STEPS, type PartnerStep } from '#libs/domain';
import { type CallRecord } from '#libs/partner-client';
import { signedContent } from '#libs/signing';
import { BaseStringBody } from './base-string.js';
import {
  BEFORE,
  BEFORE_FAULT,
  MAYBE_TEXT,
  MAYBE_TIME,
  text,
  TIME,
  TimeFilter,
  UUID,
  UUID_PATTERN,
} from './page.dto.js';

const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;
const MAYBE_COUNT = { type: Number, nullable: true } as const;

export class CallsQuery extends TimeFilter {
  @ApiPropertyOptional(BEFORE)
  @IsOptional()
  @Matches(UUID_PATTERN, BEFORE_FAULT)
  readonly before?: string;

  @ApiPropertyOptional({ enum: PARTNER_STEPS })
  @IsOptional()
  @IsIn(PARTNER_STEPS, { message: '$property must be a step.' })
  readonly step?: PartnerStep;

  @ApiPropertyOptional({ enum: OUTCOMES })
  @IsOptional()
  @IsIn(OUTCOMES, { message: '$property must be answer, no-answer or nothing-sent.' })
  readonly outcome?: (typeof OUTCOMES)[number];
}

@ApiSchema({ name: 'OwnCallRequest' })
export class CallRequestBody {
  @ApiProperty({ type: 'string' })
  readonly method!: string;

  @ApiProperty({ type: 'string', description: 'Path and query.' })
  readonly target!: string;

  @ApiProperty({ ...MAYBE_TEXT, description: 'As it went out; null where there is none.' })
  readonly body!: string | null;
}

@ApiSchema({ name: 'OwnCallAnswer' })
export class CallAnswerBody {
  @ApiProperty({ type: 'integer' })
  readonly status!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Those that are kept, by their names in lower case.',
  })
  readonly headers!: Readonly<Record<string, string>>;

  @ApiProperty({ type: 'string', description: 'The beginning, in one line.' })
  readonly body!: string;

  @ApiProperty({ type: 'integer', description: 'Bytes of the body, all of it.' })
  readonly bodyBytes!: number;
}

@ApiSchema({ name: 'OwnCall' })
export class CallBody {
  @ApiProperty({ ...UUID, description: 'X-API-REQUEST.' })
  readonly requestId!: string;

  @ApiProperty({ type: String, format: 'uuid', nullable: true, description: 'Null: a balance.' })
  readonly redemptionId!: string | null;

  @ApiProperty({ enum: PARTNER_STEPS })
  readonly step!: PartnerStep;

  @ApiProperty(TIME)
  readonly begunAt!: string;

  @ApiProperty({ ...MAYBE_TIME, description: 'Null: under way, or its end was never learnt.' })
  readonly endedAt!: string | null;

  @ApiProperty({ type: String, enum: OUTCOMES, nullable: true })
  readonly outcome!: string | null;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Whether the answer is believed, and why not.' })
  readonly verdict!: string | null;

  @ApiProperty({ ...MAYBE_TEXT, description: 'Why there is no answer.' })
  readonly cause!: string | null;

  @ApiProperty({ ...MAYBE_TEXT, description: 'What the system said of a failure.' })
  readonly error!: string | null;

  @ApiProperty({ ...MAYBE_COUNT, description: 'Milliseconds.' })
  readonly tookMs!: number | null;

  @ApiProperty({ ...MAYBE_COUNT, description: 'Your `Date` minus our time, in seconds.' })
  readonly clockDifferenceSeconds!: number | null;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/OwnCallRequest' }, { type: 'null' }] })
  readonly request!: CallRequestBody | null;

  @ApiProperty({ anyOf: [{ $ref: '#/components/schemas/OwnCallAnswer' }, { type: 'null' }] })
  readonly answer!: CallAnswerBody | null;

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/SignedBytes' }, { type: 'null' }],
    description: 'What the signature of the answer is over; null where it is not known.',
  })
  readonly baseString!: BaseStringBody | null;
}

@ApiSchema({ name: 'OwnCalls' })
export class CallsBody {
  @ApiProperty({ type: [CallBody], description: 'Newest first.' })
  readonly calls!: CallBody[];

  @ApiProperty({ ...MAYBE_TEXT, description: '`before` of the next page; null on the last.' })
  readonly next!: string | null;
}

export const CALL_MODELS = [BaseStringBody, CallRequestBody, CallAnswerBody];

export function callBody({ record, ...call }: OwnCall): CallBody {
  // Rows of releases before have fewer fields.
  const made = (record ?? {}) as Partial<CallRecord>;
  const { requestId, redemptionId, step, outcome } = call;
  return {
    ...{ requestId, redemptionId, step, outcome },
    ...{ begunAt: text(call.begunAt), endedAt: text(call.endedAt) },
    ...{ verdict: made.verdict ?? null, cause: made.cause ?? null, error: made.error ?? null },
    tookMs: made.timings?.total ?? null,
    clockDifferenceSeconds: made.clockDifferenceSeconds ?? null,
    request: requestOf(made),
    ...answerOf(made, requestId),
  };
}

function requestOf({ method, path, target = path, requestBody }: Partial<CallRecord>) {
  if (method === undefined || target === undefined) return null;
  return { method, target, body: requestBody ?? null };
}

function answerOf(made: Partial<CallRecord>, requestId: string) {
  const { status, answerHeaders: headers = {}, excerpt = '', answerBytes = 0 } = made;
  const { method, path, answerSha256 } = made;
  if (status === undefined) return { answer: null, baseString: null };
  const answer = { status, headers, body: excerpt, bodyBytes: answerBytes };
  if (method === undefined || path === undefined) return { answer, baseString: null };
  const content = signedContent({ method, path, requestId, body: excerpt });
  const isWhole = answerBytes === 0 || sha256(excerpt) === answerSha256;
  const signed = { text: content, bytes: Buffer.byteLength(content), sha256: sha256(content) };
  return { answer, baseString: { ...signed, isWhole } };
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
