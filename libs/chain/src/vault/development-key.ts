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

export interface VaultKeys {
  readonly voucherSignerKey?: string | undefined;
  readonly vaultCancellerKey?: string | undefined;
  readonly vaultPauserKey?: string | undefined;
}

/** Of each key of the vault: whether it is one of those. Never the key. */
export function publishedKeys(
  keys: VaultKeys,
): { variable: string; isGiven: boolean; why: string }[] {
  const { voucherSignerKey, vaultCancellerKey, vaultPauserKey } = keys;
  const named = [
    ['VOUCHER_SIGNER_KEY', voucherSignerKey],
    ['VAULT_CANCELLER_KEY', vaultCancellerKey],
    ['VAULT_PAUSER_KEY', vaultPauserKey],
  ] as const;
  return named.map(([variable, key]) => ({
    variable,
    isGiven: key !== undefined && isDevelopmentKey(key),
    why: 'the key is published with development chains',
  }));
}
