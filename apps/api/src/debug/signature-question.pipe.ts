import { Injectable, type PipeTransform } from '@nestjs/common';
import { type SignatureQuestion } from '#libs/signing';
import { HttpProblem } from '#libs/service';

export type AskedSignature = Omit<SignatureQuestion, 'secret'>;

const METHOD = /^[A-Za-z]{1,20}$/;
const LONGEST = 2048;

/** `{ method, path, requestId?, body?, signature? }`, all texts; the body is the one that was sent, as a text, not as JSON. */
@Injectable()
export class SignatureQuestionPipe implements PipeTransform<unknown, AskedSignature> {
  transform(value: unknown): AskedSignature {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new HttpProblem(400, 'Send a JSON object: method, path, requestId, body, signature.');
    }
    const fields = value as Readonly<Record<string, unknown>>;
    const method = text(fields, 'method', LONGEST);
    const path = text(fields, 'path', LONGEST);
    if (method === undefined || !METHOD.test(method)) {
      throw new HttpProblem(400, 'method must be given, such as GET.');
    }
    if (path === undefined || path === '') {
      throw new HttpProblem(400, 'path must be given: that of the URL as it was sent.');
    }
    return {
      method,
      path,
      requestId: text(fields, 'requestId', LONGEST),
      body: text(fields, 'body', Infinity) ?? '',
      given: text(fields, 'signature', LONGEST),
    };
  }
}

function text(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  longest: number,
): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string' || value.length > longest) {
    const limit = longest === Infinity ? '' : ` of at most ${longest} characters`;
    throw new HttpProblem(400, `${name} must be a text${limit}, or left out.`);
  }
  return value;
}
