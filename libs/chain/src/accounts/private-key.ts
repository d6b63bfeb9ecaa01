import { mnemonicToAccount, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Address, parseAddress, PermanentError } from '#libs/domain';

const KEY = /^(?:0x)?[0-9a-fA-F]{64}$/;

/** The address of a private key. @throws PermanentError where the text is not a key; the message does not repeat it */
export function addressOfKey(privateKey: string): Address {
  return addressOfAccount(accountOf(privateKey));
}

export function addressOfAccount({ address }: PrivateKeyAccount): Address {
  const parsed = parseAddress(address);
  if (!parsed) throw new TypeError('an account without an address');
  return parsed;
}

/** @throws PermanentError; neither the error nor its cause contains the key */
export function accountOf(privateKey: string): PrivateKeyAccount {
  const text = privateKey.trim();
  if (!KEY.test(text)) throw invalid();
  try {
    return privateKeyToAccount(`0x${text.replace(/^0x/, '')}`);
  } catch {
    // The key is zero, or not below the order of the curve. The library's error quotes the key.
    throw invalid();
  }
}

function invalid(): PermanentError {
  return new PermanentError(
    'PRIVATE_KEY_INVALID',
    'A private key must be 64 hex digits and a number below the order of secp256k1.',
  );
}

/**
 * Mnemonic of the accounts that anvil and Hardhat make and unlock. It is published with them, so these keys are no
 * secrets.
 */
const MNEMONIC = 'test test test test test test test test test test test junk';
const ACCOUNTS = 20;

/**
 * Whether a private key is one of those that development chains publish.
 * @param privateKey 64 hex digits, with or without 0x
 */
export function isDevelopmentKey(privateKey: string): boolean {
  const { address } = accountOf(privateKey);
  return Array.from({ length: ACCOUNTS }, (_, addressIndex) =>
    mnemonicToAccount(MNEMONIC, { addressIndex }),
  ).some((account) => account.address === address);
}

interface ServiceKeys {
  readonly voucherSignerKey?: string | undefined;
  readonly vaultCancellerKey?: string | undefined;
  readonly vaultPauserKey?: string | undefined;
  readonly registryPrivateKey?: string | undefined;
}

/** For each key that holds a role on chain: whether development chains publish it. Never contains the key. */
export function publishedKeys(
  keys: ServiceKeys,
): { variable: string; isGiven: boolean; why: string }[] {
  const { voucherSignerKey, vaultCancellerKey, vaultPauserKey, registryPrivateKey } = keys;
  const named = [
    ['VOUCHER_SIGNER_KEY', voucherSignerKey],
    ['VAULT_CANCELLER_KEY', vaultCancellerKey],
    ['VAULT_PAUSER_KEY', vaultPauserKey],
    ['REGISTRY_PRIVATE_KEY', registryPrivateKey],
  ] as const;
  return named.map(([variable, key]) => ({
    variable,
    isGiven: key !== undefined && isDevelopmentKey(key),
    why: 'the key is published with development chains',
  }));
}
