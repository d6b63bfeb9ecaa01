/** A call as it came, whatever server it came through. */
export interface CallbackCall {
  /** Upper case. */
  readonly method: string;
  /** The URL or its path and query exactly as sent: the path is signed. */
  readonly url: string;
  /** Names in lower case, as Node has them. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they came, before anybody parsed them; empty where there are none. */
  readonly body: Uint8Array;
}

export interface CallbackAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** To be sent byte for byte as it is: it is signed. Empty for HEAD. */
  readonly body: string;
}

/** A header that was sent several times is one text, as HTTP has it. */
export function headerOf(
  { headers }: Pick<CallbackCall, 'headers'>,
  name: string,
): string | undefined {
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}
