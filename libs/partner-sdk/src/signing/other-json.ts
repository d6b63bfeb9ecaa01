/** Prints JSON as other programs print it, to find out which text they signed. */

export function reprint(body: string, print: (value: unknown) => string): string | undefined {
  try {
    return print(JSON.parse(body));
  } catch {
    // The body is not JSON, or nested too deep to be printed.
    return undefined;
  }
}

export function tryPrint(value: unknown, print: (value: unknown) => string): string | undefined {
  try {
    return print(value);
  } catch {
    // The value is nested too deep to be printed.
    return undefined;
  }
}

/** Prints as Python's `json.dumps`. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${pythonJson(v)}`);
  return `{${members.join(', ')}}`;
}

/** Adds `.0` to each whole number outside a string, as languages do that have read the number as a float. */
export function withDecimals(body: string): string {
  return body.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d+$/.test(token) ? `${token}.0` : token,
  );
}

export function membersOf(body: string): [string, unknown][] | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.entries(value) : undefined;
  } catch {
    // The body is not JSON and has no keys.
    return undefined;
  }
}

export function* ordersOf<T>(items: readonly T[]): Generator<T[]> {
  if (items.length <= 1) {
    yield [...items];
    return;
  }
  for (const [at, first] of items.entries()) {
    for (const rest of ordersOf(items.toSpliced(at, 1))) yield [first, ...rest];
  }
}
