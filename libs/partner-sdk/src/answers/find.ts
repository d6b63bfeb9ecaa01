/**
 * What the service finds of a call. A finding refines the service's own judgement of the answer (`judgeAnswer`), so the
 * two cannot differ.
 */
import { type AnswerForm } from './answer-form.js';
import {
  type AnswerCode,
  type Finding,
  type FindingCode,
  type NoAnswerCode,
  type NotSentCode,
} from './findings.js';
import {
  type AskedCall,
  believableJson,
  type Doubt,
  isCompressed,
  isJsonType,
  isSettling,
  judgeAnswer,
  type Judgement,
  type Reply,
} from './judge-answer.js';

/** How a call ended. */
export type CallEnd =
  | { readonly kind: 'nothing-sent'; readonly cause: NotSentCode }
  | { readonly kind: 'no-answer'; readonly cause: NoAnswerCode; readonly tookMs?: number }
  | ({ readonly kind: 'answer' } & Reply);

/** The first thing to know of the call: why the service does not act on it, or else a remark. */
export function findingOf(call: AskedCall, end: CallEnd): Finding {
  switch (end.kind) {
    case 'nothing-sent':
      return { code: end.cause, isUsable: false };
    case 'no-answer':
      return { code: end.cause, isUsable: false, tookMs: end.tookMs };
    case 'answer': {
      const judgement = judgeAnswer(call, end);
      const { form } = judgement;
      const code = codeOf(call, end, judgement);
      const wrong = form.kind === 'neither' ? [] : form.wrong;
      const isUsable = judgement.doubt === undefined && isSettled(call, judgement);
      return {
        ...{ code, isUsable, status: end.status, tookMs: end.tookMs },
        ...(wrong.length > 0 && { fields: wrong }),
      };
    }
  }
}

/** All that is to be said of a call: as each finding but the last would be mended, the next one shows. */
export function findingsOf(call: AskedCall, end: CallEnd): Finding[] {
  const findings: Finding[] = [];
  let next: CallEnd | undefined = end;
  while (next !== undefined) {
    const finding = findingOf(call, next);
    if (findings.some(({ code }) => code === finding.code)) break;
    // The data of a finding are those of the answer as it came.
    findings.push(end.kind === 'answer' ? { ...finding, status: end.status } : finding);
    next = next.kind === 'answer' ? MENDED[finding.code]?.(next) : undefined;
  }
  return findings;
}

type Answered = Extract<CallEnd, { kind: 'answer' }>;

const withSignature = (end: Answered): Answered => ({ ...end, signature: 'valid' });
/** Another status than 200, so that a missing signature stays that of a refusal. */
const withRefusal = (end: Answered): Answered | undefined =>
  end.status === 200 ? undefined : { ...end, status: 400 };

/** The answer without the fault. After any other finding nothing more can be said of it. */
const MENDED: Readonly<Partial<Record<FindingCode, (end: Answered) => Answered | undefined>>> = {
  'signature-missing': withSignature,
  'refusal-unsigned': withSignature,
  'signature-wrong': withSignature,
  'signature-canonical': withSignature,
  'content-type': (end) => ({ ...end, contentType: 'application/json' }),
  compressed: (end) => end.json && { ...end, contentEncoding: 'identity' },
  'success-status': (end) => ({ ...end, status: 200 }),
  'refusal-status': withRefusal,
  'error-internal': withRefusal,
  'slow-answer': (end) => ({ ...end, tookMs: 0 }),
};

function isSettled({ step }: AskedCall, { form }: Judgement): boolean {
  return form.kind === 'success' || (form.kind === 'refusal' && isSettling(step, form.code));
}

/** From this time on an answer is called slow: half of the shortest limit of the service. */
const SLOW_MS = 5000;

/** Doubts that may come of a body that cannot be read. */
const OF_BODY: readonly (Doubt | undefined)[] = [
  'signature-wrong',
  'signature-missing',
  'malformed-json',
  'no-envelope',
  'unexpected-status',
  'server-error',
];

function codeOf(call: AskedCall, reply: Reply, judgement: Judgement): AnswerCode {
  const { doubt, form } = judgement;
  if (doubt !== undefined) {
    const unread = OF_BODY.includes(doubt) ? bodyCode(reply) : undefined;
    return unread ?? doubtCode(call, reply, { doubt, form });
  }
  if (form.kind === 'refusal' && !isSettling(call.step, form.code)) {
    return form.code === 'ERR-AUTH-FAILED' ? 'auth-failed' : 'misplaced-code';
  }
  // Of a confirmation, which is delivered all the same.
  if (reply.signature === 'missing') return 'signature-missing';
  if (reply.signature === 'wrong') return 'signature-wrong';
  if (reply.signature === 'canonical') return 'signature-canonical';
  if ((reply.tookMs ?? 0) > SLOW_MS) return 'slow-answer';
  return form.kind === 'success' ? 'good-success' : 'good-refusal';
}

/** Why the body cannot be read. That matters more than its signature: what is not read was hardly meant to be signed. */
function bodyCode(reply: Reply): AnswerCode | undefined {
  if (reply.json !== undefined) return undefined;
  if (isCompressed(reply)) return 'compressed';
  if (reply.status >= 500) return 'server-error';
  return reply.bodyFault ?? 'not-json';
}

function doubtCode(
  { step }: AskedCall,
  reply: Reply,
  { doubt, form }: { readonly doubt: Doubt; readonly form: AnswerForm },
): AnswerCode {
  switch (doubt) {
    case 'redirect':
    case 'signature-wrong':
    case 'success-not-boolean':
    case 'error-internal':
    case 'unknown-code':
      return doubt;
    case 'signature-missing':
      return reply.status === 200 ? doubt : 'refusal-unsigned';
    case 'malformed-json':
      return isCompressed(reply) ? 'compressed' : 'content-type';
    case 'invalid-answer':
    case 'invalid-transaction-id':
      if (form.kind === 'refusal') return 'wrong-envelope';
      if (form.kind === 'success' && form.wrong.length === 0) return 'other-address';
      return step === 'confirm' ? 'success-not-boolean' : `${step}-fields`;
    case 'rate-limited':
      return isRefusal(form, reply) ? 'refusal-status' : doubt;
    case 'no-envelope':
    case 'server-error':
    case 'unexpected-status':
      return statusCode(reply, form);
  }
}

/** Of an answer whose status does not fit what it says, or which says nothing. */
function statusCode(reply: Reply, form: AnswerForm): AnswerCode {
  if (believableJson(reply) === undefined && reply.json !== undefined) {
    return isJsonType(reply) ? 'compressed' : 'content-type';
  }
  if (form.kind === 'success') return 'success-status';
  if (form.kind === 'neither') return reply.status >= 500 ? 'server-error' : 'success-not-boolean';
  if (form.wrong.length > 0) return 'wrong-envelope';
  return isRefusal(form, reply) ? 'refusal-status' : 'error-internal';
}

/** Whether it is a refusal that may not come with such a status: only ERR-INTERNAL may come with 429 or 500. */
function isRefusal(form: AnswerForm, { status }: Reply): boolean {
  if (form.kind !== 'refusal' || form.wrong.length > 0) return false;
  return form.code !== 'ERR-INTERNAL' || ![429, 500].includes(status);
}
