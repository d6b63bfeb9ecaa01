import { type ConsoleBody } from '../api/console-client';

export interface SignatureQuestion {
  /** The prefix of a key, or `callback`; null means the first available one. */
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

/** Makes a question of the answer to our call; undefined where there was no answer. */
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

/** Whether the query is missing, so that the commonest mistake, a signature over the query, could not be detected. */
export function lacksQuery({ path, requestId }: Pick<SignatureQuestion, 'path' | 'requestId'>) {
  // Of our calls only a balance request has a query, and its stored path includes the query.
  return !path.includes('?') && requestId === '';
}
