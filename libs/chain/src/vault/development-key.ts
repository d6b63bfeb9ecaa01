import { mnemonicToAccount } from 'viem/accounts';
import { accountOf } from './voucher-signer.js';

/** Of the accounts that anvil and Hardhat make and unlock: published with them, so everyone's. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const ACCOUNTS = 20;

/** Whether a private key is one of those that development chains publish. @param privateKey 64 hex digits, with or without 0x */
export function isDevelopmentKey(privateKey: string): boolean {
  const { address } = accountOf(privateKey);
  return Array.from({ length: ACCOUNTS }, (_, addressIndex) =>
    mnemonicToAccount(MNEMONIC, { addressIndex }),
  ).some((account) => account.address === address);
}
