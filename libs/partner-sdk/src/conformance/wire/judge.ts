/** Judges a call: the signature of its answer, what the service finds of it, and what a lenient reader understands. */
import { isUtf8 } from 'node:buffer';
import { formOf } from '../../answers/answer-form.js';
import { bodyForm, type CallEnd, explain, type Finding, findingsOf } from '../../answers/index.js';
import { verify, verifyJson } from '../../signing/signing.js';
import {
  type Answer,
  type Exchange,
  type NoAnswer,
  type Outcome,
  type Reading,
  type Sent,
  type Step,
} from './exchange.js';

interface Call {
  readonly step: Step;
  readonly sent: Sent;
  readonly came: Outcome;
}

export function judge(
  { step, sent, came }: Call,
  { apiKey, sharedSecret }: { readonly apiKey: string; readonly sharedSecret: string },
): Pick<Exchange, 'signature' | 'findings' | 'reading'> {
  if (came.kind === 'none') {
    const findings = findingsOf({ step }, endWithout(came));
    return { signature: 'none', findings, reading: unreadable(findings) };
  }
  const signature = signatureOf(sharedSecret, sent, came);
  // To a call without the partner's key there is no secret that both sides know.
  const isSignable = sent.headers['x-api-key'] === apiKey;
  const end = endOf(came, isSignable ? signature : 'valid');
  const findings = findingsOf({ step }, end);
  return {
    signature: signature === 'canonical' ? 'valid' : signature,
    ...{ findings, reading: readAnswer(step, end, findings) },
  };
}

type Answered = Extract<CallEnd, { kind: 'answer' }>;

function endWithout(came: NoAnswer): CallEnd {
  return came.fault === 'not-sent'
    ? { kind: 'nothing-sent', cause: came.cause }
    : { kind: 'no-answer', cause: came.cause, tookMs: came.durationMs };
}

function endOf(
  { status, headers, body, durationMs }: Answer,
  signature: Answered['signature'],
): Answered {
  return {
    ...bodyForm(isUtf8(body) ? body.toString() : undefined),
    ...{ kind: 'answer', status, signature, tookMs: durationMs },
    contentType: headers['content-type'],
    contentEncoding: headers['content-encoding'],
  };
}

/** `canonical`: it fits the canonical form of the body only, and not the bytes that were sent. */
function signatureOf(secret: string, sent: Sent, { headers, body }: Answer): Answered['signature'] {
  const given = headers['x-api-signature'];
  if (given === undefined) return 'missing';
  const { method, target: url } = sent;
  const message = { method, url, requestId: sent.headers['x-api-request'], body };
  if (verify(secret, message, given)) return 'valid';
  return verifyJson(secret, message, given) ? 'canonical' : 'wrong';
}

/** Understands an answer whatever else is wrong with it, so that a mistake in its form does not hide how the partner behaves. */
function readAnswer(step: Step, end: Answered, findings: readonly Finding[]): Reading {
  const isRedirect = end.status >= 300 && end.status < 400;
  const form = isRedirect ? NEITHER : formOf(step, end.json?.value);
  if (form.kind === 'success') return { kind: 'success', fields: form.fields };
  if (form.kind === 'refusal' && form.wrong.length === 0) return form;
  return unreadable(findings);
}

const NEITHER = { kind: 'neither' } as const;

/** By the last finding: nothing more can be said of the answer. */
function unreadable(findings: readonly Finding[]): Reading {
  const last = findings.at(-1);
  const { rule = 'http-answers', says = '' } = last === undefined ? {} : explain(last);
  return { kind: 'unreadable', fault: rule, why: says };
}
