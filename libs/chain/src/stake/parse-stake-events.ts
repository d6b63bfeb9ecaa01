import { readFile } from 'node:fs/promises';
import { parseStakeViews, type StakeView, type ViewEntry } from './stake-view.js';
import { isRecord } from '../rpc/hex.js';
import { encodeWord, objectWith, StakeEventsError } from './abi-notation.js';
import { eventSpecOf, parseEntry, refuseDoubles } from './make-stake-event.js';
import { type StakeEventSpec } from './stake-event.js';

export interface StakeDescription {
  readonly events: StakeEventSpec[];
  /** Whether a filter selects only a part of the contract's stakes. */
  readonly isPartial: boolean;
  /**
   * Views whose figures add up to the total of all stakes; empty where there is no such total, undefined where the
   * description does not say.
   */
  readonly totalView?: readonly StakeView[];
  readonly balanceView?: readonly StakeView[];
}

/**
 * Loads the setting STAKE_EVENTS: the name of a preset, JSON, or the path of a JSON file.
 * @throws StakeEventsError saying which part is wrong and why
 */
export async function loadStakeDescription(setting: string): Promise<StakeDescription> {
  if (presetOf(setting) || /^\s*[[{]/.test(setting)) return parseStakeDescription(setting);
  let text: string;
  try {
    text = await readFile(setting, 'utf8');
  } catch (error) {
    const presets = Object.entries(STAKE_PRESETS)
      .map(([name, preset]) => (typeof preset === 'function' ? `${name}:<pid>` : name))
      .join(', ');
    const reason =
      isRecord(error) && typeof error['code'] === 'string' ? error['code'] : 'unreadable';
    throw new StakeEventsError(
      'STAKE_EVENTS',
      `"${setting}" is neither a preset (${presets}), nor JSON, nor a file that can be read (${reason})`,
    );
  }
  return parseStakeDescription(text);
}

export async function loadStakeEvents(setting: string): Promise<StakeEventSpec[]> {
  return (await loadStakeDescription(setting)).events;
}

/**
 * @param text the name of a preset, a JSON list of events, or a JSON object of `events` (a list or the name of a preset),
 * `totalView` and `balanceView`
 * @throws StakeEventsError saying which part is wrong and why
 */
export function parseStakeDescription(text: string): StakeDescription {
  const { events, totalView, balanceView } = presetOf(text) ?? parseJson(text);
  const specs = events.map((entry, index) =>
    eventSpecOf(parseEntry(entry, `STAKE_EVENTS[${index}]`), `STAKE_EVENTS[${index}]`),
  );
  refuseDoubles(specs);
  return {
    events: specs,
    isPartial: specs.some(({ where }) => where.length > 0),
    ...(totalView !== undefined && {
      totalView: parseStakeViews(totalView, 'STAKE_EVENTS totalView', 'total'),
    }),
    ...(balanceView !== undefined && {
      balanceView: parseStakeViews(balanceView, 'STAKE_EVENTS balanceView', 'balance'),
    }),
  };
}

export function parseStakeEvents(text: string): StakeEventSpec[] {
  return parseStakeDescription(text).events;
}

interface RawDescription {
  readonly events: readonly unknown[];
  readonly totalView?: unknown;
  readonly balanceView?: unknown;
}

const KEYS = ['events', 'totalView', 'balanceView'];

function parseJson(text: string): RawDescription {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new StakeEventsError('STAKE_EVENTS', `is not JSON: ${error.message}`);
  }
  const description = isRecord(value) ? objectWith(KEYS, value, 'STAKE_EVENTS') : { events: value };
  const { events, ...views } = description;
  const preset = typeof events === 'string' ? presetOf(events) : undefined;
  if (preset !== undefined) return { ...preset, ...views };
  if (!Array.isArray(events) || events.length === 0) {
    throw new StakeEventsError(
      'STAKE_EVENTS',
      'must be a JSON list with at least one event, or an object with such a list or a preset as "events"',
    );
  }
  return { events, ...views };
}

interface PresetDescription {
  readonly events: readonly PresetEntry[];
  readonly totalView?: ViewEntry | readonly ViewEntry[];
  readonly balanceView?: ViewEntry;
}

interface PresetEntry {
  readonly event: string;
  readonly effect: 'increase' | 'decrease' | 'transfer';
  readonly account?: string;
  readonly amount: string;
  readonly where?: Readonly<Record<string, string>>;
}

/** A preset is the same for every contract, or depends on the number of a pool behind a colon: `masterchef-v1:3`. */
type StakePreset = PresetDescription | ((pid: string) => PresetDescription);

const TOTAL_SUPPLY = { function: 'function totalSupply() view returns (uint256)' };
const BALANCE_OF = { function: 'function balanceOf(address) view returns (uint256)' };

function pair(
  increase: string,
  decrease: string,
  { field = 'uint256 amount', amount = 'amount' } = {},
): PresetEntry[] {
  const fields = `(address indexed user, ${field})`;
  return [
    { event: `event ${increase}${fields}`, account: 'user', amount, effect: 'increase' },
    { event: `event ${decrease}${fields}`, account: 'user', amount, effect: 'decrease' },
  ];
}

const TRANSFER: PresetEntry = {
  event: 'event Transfer(address indexed from, address indexed to, uint256 value)',
  amount: 'value',
  effect: 'transfer',
};

/**
 * Shares and receipts are ERC-20 tokens.
 * @see https://eips.ethereum.org/EIPS/eip-20 https://eips.ethereum.org/EIPS/eip-4626
 */
const TOKEN: PresetDescription = {
  events: [TRANSFER],
  totalView: TOTAL_SUPPLY,
  balanceView: BALANCE_OF,
};

/**
 * A pool of a MasterChef. Version 1: https://etherscan.io/address/0xc2edad668740f1aa35e4d8f227fb8e17dca888cd#code
 *
 * Version 2 (https://etherscan.io/address/0xef0881ec094552b2e128cf945ef17a6752b4ec5d#code): `user` sent the
 * transaction. A deposit is added to the stake of `to`; a withdrawal is taken from the stake of `user` and its tokens
 * go to `to`.
 *
 * There is no total: the contract holds more of the pool's token than the stakes, where this token is also the reward
 * or was sent without a deposit.
 */
function pool(pid: string, version: 1 | 2): PresetDescription {
  const [to, debt] = version === 1 ? ['', 'uint256'] : [', address indexed to', 'int256'];
  const entry = (name: string, effect: 'increase' | 'decrease', account: string): PresetEntry => ({
    event: `event ${name}(address indexed user, uint256 indexed pid, uint256 amount${to})`,
    account,
    amount: 'amount',
    effect,
    where: { pid },
  });
  return {
    events: [
      entry('Deposit', 'increase', version === 1 ? 'user' : 'to'),
      entry('Withdraw', 'decrease', 'user'),
      entry('EmergencyWithdraw', 'decrease', 'user'),
    ],
    totalView: [],
    balanceView: {
      function: `function userInfo(uint256 pid, address user) view returns (uint256 amount, ${debt} rewardDebt)`,
      arguments: { pid },
      output: 'amount',
    },
  };
}

/**
 * The values of STAKE_EVENTS that need no file: the events of staking contracts in use, and their views if the contract
 * has figures of its own for exactly these stakes. A new one is also added to `PRESETS` of
 * libs/verify/src/stake-rules.ts, to docs/operating/contracts.md, and to the tests parse-stake-events.spec.ts,
 * effect-decoder.spec.ts (libs/verify) and contracts/test/stake-views.int-spec.ts.
 */
const STAKE_PRESETS: Readonly<Record<string, StakePreset>> = {
  'staked-withdrawn': { events: pair('Staked', 'Withdrawn') },
  'stake-unstake': { events: pair('Stake', 'Unstake') },
  'deposit-withdraw': { events: pair('Deposit', 'Withdraw') },
  transfer: { events: [TRANSFER] },
  // https://github.com/Synthetixio/synthetix/blob/develop/contracts/StakingRewards.sol
  'synthetix-staking-rewards': {
    events: pair('Staked', 'Withdrawn'),
    totalView: TOTAL_SUPPLY,
    balanceView: BALANCE_OF,
  },
  'masterchef-v1': (pid) => pool(pid, 1),
  'masterchef-v2': (pid) => pool(pid, 2),
  erc4626: TOKEN,
  'erc20-receipt': TOKEN,
  'erc721-staking': {
    events: pair('Staked', 'Unstaked', { field: 'uint256 indexed tokenId', amount: '1' }),
  },
  // https://eips.ethereum.org/EIPS/eip-721
  'erc721-receipt': {
    events: [
      {
        event: 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
        amount: '1',
        effect: 'transfer',
      },
    ],
    balanceView: BALANCE_OF,
  },
};

/**
 * @param setting `transfer`, or `masterchef-v1:3`
 * @returns undefined where no preset has this name
 * @throws StakeEventsError where the number of the pool is missing, or is not a number
 */
function presetOf(setting: string): PresetDescription | undefined {
  const [, name = '', , pid] = /^([\w-]+)(:(.*))?$/s.exec(setting) ?? [];
  if (!Object.hasOwn(STAKE_PRESETS, name)) return undefined;
  const preset = STAKE_PRESETS[name] as StakePreset;
  if (typeof preset !== 'function') return pid === undefined ? preset : undefined;
  const isNumber = /^\d+$/.test(pid ?? '') && encodeWord('uint256', pid ?? '') !== undefined;
  if (isNumber && pid !== undefined) return preset(pid);
  throw new StakeEventsError(
    'STAKE_EVENTS',
    `${name} needs the number of the pool, such as ${name}:0; "${setting}" has ${pid === undefined ? 'none' : 'another'}`,
  );
}
