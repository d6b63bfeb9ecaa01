const DEPTH = 4;

/** Why a server could not be asked, by its code (`ECONNREFUSED`), or its name (`TimeoutError`): never a text, which may hold its URL. */
export function reachFailure(error: Error): string | undefined {
  let cause = error.cause;
  let named: string | undefined;
  for (let depth = 0; depth < DEPTH && isThrown(cause); depth++) {
    const { code, name } = cause;
    if (typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code)) return code;
    if (TELLING.includes(String(name))) named = String(name);
    ({ cause } = cause);
  }
  return named;
}

const TELLING = ['TimeoutError', 'RangeError', 'SyntaxError'];

interface Thrown {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly cause?: unknown;
}

function isThrown(value: unknown): value is Thrown {
  return typeof value === 'object' && value !== null;
}
