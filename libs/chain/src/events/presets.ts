import { type StakeEventEntry } from './stake-event-entry.js';

const staking = (increase: string, decrease: string): readonly StakeEventEntry[] => [
  {
    event: `event ${increase}(address indexed user, uint256 amount)`,
    account: 'user',
    amount: 'amount',
    effect: 'increase',
  },
  {
    event: `event ${decrease}(address indexed user, uint256 amount)`,
    account: 'user',
    amount: 'amount',
    effect: 'decrease',
  },
];

/** The values of STAKE_EVENTS that need no file. */
export const STAKE_EVENT_PRESETS: Readonly<Record<string, readonly StakeEventEntry[]>> = {
  'staked-withdrawn': staking('Staked', 'Withdrawn'),
  'stake-unstake': staking('Stake', 'Unstake'),
  'deposit-withdraw': staking('Deposit', 'Withdraw'),
  transfer: [
    {
      event: 'event Transfer(address indexed from, address indexed to, uint256 value)',
      account: 'from',
      receiver: 'to',
      amount: 'value',
      effect: 'transfer',
    },
  ],
};
