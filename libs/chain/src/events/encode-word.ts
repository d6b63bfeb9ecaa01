/**
 * One static ABI value as its 32-byte word.
 * @param type canonical: `uint256`, `int64`, `address`, `bool`, `bytes32`
 * @returns 64 lower-case hex digits, or undefined where the text is not a value of the type
 */
export function encodeWord(type: string, text: string): string | undefined {
  const integer = /^(u?)int(\d+)$/.exec(type);
  if (integer) return encodeInteger(text, Number(integer[2]), integer[1] === '');
  if (type === 'address') {
    return /^0x[0-9a-f]{40}$/i.test(text)
      ? text.slice(2).toLowerCase().padStart(64, '0')
      : undefined;
  }
  if (type === 'bool') {
    if (text !== 'true' && text !== 'false') return undefined;
    return (text === 'true' ? '1' : '0').padStart(64, '0');
  }
  const size = Number(/^bytes(\d+)$/.exec(type)?.[1]);
  return new RegExp(`^0x[0-9a-f]{${size * 2}}$`, 'i').test(text)
    ? text.slice(2).toLowerCase().padEnd(64, '0')
    : undefined;
}

function encodeInteger(text: string, bits: number, signed: boolean): string | undefined {
  if (!/^-?\d{1,78}$/.test(text) && !/^0x[0-9a-f]{1,64}$/i.test(text)) return undefined;
  const value = BigInt(text);
  const limit = 1n << BigInt(signed ? bits - 1 : bits);
  if (value >= limit || value < (signed ? -limit : 0n)) return undefined;
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0');
}
