/**
 * The symbol() of a token: a string (Contract ABI, dynamic), or bytes32 as the oldest tokens have it.
 * @param data the result of the call, hex
 * @returns undefined where it is neither, empty, or holds what cannot be printed
 */
export function decodeText(data: string): string | undefined {
  const bytes = Buffer.from(data.slice(2), 'hex');
  const content = bytes.length === 32 ? untilZero(bytes) : dynamic(bytes);
  if (!content || content.length === 0 || content.length > 64) return undefined;
  const text = new TextDecoder('utf-8', { fatal: false }).decode(content).trim();
  return text !== '' && !/[\p{C}\uFFFD]/u.test(text) ? text : undefined;
}

function untilZero(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function dynamic(bytes: Buffer): Buffer | undefined {
  const offset = smallWord(bytes, 0);
  const length = offset === undefined ? undefined : smallWord(bytes, offset);
  if (offset === undefined || length === undefined) return undefined;
  const start = offset + 32;
  return start + length <= bytes.length ? bytes.subarray(start, start + length) : undefined;
}

/** A word that must be a small number. */
function smallWord(bytes: Buffer, at: number): number | undefined {
  if (at + 32 > bytes.length) return undefined;
  const value = BigInt(`0x${bytes.toString('hex', at, at + 32)}`);
  return value <= 1_000_000n ? Number(value) : undefined;
}
