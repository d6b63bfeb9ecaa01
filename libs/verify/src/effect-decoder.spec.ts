import { describe, expect, it } from '@jest/globals';
import { encodeAbiParameters, encodeEventTopics, parseAbiItem, type AbiEvent } from 'viem';
import { loadStakeEvents } from '#libs/chain';
import { type Effect, EffectDecoder, type Hex, type RawLog } from './effect-decoder.js';
import { parseStakeRules, readStakeRules } from './stake-rules.js';

const USER = `0x${'a1'.repeat(20)}` as const;
const OTHER = `0x${'b2'.repeat(20)}` as const;
const NOBODY = `0x${'0'.repeat(40)}` as const;

/** A log as the contract would emit it. */
function logOf(event: string, args: Record<string, unknown>): RawLog {
  const abi = parseAbiItem(event as 'event E()') as AbiEvent;
  const topics = encodeEventTopics({ abi: [abi], args } as never) as Hex[];
  const inputs = abi.inputs.filter(({ indexed }) => indexed !== true);
  const data = encodeAbiParameters(inputs, inputs.map(({ name = '' }) => args[name]) as never);
  return { address: USER, topics, data, blockNumber: '0x7' };
}

const plus = (wallet: string, amount: bigint): Effect => ({ wallet, amount }) as Effect;

describe('presets', () => {
  const amount = 'address indexed user, uint256 amount';
  const v1 = 'address indexed user, uint256 indexed pid, uint256 amount';
  const v2 = `${v1}, address indexed to`;
  const transfer = 'event Transfer(address indexed from, address indexed to, uint256 value)';
  const moved = { from: USER, to: OTHER, value: 7n };
  const both = [plus(USER, -7n), plus(OTHER, 7n)];
  const nft = { from: USER, to: OTHER, tokenId: 99n };

  it.each<[string, string, Record<string, unknown>, Effect[]]>([
    ['staked-withdrawn', `event Staked(${amount})`, { user: USER, amount: 7n }, [plus(USER, 7n)]],
    [
      'staked-withdrawn',
      `event Withdrawn(${amount})`,
      { user: USER, amount: 7n },
      [plus(USER, -7n)],
    ],
    ['staked-withdrawn', `event Staked(${amount})`, { user: USER, amount: 0n }, []],
    ['transfer', transfer, moved, both],
    ['erc4626', transfer, { ...moved, from: NOBODY }, [plus(OTHER, 7n)]],
    ['erc20-receipt', transfer, { ...moved, to: NOBODY }, [plus(USER, -7n)]],
    [
      'masterchef-v1:3',
      `event Deposit(${v1})`,
      { user: USER, pid: 3n, amount: 7n },
      [plus(USER, 7n)],
    ],
    ['masterchef-v1:3', `event Deposit(${v1})`, { user: USER, pid: 4n, amount: 7n }, []],
    [
      'masterchef-v1:0',
      `event EmergencyWithdraw(${v1})`,
      { user: USER, pid: 0n, amount: 7n },
      [plus(USER, -7n)],
    ],
    [
      'masterchef-v2:3',
      `event Deposit(${v2})`,
      { user: USER, pid: 3n, amount: 7n, to: OTHER },
      [plus(OTHER, 7n)],
    ],
    [
      'masterchef-v2:3',
      `event Withdraw(${v2})`,
      { user: USER, pid: 3n, amount: 7n, to: OTHER },
      [plus(USER, -7n)],
    ],
    [
      'erc721-staking',
      'event Unstaked(address indexed user, uint256 indexed tokenId)',
      { user: USER, tokenId: 99n },
      [plus(USER, -1n)],
    ],
    [
      'erc721-receipt',
      'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
      nft,
      [plus(USER, -1n), plus(OTHER, 1n)],
    ],
  ])('%s reads %s', (preset, event, args, effects) => {
    const decoder = new EffectDecoder(readStakeRules(preset));
    const log = logOf(event, args);
    expect(decoder.topics).toContain(log.topics[0]);
    expect(decoder.decode(log)).toEqual(effects);
  });

  it.each([
    'masterchef-v1',
    'masterchef-v1:',
    'masterchef-v2:x',
    'masterchef-v1:1:2',
    'toString',
    'none.json',
  ])('has none of the name %s', (name) => {
    expect(() => readStakeRules(name)).toThrow(/--events/);
  });

  it('may be named in a file, beside views', () => {
    const file = JSON.stringify({ events: 'masterchef-v1:3', totalView: [] });
    expect(parseStakeRules(file)).toEqual(readStakeRules('masterchef-v1:3'));
  });
});

