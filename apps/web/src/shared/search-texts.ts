/** The texts with these names in the parameters of an address; what is empty or no text is left out. */
export function textsOf<Name extends string>(
  given: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const texts = names.flatMap((name) => {
    const value = given[name];
    // The router parses what looks like a number.
    const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(texts) as Partial<Record<Name, string>>;
}
