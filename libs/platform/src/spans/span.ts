/** What a span may say. Never a secret, a statement's parameter, a URL's query, or what others wrote. */
export type SpanAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface SpanStart {
  readonly name: string;
  /** `client`: we ask another program and wait. Default `internal`. */
  readonly kind?: 'client' | 'internal';
  readonly attributes?: SpanAttributes;
}

/** A span that is open. */
export interface OpenSpan {
  note(attributes: SpanAttributes): void;
  /** It failed, with a code of ours or a word; never with a message, which may quote what was asked. */
  fail(code: string): void;
}

/** Where traces are off. */
export const NO_SPAN: OpenSpan = {
  note: () => undefined,
  fail: () => undefined,
};
