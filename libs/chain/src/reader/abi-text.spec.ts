import { describe, expect, it } from '@jest/globals';
import { encodeAbiParameters, stringToHex } from 'viem';
import { decodeText } from './contract-facts.js';

const text = (value: string): string => encodeAbiParameters([{ type: 'string' }], [value]);

describe('a token’s symbol', () => {
  it.each([
    ['a string', text('SVC'), 'SVC'],
    ['a string beyond ASCII', text('₮ΞST'), '₮ΞST'],
    ['bytes32', stringToHex('MKR', { size: 32 }), 'MKR'],
    ['nothing', '0x', undefined],
    ['an empty string', text(''), undefined],
    ['control characters', text('A\u0000B'), undefined],
    ['no UTF-8', `0x${'ff'.repeat(32)}`, undefined],
    ['a length beyond the data', text('SVC').replace('03', '70'), undefined],
    ['an offset beyond the data', `0x${'f'.repeat(128)}`, undefined],
    ['a novel', text('x'.repeat(500)), undefined],
  ])('from %s', (_case, data, expected) => {
    expect(decodeText(data)).toBe(expected);
  });
});
