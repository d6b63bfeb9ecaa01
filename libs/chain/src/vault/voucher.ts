import { type PrivateKeyAccount } from 'viem/accounts';
import { encodeFunctionData } from 'viem/utils';
import { type Address, isUnheldAddress, type PayoutTerms, PermanentError } from '#libs/domain';
import { accountOf, addressOfAccount } from '../accounts/private-key.js';
import { redemptionVaultAbi as abi } from '../abi/redemption-vault.generated.js';
import { type VaultId } from './vault-event.js';
import { type Hex } from '../rpc/hex.js';

/** The vault and the chain for which vouchers are valid. */
export interface VaultPlace {
  readonly chainId: number;
  readonly vault: Address;
}

/** What the signer promises; the struct `Voucher` of the vault. */
export interface Voucher extends PayoutTerms {
  readonly vaultId: VaultId;
}

/** The EIP-712 domain of a vault, as its `eip712Domain()` must return it. */
export function voucherDomain({ chainId, vault }: VaultPlace) {
  return {
    name: 'Lowmark Redemption Vault',
    version: '1',
    chainId,
    verifyingContract: vault as Hex,
  } as const;
}

/**
 * A voucher as EIP-712 typed data.
 * @throws PermanentError for a voucher that no vault would pay, without an amount or a deadline, or whose tokens would be
 * lost: to an address without a key, or to the vault itself
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
      recipient: recipient as Hex,
      amount,
      deadline: BigInt(deadlineSeconds),
    },
  } as const;
}

function faultOf(place: VaultPlace, voucher: Voucher): string | undefined {
  const { recipient, amount, deadlineSeconds } = voucher;
  if (isUnheldAddress(recipient, [place.vault])) {
    return `recipient must be an address that a person can hold, which ${recipient} is not`;
  }
  if (amount <= 0n || amount >= 1n << 256n) return 'amount must be above 0 and fit in 256 bits';
  if (!Number.isSafeInteger(deadlineSeconds) || deadlineSeconds <= 0) {
    return 'deadline must be a time in whole Unix seconds';
  }
  return undefined;
}

/** Calldata of a transaction to the vault that claims the voucher. Any account may send it; the recipient is paid. */
export function claimCalldata(voucher: Voucher, signature: Hex): Hex {
  const { vaultId, recipient, amount, deadlineSeconds } = voucher;
  return encodeFunctionData({
    abi,
    functionName: 'claim',
    args: [vaultId, recipient as Hex, amount, BigInt(deadlineSeconds), signature],
  });
}

/** Calldata of a transaction to the vault that cancels the redemption; its sender must hold `CANCELLER_ROLE`. */
export function cancelCalldata(vaultId: VaultId): Hex {
  return encodeFunctionData({
    abi,
    functionName: 'cancel',
    args: [vaultId],
  });
}

/** Calldata of a transaction to the vault that pauses it; its sender must hold `PAUSER_ROLE`. */
export function pauseCalldata(): Hex {
  return encodeFunctionData({ abi, functionName: 'pause' });
}

/**
 * Signs vouchers for one vault with one key. The same voucher always gives the same signature (RFC 6979, no added
 * entropy), so that it may be signed again after a crash.
 */
export class VoucherSigner {
  /** The address that must hold the vault's `SIGNER_ROLE`. */
  readonly address: Address;
  /** A true private field, so that neither printing nor serialising the signer shows the key. */
  readonly #account: PrivateKeyAccount;

  /**
   * @param privateKey 64 hex digits, with or without `0x`; white space around it is ignored
   * @throws PermanentError where the text is not a key; the message does not repeat it
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
  async sign(voucher: Voucher): Promise<Hex> {
    return this.#account.signTypedData(voucherTypedData(this.place, voucher));
  }
}
