import { parseArgs } from 'node:util';

/** The options of a benchmark's command line: each `--name value`, or its default. */
export type Options<D extends Record<string, string>> = { readonly [K in keyof D]: string };

/** @throws Error that lists the options, where an unknown one is given */
export function readOptions<D extends Record<string, string>>(defaults: D): Options<D> {
  const options = Object.fromEntries(
    Object.keys(defaults).map((name) => [name, { type: 'string' as const }]),
  );
  try {
    return { ...defaults, ...parseArgs({ options }).values };
  } catch (cause) {
    const known = Object.entries(defaults).map(([name, value]) => `--${name} ${value}`);
    throw new Error(`Options and their defaults: ${known.join(' ')}`, { cause });
  }
}

/** Parses whole numbers separated by commas. */
export function numbersOf(text: string): number[] {
  return text.split(',').map((part) => {
    const number = Number(part.replaceAll('_', ''));
    if (!Number.isSafeInteger(number) || number < 0)
      throw new Error(`${part} is not a whole number`);
    return number;
  });
}

export function numberOf(text: string): number {
  const [number, ...more] = numbersOf(text);
  if (number === undefined || more.length > 0) throw new Error(`${text} is not one whole number`);
  return number;
}
