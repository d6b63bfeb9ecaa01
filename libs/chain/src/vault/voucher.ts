import { type Address, PermanentError, type PayoutTerms, ZERO_ADDRESS } from '#libs/domain';
import { type VaultId } from './vault-id.js';

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
