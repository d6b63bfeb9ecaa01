import { mnemonicToAccount, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { encodeFunctionData } from 'viem/utils';
import {
  type Address,
  parseAddress,
  type PayoutTerms,
  PermanentError,
  ZERO_ADDRESS,
} from '#libs/domain';
import { redemptionVaultAbi } from '../abi/redemption-vault.generated.js';
import { type VaultId } from './vault-event.js';

/** Where vouchers are good: one vault on one chain. */
export interface VaultPlace {
  readonly chainId: number;
  readonly vault: Address;
}

/** What the signer promises; the vault's `Voucher`. */
export interface Voucher extends PayoutTerms {
  readonly vaultId: VaultId;
}

const NAME = 'Lowmark Redemption Vault';
const VERSION = '1';

/** The EIP-712 domain of a vault, as its `eip712Domain()` must tell it. */
export function voucherDomain({ chainId, vault }: VaultPlace) {
  return {
    name: NAME,
    version: VERSION,
    chainId,
    verifyingContract: vault as `0x${string}`,
  } as const;
}

/**
 * A voucher as EIP-712 typed data.
 * @throws PermanentError for a voucher that no vault would pay: nothing, to the zero address, to the vault itself, without a time
 */
export function voucherTypedData(place: VaultPlace, voucher: Voucher) {
  const { vaultId, recipient, amount, deadlineSeconds } = voucher;
  const fault = faultOf(place, voucher);
  if (fault !== undefined) throw new PermanentError('VOUCHER_INVALID', `A voucher's ${fault}.`);
  return {
    domain: voucherDomain(place),
    types: {
      Voucher: [
        { name: 'redemptionId', type: 'bytes32' },
        { name: 'recipient', type: 'address' },
        { name: 'amount', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Voucher',
    message: {
      redemptionId: vaultId,
      recipient: recipient as `0x${string}`,
      amount,
      deadline: BigInt(deadlineSeconds),
    },
  } as const;
}

function faultOf(place: VaultPlace, voucher: Voucher): string | undefined {
  const { recipient, amount, deadlineSeconds } = voucher;
  if (recipient === ZERO_ADDRESS || recipient === place.vault) {
    return 'recipient must be neither the zero address nor the vault';
  }
  if (amount <= 0n || amount >= 1n << 256n) return 'amount must be above 0 and fit in 256 bits';
  if (!Number.isSafeInteger(deadlineSeconds) || deadlineSeconds <= 0) {
    return 'deadline must be a time in whole Unix seconds';
  }
  return undefined;
}

/** The data of a transaction to the vault that claims the voucher; any account may send it, the recipient is paid. */
export function claimCalldata(voucher: Voucher, signature: `0x${string}`): `0x${string}` {
  const { vaultId, recipient, amount, deadlineSeconds } = voucher;
  return encodeFunctionData({
    abi: redemptionVaultAbi,
    functionName: 'claim',
    args: [vaultId, recipient as `0x${string}`, amount, BigInt(deadlineSeconds), signature],
  });
}

/** The data of a transaction to the vault that cancels the redemption; only from a holder of `CANCELLER_ROLE`. */
export function cancelCalldata(vaultId: VaultId): `0x${string}` {
  return encodeFunctionData({
    abi: redemptionVaultAbi,
    functionName: 'cancel',
    args: [vaultId],
  });
}

/** The data of a transaction to the vault that pauses it; only from a holder of `PAUSER_ROLE`. */
export function pauseCalldata(): `0x${string}` {
  return encodeFunctionData({ abi: redemptionVaultAbi, functionName: 'pause' });
}

const KEY = /^(?:0x)?[0-9a-fA-F]{64}$/;

/**
 * Signs vouchers for one vault with one key. The same voucher always gives the same bytes (RFC 6979, no added entropy), so that it
 * may be signed again after a crash.
 */
export class VoucherSigner {
  /** Who must hold the vault's `SIGNER_ROLE`. */
  readonly address: Address;
  /** A true private field: neither printing nor serialising the signer shows the key. */
  readonly #account: PrivateKeyAccount;

  /**
   * @param privateKey 64 hex digits, with or without `0x`; white space around it is ignored
   * @throws PermanentError where it is not a key; the message does not repeat it
   */
  constructor(
    readonly place: VaultPlace,
    privateKey: string,
  ) {
    this.#account = accountOf(privateKey);
    this.address = addressOfAccount(this.#account);
  }

  /**
   * @returns the signature: `0x` and 130 hex digits, r, s (in the lower half) and v
   * @throws PermanentError VOUCHER_INVALID
   */
  async sign(voucher: Voucher): Promise<`0x${string}`> {
    return this.#account.signTypedData(voucherTypedData(this.place, voucher));
  }
}

/** The address of a private key. @throws PermanentError where it is not a key; the message does not repeat it */
export function addressOfKey(privateKey: string): Address {
  return addressOfAccount(accountOf(privateKey));
}

export function addressOfAccount({ address }: PrivateKeyAccount): Address {
  const parsed = parseAddress(address);
  if (!parsed) throw new TypeError('an account without an address');
  return parsed;
}

/** @throws PermanentError that holds nothing of the key, nor does its cause */
export function accountOf(privateKey: string): PrivateKeyAccount {
  const text = privateKey.trim();
  if (!KEY.test(text)) throw invalid();
  try {
    return privateKeyToAccount(`0x${text.replace(/^0x/, '')}`);
  } catch {
    // Zero, or not below the order of the curve. The library's error quotes the key.
    throw invalid();
  }
}

function invalid(): PermanentError {
  return new PermanentError(
    'PRIVATE_KEY_INVALID',
    'A private key must be 64 hex digits and a number below the order of secp256k1.',
  );
}

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

interface ServiceKeys {
  readonly voucherSignerKey?: string | undefined;
  readonly vaultCancellerKey?: string | undefined;
  readonly vaultPauserKey?: string | undefined;
  readonly registryPrivateKey?: string | undefined;
}

/** Of each key that holds a role on chain: whether it is one of those. Never the key. */
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
