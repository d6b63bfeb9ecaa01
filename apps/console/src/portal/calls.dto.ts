/**
 * Our calls to a partner, for its engineers: request, answer, verdict, and the bytes that the signature has to cover.
 */
import { createHash } from 'node:crypto';
import { ApiSchema } from '@nestjs/swagger';
import { type OwnCall } from '#libs/db';
import { PARTNER_STEPS, type PartnerStep } from '#libs/domain';
import { Field } from '#libs/openapi';
import { type CallRecord } from '#libs/partner-client';
import { explain } from '#libs/partner-sdk/answers';
import { signedContent } from '#libs/signing';
import * as Input from '../http/inputs.js';
import { BaseStringBody } from './base-string.js';
import { BeforeUuid, TimeFilter } from './page.dto.js';

const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;

export class CallsQuery extends TimeFilter {
  @Input.Optional() @BeforeUuid() readonly before?: string;
  @Input.Optional() @Input.OneOf(PARTNER_STEPS, 'be a step') readonly step?: PartnerStep;

  @Input.Optional()
  @Input.OneOf(OUTCOMES, 'be answer, no-answer or nothing-sent')
  readonly outcome?: (typeof OUTCOMES)[number];

  @Input.Optional()
  @Input.OneOf(['all', 'failed'], 'be all or failed', {
    description: '`failed`: without an answer that can be used.',
  })
  readonly which?: 'all' | 'failed';
}

@ApiSchema({ name: 'OwnCallExplanation' })
export class CallExplanationBody {
  @Field.Text('What was found: a code.') readonly code!: string;
  @Field.Flag('Whether we act on your answer.') readonly isUsable!: boolean;
  @Field.TextOrNull('The rule that it concerns: the id of a check of the conformance tester.')
  readonly rule!: string | null;
  @Field.Text('In words.') readonly says!: string;
  @Field.TextOrNull('What to do; null: nothing.') readonly remedy!: string | null;
}

@ApiSchema({ name: 'OwnCallRequest' })
export class CallRequestBody {
  @Field.Text() readonly method!: string;
  @Field.Text('Path and query.') readonly target!: string;
  @Field.TextOrNull('As it went out; null where there is none.') readonly body!: string | null;
}

@ApiSchema({ name: 'OwnCallAnswer' })
export class CallAnswerBody {
  @Field.Whole() readonly status!: number;
  @Field.TextByName('Those that are kept, by their names in lower case.')
  readonly headers!: Readonly<Record<string, string>>;
  @Field.Text('The beginning, in one line.') readonly body!: string;
  @Field.Whole('Bytes of the body, as far as it came.') readonly bodyBytes!: number;
}

@ApiSchema({ name: 'OwnCall' })
export class CallBody {
  @Field.Uuid('X-API-REQUEST.') readonly requestId!: string;
  @Field.UuidOrNull('Null: a balance.') readonly redemptionId!: string | null;
  @Field.OneOf(PARTNER_STEPS) readonly step!: PartnerStep;
  @Field.Time() readonly begunAt!: Date;
  @Field.TimeOrNull('Null: under way, or the outcome is not known.')
  readonly endedAt!: Date | null;
  @Field.OneOfOrNull(OUTCOMES) readonly outcome!: string | null;
  @Field.NestedOrNull(CallExplanationBody, 'Null: under way, or the outcome is not known.')
  readonly explanation!: CallExplanationBody | null;
  @Field.TextOrNull('Whether the answer is believed, and why not.')
  readonly verdict!: string | null;
  @Field.TextOrNull('Why there is no answer.') readonly cause!: string | null;
  @Field.TextOrNull('What the system said of a failure.') readonly error!: string | null;
  @Field.NumberOrNull('Milliseconds.') readonly tookMs!: number | null;
  @Field.NumberOrNull('Your `Date` minus our time, in seconds.')
  readonly clockDifferenceSeconds!: number | null;
  @Field.NestedOrNull(CallRequestBody) readonly request!: CallRequestBody | null;
  @Field.NestedOrNull(CallAnswerBody) readonly answer!: CallAnswerBody | null;
  @Field.NestedOrNull(
    BaseStringBody,
    'What the signature of the answer is over; null where it is not known.',
  )
  readonly baseString!: BaseStringBody | null;
}

@ApiSchema({ name: 'OwnCalls' })
export class CallsBody {
  @Field.ListOf(CallBody, 'Newest first.') readonly calls!: CallBody[];
  @Field.TextOrNull('`before` of the next page; null on the last.') readonly next!: string | null;
}

export const CALL_MODELS = [BaseStringBody, CallExplanationBody, CallRequestBody, CallAnswerBody];

export function callBody({ record, ...call }: OwnCall): CallBody {
  const made = (record ?? {}) as Partial<CallRecord>;
  return {
    ...call,
    explanation: explanationOf(made),
    ...{ verdict: made.verdict ?? null, cause: made.cause ?? null, error: made.error ?? null },
    tookMs: made.timings?.total ?? null,
    clockDifferenceSeconds: made.clockDifferenceSeconds ?? null,
    request: requestOf(made),
    ...answerOf(made, call),
  };
}

function explanationOf({ finding }: Partial<CallRecord>): CallExplanationBody | null {
  if (finding === undefined) return null;
  const { rule = null, remedy = null, ...explanation } = explain(finding);
  return { ...explanation, rule, remedy };
}

function requestOf({ method, path, target = path, requestBody }: Partial<CallRecord>) {
  if (method === undefined || target === undefined) return null;
  return { method, target, body: requestBody ?? null };
}

function answerOf(
  made: Partial<CallRecord>,
  { requestId, outcome }: Pick<OwnCall, 'requestId' | 'outcome'>,
) {
  const { status, answerHeaders: headers = {}, excerpt = '', answerBytes = 0 } = made;
  const { method, path, answerSha256 } = made;
  if (status === undefined) return { answer: null, baseString: null };
  const answer = { status, headers, body: excerpt, bodyBytes: answerBytes };
  if (method === undefined || path === undefined) return { answer, baseString: null };
  const content = signedContent({ method, path, requestId, body: excerpt });
  const isKept = answerBytes === 0 || sha256(excerpt) === answerSha256;
  // Where there is no whole answer, what is kept is a part of the body.
  const isWhole = outcome === 'answer' && isKept;
  const signed = { text: content, bytes: Buffer.byteLength(content), sha256: sha256(content) };
  return { answer, baseString: { ...signed, isWhole } };
}

function sha256(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
