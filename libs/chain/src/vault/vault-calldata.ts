import { encodeFunctionData } from 'viem/utils';
import { redemptionVaultAbi } from '../abi/redemption-vault.generated.js';
import { type VaultId } from './vault-id.js';
import { type Voucher } from './voucher.js';

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
