/** Parsers for `@Setting({ parse })`. Their messages say what is expected and never repeat the text. */
import { type Address, parseAddress } from '#libs/domain';

/** A list separated by commas; blanks around the parts are dropped, empty parts refused. */
export function commaList(text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.includes(''))
    throw new Error('must be a list separated by commas, without empty parts');
  return parts;
}

/** One of a few words. */
export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
    return word;
  };
}

/** URLs separated by commas, each with one of the schemes (without the colon). */
export function urlList(...schemes: string[]): (text: string) => string[] {
  return (text) => commaList(text).map(url(...schemes));
}

/** A URL with one of the schemes. */
export function url(...schemes: string[]): (text: string) => string {
  return (text) => {
    if (!URL.canParse(text) || !schemes.includes(new URL(text).protocol.slice(0, -1))) {
      throw new Error(
        `must be a URL that starts with ${schemes.map((s) => `${s}://`).join(' or ')}`,
      );
    }
    return text;
  };
}

/** A whole number of any size, zero or more. */
export function naturalBigInt(text: string): bigint {
  if (!/^\d+$/.test(text)) throw new Error('must be a whole number, zero or more');
  return BigInt(text);
}

/** A key of the given size in standard base64. */
export function base64Key(bytes: number): (text: string) => Buffer {
  return (text) => {
    const key = Buffer.from(text, 'base64');
    if (key.length !== bytes || key.toString('base64') !== text) {
      throw new Error(`must be ${bytes} bytes in base64 (make one: openssl rand -base64 ${bytes})`);
    }
    return key;
  };
}

/** An address of an EVM chain, in whatever capitals. */
export function address(text: string): Address {
  const parsed = parseAddress(text);
  if (!parsed) throw new Error('must be 0x and 40 hex digits');
  return parsed;
}

/** FINALITY: which blocks count as final. */
export function finality(text: string): string {
  if (!/^(finalized|safe|depth:[1-9]\d{0,6})$/.test(text))
    throw new Error('must be finalized, safe or depth:<blocks>');
  return text;
}
