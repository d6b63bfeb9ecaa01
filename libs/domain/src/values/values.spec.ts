/** Addresses, blocks, days, errors, and what is signed. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { accountIdText, type Address, isUnheldAddress, parseAccountId } from './address.js';
import { aheadOfClock, type BlockHash, type BlockRef, differenceOf } from './block.js';
import { dayOf, dayText, parseDay, SECONDS_PER_DAY } from './day.js';
import { LowmarkError, PermanentError, RetryableError } from './errors.js';
import { canonicalJson } from './canonical-json.js';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

describe('parseAccountId', () => {
  it('reads chain and address, and writes the address in lower case', () => {
    const id = parseAccountId(`eip155:2741:${ADDRESS}`);
    expect(id).toEqual({ chainId: 2741, address: ADDRESS.toLowerCase() });
    expect(id && accountIdText(id)).toBe(`eip155:2741:${ADDRESS.toLowerCase()}`);
  });

  it.each([
    ADDRESS,
    `1:${ADDRESS}`,
    `EIP155:1:${ADDRESS}`,
    `eip155:01:${ADDRESS}`,
    `eip155:0:${ADDRESS}`,
    `eip155:9999999999999999:${ADDRESS}`,
    `eip155:1:${ADDRESS}0`,
    `eip155:1:${ADDRESS} `,
    'bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6',
    '',
  ])('refuses %s', (text) => {
    expect(parseAccountId(text)).toBeUndefined();
  });
});

describe('isUnheldAddress', () => {
  const low = (digits: string): Address => `0x${digits.padStart(40, '0')}` as Address;
  const high = (digits: string): Address => `0x${digits.padEnd(40, '0')}` as Address;

  it.each([
    ['zero', low('')],
    ['ecrecover', low('1')],
    ['P256VERIFY', low('100')],
    ['ArbSys', low('64')],
    ['ArbOS', low('a4b05')],
    ['the staking contract of BNB Chain', low('2002')],
    ['the token of Polygon', low('1010')],
    ['the bootloader of ZK Stack', low('8001')],
    ['burned tokens', low('dead')],
    ['the allow list of Avalanche', `0x02${'0'.repeat(38)}` as Address],
    ['the WETH of OP Stack', `0x42${'0'.repeat(34)}0006` as Address],
    ['the gas oracle of Scroll', `0x53${'0'.repeat(34)}0002` as Address],
    ['a contract of Taiko', `0x1670${'0'.repeat(31)}10001` as Address],
    ['the coin of the chain', `0x${'e'.repeat(40)}` as Address],
    ['the last address', `0x${'f'.repeat(40)}` as Address],
    ['a vanity burn address', high('dead')],
  ])('is true of %s', (_, address) => {
    expect(isUnheldAddress(address)).toBe(true);
  });

  it('is true of the contracts of the installation', () => {
    const vault = ADDRESS.toLowerCase() as Address;
    expect(isUnheldAddress(vault)).toBe(false);
    expect(isUnheldAddress(vault, [vault])).toBe(true);
  });

  it('is false of an address with six leading zeros, as people search for them', () => {
    expect(isUnheldAddress(`0x000000000000${'9c'.repeat(14)}` as Address)).toBe(false);
    expect(isUnheldAddress(`0x00000000${'0'.repeat(20)}9c9c9c9c9c9c` as Address)).toBe(false);
  });
});

const NOW = 1_760_000_000;
const aBlock = (changes: Partial<BlockRef> = {}): BlockRef => ({
  number: 120n,
  hash: `0x${'a'.repeat(64)}` as BlockHash,
  timestampSeconds: NOW,
  ...changes,
});

describe('a final block', () => {
  it.each([-86_400, 0, 300])('%d seconds ahead of our clock is believed', (ahead) => {
    expect(aheadOfClock(aBlock({ timestampSeconds: NOW + ahead }), NOW)).toBeUndefined();
  });

  it('more than five minutes ahead is refused, with both times', () => {
    expect(aheadOfClock(aBlock({ timestampSeconds: NOW + 301 }), NOW)).toBe(
      "final block 120 is of 2025-10-09T08:58:21.000Z, and this machine's clock says 2025-10-09T08:53:20.000Z",
    );
    const never = aBlock({ timestampSeconds: Number.MAX_SAFE_INTEGER });
    expect(aheadOfClock(never, NOW)).toContain(`is of second ${Number.MAX_SAFE_INTEGER}`);
  });

  it('of which two endpoints say the same makes no difference', () => {
    const one = { witness: 'one#1', block: aBlock() };
    expect(differenceOf(one, { ...one, witness: 'two#2' })).toBeUndefined();
  });

  it.each<[string, Partial<BlockRef>, string]>([
    ['hash', { hash: `0x${'b'.repeat(64)}` as BlockHash }, `is 0x${'b'.repeat(64)} of`],
    ['time', { timestampSeconds: NOW + 1 }, 'of 2025-10-09T08:53:21.000Z'],
    ['number', { number: 121n }, 'final block 121'],
  ])('of which they say another %s is told with both figures', (_what, changes, figure) => {
    const said = differenceOf(
      { witness: 'one#1', block: aBlock() },
      { witness: 'two#2', block: aBlock(changes) },
    );
    expect(said).toContain(
      `one#1 says that final block 120 is 0x${'a'.repeat(64)} of 2025-10-09T08:53:20.000Z, two#2 says that`,
    );
    expect(said).toContain(figure);
  });
});

describe('dayOf', () => {
  it('starts a day at exactly 00:00:00', () => {
    const midnight = Date.parse('2026-11-21T00:00:00Z') / 1000;
    expect(dayOf(midnight) - dayOf(midnight - 1)).toBe(1);
    expect(dayOf(midnight)).toBe(dayOf(midnight + 86_399));
    expect(dayOf(-1)).toBe(-1);
  });
});

describe('parseDay', () => {
  it.each(['1970-01-01', '2026-11-20', '2024-02-29', '9999-12-31'])('takes %s', (text) => {
    const day = parseDay(text) ?? NaN;
    expect(new Date(day * SECONDS_PER_DAY * 1000).toISOString()).toBe(`${text}T00:00:00.000Z`);
    expect(dayText(day)).toBe(text);
  });

  it.each(['', '2026-02-30', '2100-02-29', '2026-04-31', '2026-12-32', '1969-12-31', '26-11-20'])(
    'refuses %p',
    (text) => {
      expect(parseDay(text)).toBeUndefined();
    },
  );
});

describe('errors', () => {
  it('say whether trying again may help, and keep code, cause and name', () => {
    class NodeBehindError extends RetryableError {}
    const cause = new Error('inner');
    const error = new NodeBehindError('NODE_BEHIND', 'The node is behind.', { cause });
    expect(error).toBeInstanceOf(LowmarkError);
    expect(error).toMatchObject({ code: 'NODE_BEHIND', retryable: true, cause });
    expect(error.name).toBe('NodeBehindError');
    expect(new PermanentError('X', 'y')).toMatchObject({ retryable: false, message: 'y' });
  });

  it('keep their message bounded', () => {
    expect(new PermanentError('X', 'y'.repeat(5000)).message).toHaveLength(2000);
  });
});

const json = fc.jsonValue({ noUnicodeString: false, maxDepth: 4 });

/** Rebuilds the value with its members in reverse. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([k, v]) => [k, reversed(v)]),
  );
}

describe('canonicalJson', () => {
  it('means the same value, whatever the order of members, and is its own canonical form', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(reversed(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it('writes the example of RFC 8785, section 3.2.3', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const keys = [...canonicalJson(value).matchAll(/"([^"]+)":/g)].map(([, key]) => key);
    expect(keys).toEqual(['\\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']);
  });

  it.each([
    [333333333.33333329, '333333333.3333333'],
    [1e30, '1e+30'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [1e-27, '1e-27'],
    [-0, '0'],
  ])('writes the number %s as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it.each([[NaN], [Infinity], [undefined], [1n], ['\ud800'], [{ a: [NaN] }]])(
    'refuses %p',
    (value) => {
      expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'NOT_JSON' }));
    },
  );
});
