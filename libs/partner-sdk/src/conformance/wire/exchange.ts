/** One call and what came of it, as the report shows it. */

export type Step = 'balance' | 'deduct' | 'revert' | 'confirm';

export const ROUTES: Readonly<Record<Step, { readonly method: string; readonly path: string }>> = {
  balance: { method: 'GET', path: '/get-points-by-address' },
  deduct: { method: 'POST', path: '/deduct-points-by-address' },
  revert: { method: 'POST', path: '/revert-deduct-points' },
  confirm: { method: 'POST', path: '/confirm-redemption' },
};

export interface Sent {
  readonly method: string;
  /** The path with the query, as on the request line. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty where there is none. */
  readonly body: string;
}

export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly durationMs: number;
}

export interface NoAnswer {
  readonly kind: 'none';
  /** `not-sent`: no connection came about, so the partner cannot have done anything. */
  readonly fault: 'not-sent' | 'timeout' | 'broken' | 'too-large';
  readonly detail: string;
  readonly durationMs: number;
}

export type Came = Answer | NoAnswer;

/** The checks that say why an answer could not be read at all. */
export type ReadingFault =
  | 'http-answers'
  | 'http-in-time'
  | 'http-size'
  | 'http-redirect'
  | 'http-json'
  | 'http-content-type'
  | 'answer-envelope';

/** What a well-meaning reader makes of an answer, whatever else is wrong with it. */
export type Reading =
  | { readonly kind: 'success'; readonly fields: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refusal';
      readonly code: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'unreadable'; readonly fault: ReadingFault; readonly why: string };

export interface Exchange {
  readonly step: Step;
  /** What the call was made for, in a few words. */
  readonly purpose: string;
  readonly sent: Sent;
  readonly came: Came;
  readonly reading: Reading;
  /** Of the answer; `none` where none came. */
  readonly signature: 'valid' | 'missing' | 'wrong' | 'none';
}
