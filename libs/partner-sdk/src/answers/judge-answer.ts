/**
 * The service's judgement of an answer: its status, its signature and its form. An answer that stays unclear is in
 * doubt, never a guess.
 */
import {
  type AnswerForm,
  ERROR_CODES,
  type ErrorCode,
  formOf,
  type Json,
  type Step,
} from './answer-form.js';
import { type BodyForm } from './body-form.js';

export interface AskedCall {
  readonly step: Step;
  /** The wallet of the request, which the answer to a balance repeats. Absent: not compared. */
  readonly address?: string | undefined;
}

/** A whole answer: status, headers and body arrived in time and within the size limit. */
export interface Reply extends BodyForm {
  readonly status: number;
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  /**
   * Of `X-API-SIGNATURE`: `valid` over the bytes of the body, `canonical` over its canonical form only. An answer that
   * needs none counts as `valid`.
   */
  readonly signature: 'valid' | 'canonical' | 'missing' | 'wrong';
  /** Milliseconds from the call to the end of the answer. */
  readonly tookMs?: number | undefined;
}

/** Why the service does not believe an answer, so that the effect of the call is unknown. */
export type Doubt =
  | 'redirect'
  | 'server-error'
  | 'rate-limited'
  | 'unexpected-status'
  | 'no-envelope'
  | 'malformed-json'
  | 'success-not-boolean'
  | 'invalid-answer'
  | 'error-internal'
  | 'unknown-code'
  | 'signature-missing'
  | 'signature-wrong'
  | 'invalid-transaction-id';

export interface Judgement {
  /** Undefined where the answer is believed. */
  readonly doubt: Doubt | undefined;
  /** Of the body where it is JSON of the right type, else `neither`. */
  readonly form: AnswerForm;
}

/**
 * A reply that cannot be believed is in doubt, whatever it says: a proxy between the service and the partner can invent
 * a refusal as well as a success.
 */
export function judgeAnswer(call: AskedCall, reply: Reply): Judgement {
  const form = formOf(call.step, believableJson(reply)?.value);
  const isDelivered = call.step === 'confirm' && reply.status === 200 && form.kind === 'success';
  // The answer to a confirmation moves neither points nor tokens: its success is enough, whatever the signature.
  return { form, doubt: isDelivered ? undefined : doubtOf(call, reply, form) };
}

/** The body where it is JSON of the right type. */
export function believableJson(reply: Reply): Reply['json'] {
  return isJsonType(reply) && !isCompressed(reply) ? reply.json : undefined;
}

const JSON_TYPE = /^application\/json\s*(;|$)/i;

export function isJsonType({ contentType }: Reply): boolean {
  return JSON_TYPE.test(contentType ?? '');
}

export function isCompressed({ contentEncoding = 'identity' }: Reply): boolean {
  return contentEncoding !== 'identity';
}

/** Statuses besides 200 that may carry the error envelope. 429 and 500 may carry one too, which is never final. */
const ENVELOPE_STATUSES: readonly number[] = [400, 401, 404, 409, 422];

/** The signature is checked before anything of the body counts. */
function doubtOf(call: AskedCall, reply: Reply, form: AnswerForm): Doubt | undefined {
  const { status, signature } = reply;
  if (signature === 'wrong') return 'signature-wrong';
  if (status !== 200) {
    if (!ENVELOPE_STATUSES.includes(status)) return statusDoubt(status);
    if (form.kind !== 'refusal' || form.wrong.length > 0) return 'no-envelope';
  }
  if (signature === 'missing' && call.step !== 'confirm') return 'signature-missing';
  return believableJson(reply) === undefined ? 'malformed-json' : formDoubt(call, form);
}

function statusDoubt(status: number): Doubt {
  if (status >= 300 && status < 400) return 'redirect';
  if (status === 429) return 'rate-limited';
  return status >= 500 ? 'server-error' : 'unexpected-status';
}

function formDoubt(call: AskedCall, form: AnswerForm): Doubt | undefined {
  if (form.kind === 'neither') return 'success-not-boolean';
  const [wrong] = form.wrong;
  if (wrong !== undefined) {
    const isId = wrong === 'partnerTransactionId' || wrong === 'partnerRevertId';
    return isId ? 'invalid-transaction-id' : 'invalid-answer';
  }
  if (form.kind === 'success') {
    return isForAnother(call, form) ? 'invalid-answer' : undefined;
  }
  if (!isErrorCode(form.code)) return 'unknown-code';
  return form.code === 'ERR-INTERNAL' ? 'error-internal' : undefined;
}

function isForAnother(
  { step, address }: AskedCall,
  { fields }: { readonly fields: Json },
): boolean {
  if (step !== 'balance' || address === undefined) return false;
  return String(fields['address']).toLowerCase() !== address.toLowerCase();
}

export function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code);
}

/**
 * The refusals that settle a call of the step. Another code proves nothing: a copy of a call that was carried out may
 * be refused with it.
 */
const SETTLING = {
  balance: ['ERR-USER-NOT-FOUND'],
  deduct: ['ERR-INSUFFICIENT-POINTS', 'ERR-USER-NOT-FOUND', 'ERR-DUPLICATE-REQUEST'],
  revert: ['ERR-TRANSACTION-NOT-FOUND', 'ERR-ALREADY-REVERTED', 'ERR-INVALID-AMOUNT'],
  confirm: ['ERR-DUPLICATE-REQUEST'],
} as const satisfies Readonly<Record<Step, readonly ErrorCode[]>>;

export type SettlingCode<S extends Step> = (typeof SETTLING)[S][number];

export function isSettling<S extends Step>(step: S, code: string): code is SettlingCode<S> {
  return (SETTLING[step] as readonly string[]).includes(code);
}
