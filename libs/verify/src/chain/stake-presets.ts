/** The events of staking contracts that have a name; what each is for is in the service's `docs/operating/contracts.md`. */
import { UsageError } from '../verify.error.js';

/** One event, and what it does to stakes. Names are those of the event's fields. */
export interface StakeRule {
  /** As in Solidity. */
  readonly event: string;
  readonly effect: 'increase' | 'decrease' | 'transfer';
  /** Whose stake changes; of a transfer, who gives. */
  readonly account: string;
  /** Of a transfer, who receives. */
  readonly receiver?: string;
  /** A field, or a whole number for which each event counts. */
  readonly amount: string;
  /** The event counts only where the fields have these values. */
  readonly where: Readonly<Record<string, string>>;
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

/** @returns undefined where no preset has the name @throws UsageError where a pool has no number */
export function presetOf(text: string): readonly StakeRule[] | undefined {
  if (Object.hasOwn(PRESETS, text)) return PRESETS[text];
  const [name = '', pid, ...rest] = text.split(':');
  if (!Object.hasOwn(POOLS, name)) return undefined;
  if (pid !== undefined && /^\d{1,78}$/.test(pid) && rest.length === 0) {
    return pool(pid, POOLS[name] === true);
  }
  throw new UsageError(`--events ${name} needs the number of the pool, such as ${name}:0.`);
}

export const PRESET_NAMES = [
  ...Object.keys(PRESETS),
  ...Object.keys(POOLS).map((name) => `${name}:<pid>`),
].join(', ');