describe('a file', () => {
  const event =
    'event Moved(address indexed who, int64 pool, bool locked, bytes4 kind, uint128 amount, string note)';
  const args = { who: USER, pool: -3n, locked: true, kind: '0xabcdef01', amount: 7n, note: 'x' };
  const entry = { event, account: 'who', amount: 'amount', effect: 'increase' };
  const effectsOf = (where: object) =>
    new EffectDecoder(parseStakeRules(JSON.stringify({ events: [{ ...entry, where }] }))).decode(
      logOf(event, args),
    );

  it.each<[object, number]>([
    [{}, 1],
    [{ pool: -3, locked: true, kind: '0xABCDEF01', who: USER.toUpperCase().replace('X', 'x') }, 1],
    [{ pool: 3 }, 0],
    [{ locked: 'false' }, 0],
    [{ kind: '0xabcdef02' }, 0],
    [{ who: OTHER }, 0],
  ])('counts an event where its fields are %j', (where, count) => {
    expect(effectsOf(where)).toHaveLength(count);
  });

  it.each<[string, unknown]>([
    ['no JSON', undefined],
    ['no event', []],
    ['an entry that is none', ['x']],
    ['an unknown key', [{ ...entry, sender: 'who' }]],
    ['an unknown effect', [{ ...entry, effect: 'plus' }]],
    ['a field that is not there', [{ ...entry, account: 'user' }]],
    ['a field of another type', [{ ...entry, amount: 'who' }]],
    ['an amount with a sign', [{ ...entry, amount: 'pool' }]],
    ['a condition on a text', [{ ...entry, where: { note: 'x' } }]],
    ['a condition without a value', [{ ...entry, where: { pool: null } }]],
    ['no event of Solidity', [{ ...entry, event: 'Moved(address who)' }]],
    ['a function', [{ ...entry, event: 'function moved(address who, uint256 amount)' }]],
    ['an anonymous event', [{ ...entry, event: `${event} anonymous` }]],
    ['no amount', [{ ...entry, amount: undefined }]],
  ])('is refused with %s', (_, events) => {
    const text = events === undefined ? '{' : JSON.stringify(events);
    expect(() => new EffectDecoder(parseStakeRules(text))).toThrow(/--events/);
  });

  it.each<[string, Partial<RawLog>]>([
    ['an indexed field more', { topics: [...logOf(event, args).topics, `0x${'0'.repeat(64)}`] }],
    ['too few data', { data: '0x' }],
    ['another event', { topics: [`0x${'1'.repeat(64)}`] }],
  ])('does not fit a log with %s', (_, more) => {
    const decoder = new EffectDecoder(parseStakeRules(JSON.stringify([entry])));
    expect(() => decoder.decode({ ...logOf(event, args), ...more })).toThrow(
      'A log in block 7 is not laid out as --events says',
    );
  });
});

describe('the presets of the service', () => {
  const asPreset = (name: string): string => name.replace('<pid>', '3');
  const refusalOf = async (read: () => unknown): Promise<string> => {
    try {
      await read();
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  /** The names that a refusal lists. */
  const listed = (message: string): string[] =>
    (/preset \(([^)]*)\)/.exec(message)?.[1] ?? '').split(', ').sort();

  it('have the same names, events and effects here', async () => {
    const names = listed(await refusalOf(() => loadStakeEvents('none')));
    expect(names.length).toBeGreaterThan(5);
    expect(listed(await refusalOf(() => readStakeRules('none')))).toEqual(names);
    for (const name of names.map(asPreset)) {
      const effects = (await loadStakeEvents(name)).map(({ topic0, effect }) => [topic0, effect]);
      const own = readStakeRules(name).map((rule) => [
        ...new EffectDecoder([rule]).topics,
        rule.effect,
      ]);
      expect({ name, effects: own }).toEqual({ name, effects });
    }
  });
});
