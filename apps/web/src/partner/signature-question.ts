import { type ConsoleBody } from '../api/console-client';

/** What stands in the form of the signature debugger. */
export interface SignatureQuestion {
  /** The beginning of a key, or `callback`; null: the first there is. */
  readonly secretOf: string | null;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly body: string;
  readonly signature: string;
}

export const CALLBACK = 'callback';

export const NO_QUESTION: SignatureQuestion = {
  ...{ secretOf: null, method: 'GET', path: '', requestId: '', body: '', signature: '' },
};

/** The answer to a call of ours, as a question; undefined where none came. */
export function questionOf({
  request,
  answer,
  requestId,
}: Pick<ConsoleBody<'OwnCall'>, 'request' | 'answer' | 'requestId'>):
  SignatureQuestion | undefined {
  if (request === null || answer === null) return undefined;
  const { method, target: path } = request;
  const signature = answer.headers['x-api-signature'] ?? '';
  return { secretOf: CALLBACK, method, path, requestId, body: answer.body, signature };
}

/** Whether a signature over the query, the commonest mistake, could not be found for want of the query. */
export function lacksQuery({ path, requestId }: Pick<SignatureQuestion, 'path' | 'requestId'>) {
  // Of our calls only that of a balance has one, and its path has come with it.
  return !path.includes('?') && requestId === '';
}
