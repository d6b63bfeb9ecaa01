/** Settings of the staking contract's own figures, and of what vouches for events; several programs read them. */
import { type SettingOptions } from '#libs/config';
import { parseStakeViews } from './reader/stake-view.js';
import { parseVerification } from './verification/verification.js';

export const STAKE_TOTAL_VIEW_SETTING: SettingOptions = {
  description:
    'The contract’s own total, held against the events: functions whose results add up, as docs/operating/contracts.md has it, or none. Default: what STAKE_EVENTS says, else what the contract has of totalStaked() and totalSupply().',
  optional: true,
  parse: (text) => parseStakeViews(text, 'cannot be used', 'total'),
};

export const STAKE_BALANCE_VIEW_SETTING: SettingOptions = {
  description:
    'The contract’s own balance of a wallet, held against the events: functions whose results add up, as docs/operating/contracts.md has it, or none. Default: what STAKE_EVENTS says, else balanceOf(address) where the contract has it.',
  optional: true,
  parse: (text) => parseStakeViews(text, 'cannot be used', 'balance'),
};

export const STAKE_VERIFICATION_SETTING: SettingOptions = {
  description:
    'By what events are vouched for before they count: total (the contract’s total at the end of each range), two (two providers tell the same), wallets (each wallet’s balance by the contract), headers (every header of the history, which costs most), or auto: the first of these that can be had.',
  default: 'auto',
  parse: parseVerification,
};
