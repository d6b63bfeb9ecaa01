/** Reads the option `--events`: the name of a preset, or a file in the format of the indexer's setting STAKE_EVENTS. */
import { readFileSync } from 'node:fs';
import { UsageError } from './verify.error.js';

/** One event and its effect on stakes. `account`, `receiver`, `amount` and `where` name fields of the event. */
export interface StakeRule {
  /** The declaration of the event, as in Solidity. */
  readonly event: string;
  readonly effect: 'increase' | 'decrease' | 'transfer';
  /** The wallet whose stake changes; for a transfer, the sender. */
  readonly account: string;
  /** For a transfer, the receiver. */
  readonly receiver?: string;
  /** A field, or a whole number that each event counts as. */
  readonly amount: string;
  /** The event counts only where its fields have these values. */
  readonly where: Readonly<Record<string, string>>;
}

/** @throws UsageError */
export function readStakeRules(setting: string): readonly StakeRule[] {
  const preset = presetOf(setting);
  if (preset !== undefined) return preset;
  let text: string;
  try {
    text = readFileSync(setting, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `--events "${setting}" is neither a preset (${PRESET_NAMES}) nor a file that can be read (${code}).`,
    );
  }
  return parseStakeRules(text);
}

/** @throws UsageError */
export function parseStakeRules(text: string): readonly StakeRule[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError('The file of --events is not JSON.');
  }
  const entries = isObject(value) ? value['events'] : value;
  const preset = typeof entries === 'string' ? presetOf(entries) : undefined;
  if (preset !== undefined) return preset;
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new UsageError(
      'The file of --events must be a list of events, or an object with such a list or a preset as "events".',
    );
  }
  return (entries as unknown[]).map((entry, place) => ruleOf(entry, `Event ${place} of --events`));
}

const FIELDS = ['event', 'account', 'from', 'to', 'amount', 'effect', 'where'];

function ruleOf(entry: unknown, name: string): StakeRule {
  if (!isObject(entry)) throw new UsageError(`${name} must be an object.`);
  const unknown = Object.keys(entry).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) throw new UsageError(`${name} has an unknown key "${unknown}".`);
  const { effect, amount } = entry;
  if (effect !== 'increase' && effect !== 'decrease' && effect !== 'transfer') {
    throw new UsageError(`${name}: "effect" must be increase, decrease or transfer.`);
  }
  const isTransfer = effect === 'transfer';
  const from = entry['account'] ?? entry['from'] ?? (isTransfer ? 'from' : undefined);
  return {
    effect,
    event: required(entry['event'], name, 'event'),
    account: required(from, name, 'account'),
    ...(isTransfer && { receiver: required(entry['to'] ?? 'to', name, 'to') }),
    amount: required(typeof amount === 'number' ? String(amount) : amount, name, 'amount'),
    where: conditionsOf(entry['where'] ?? {}, name),
  };
}

function conditionsOf(where: unknown, name: string): Record<string, string> {
  if (!isObject(where)) throw new UsageError(`${name}: "where" must be an object.`);
  const entries = Object.entries(where).map(([field, value]): [string, string] => {
    const isValue =
      typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
    if (!isValue) throw new UsageError(`${name}: "where.${field}" is no value.`);
    return [field, String(value).trim()];
  });
  return Object.fromEntries(entries);
}

function required(value: unknown, name: string, key: string): string {
  if (typeof value === 'string' && value.trim() !== '') return value.trim();
  throw new UsageError(`${name} needs "${key}".`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const TRANSFER: StakeRule = {
  ...{ event: 'event Transfer(address indexed from, address indexed to, uint256 value)' },
  ...{ effect: 'transfer', account: 'from', receiver: 'to', amount: 'value', where: {} },
};
const NFT_TRANSFER: StakeRule = {
  ...TRANSFER,
  event: 'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  amount: '1',
};

function pair(increase: string, decrease: string, field = 'uint256 amount', amount = 'amount') {
  return [
    [increase, 'increase'],
    [decrease, 'decrease'],
  ].map(([name = '', effect]) => ({
    event: `event ${name}(address indexed user, ${field})`,
    effect: effect as 'increase' | 'decrease',
    ...{ account: 'user', amount, where: {} },
  }));
}

/** @param hasReceiver whether a deposit is credited to `to` */
function pool(pid: string, hasReceiver: boolean): StakeRule[] {
  const more = hasReceiver ? ', address indexed to' : '';
  return ['Deposit', 'Withdraw', 'EmergencyWithdraw'].map((name) => ({
    event: `event ${name}(address indexed user, uint256 indexed pid, uint256 amount${more})`,
    effect: name === 'Deposit' ? 'increase' : 'decrease',
    account: name === 'Deposit' && hasReceiver ? 'to' : 'user',
    ...{ amount: 'amount', where: { pid } },
  }));
}

/**
 * The events of well-known staking contracts: the presets of the service (`STAKE_PRESETS` of libs/chain), which
 * `docs/operating/contracts.md` describes.
 */
const PRESETS: Readonly<Record<string, readonly StakeRule[]>> = {
  'staked-withdrawn': pair('Staked', 'Withdrawn'),
  'stake-unstake': pair('Stake', 'Unstake'),
  'deposit-withdraw': pair('Deposit', 'Withdraw'),
  transfer: [TRANSFER],
  'synthetix-staking-rewards': pair('Staked', 'Withdrawn'),
  erc4626: [TRANSFER],
  'erc20-receipt': [TRANSFER],
  'erc721-staking': pair('Staked', 'Unstaked', 'uint256 indexed tokenId', '1'),
  'erc721-receipt': [NFT_TRANSFER],
};
const POOLS: Readonly<Record<string, boolean>> = { 'masterchef-v1': false, 'masterchef-v2': true };

/**
 * @returns undefined where there is no preset of the name
 * @throws UsageError where the number of a pool is missing
 */
function presetOf(text: string): readonly StakeRule[] | undefined {
  if (Object.hasOwn(PRESETS, text)) return PRESETS[text];
  const [name = '', pid, ...rest] = text.split(':');
  if (!Object.hasOwn(POOLS, name)) return undefined;
  if (pid !== undefined && /^\d{1,78}$/.test(pid) && rest.length === 0) {
    return pool(pid, POOLS[name] === true);
  }
  throw new UsageError(`--events ${name} needs the number of the pool, such as ${name}:0.`);
}

const PRESET_NAMES = [
  ...Object.keys(PRESETS),
  ...Object.keys(POOLS).map((name) => `${name}:<pid>`),
].join(', ');
