import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { type Address, parseAddress, PermanentError } from '#libs/domain';
import { type VaultPlace, type Voucher, voucherTypedData } from './voucher.js';

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
