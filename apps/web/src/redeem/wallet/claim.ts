/** Claims vouchers through the wallet. A claim that the chain would reject is never presented for signing. */
import { type Hex } from 'viem';
import {
  call,
  estimateGas,
  getBalance,
  getTransactionReceipt,
  sendTransaction,
} from 'viem/actions';
import { type Config } from 'wagmi';
import { getConnectorClient } from 'wagmi/actions';
import { type Voucher } from '../config';
import { walletFailure, type WalletFailure } from './wallet-errors';

export type ClaimStep = 'preparing' | 'confirm';
export type ClaimEnd =
  { readonly kind: 'sent'; readonly hash: Hex } | { readonly kind: WalletFailure | 'wouldFail' };

/** The voucher's status up to the chain's newest block. */
export type ClaimState = 'open' | 'claimed' | 'cancelled';

/** Selector of `status(bytes32)`. */
const STATUS_SELECTOR = '0x52ad0d5e';
const STATES: readonly ClaimState[] = ['open', 'claimed', 'cancelled'];

export async function sendClaim(
  wallets: Config,
  voucher: Voucher,
  onStep: (step: ClaimStep) => void,
): Promise<ClaimEnd> {
  onStep('preparing');
  const client = await getConnectorClient(wallets, { chainId: voucher.chainId });
  const claim = {
    account: client.account,
    to: voucher.vault as Hex,
    data: voucher.calldata as Hex,
  };
  let gas: bigint;
  try {
    gas = await estimateGas(client, claim);
  } catch (error) {
    const kind = walletFailure(error);
    return { kind: kind === 'tooLittleCoin' ? kind : 'wouldFail' };
  }
  onStep('confirm');
  try {
    // A margin of one fifth, since the cost may change until the transaction's block.
    const hash = await sendTransaction(client, {
      ...claim,
      chain: client.chain,
      gas: gas + gas / 5n,
    });
    return { kind: 'sent', hash };
  } catch (error) {
    return { kind: walletFailure(error) };
  }
}

/** The account's balance for fees, in the smallest unit. */
export async function coinOf(wallets: Config, chainId: number): Promise<bigint> {
  const client = await getConnectorClient(wallets, { chainId });
  return getBalance(client, { address: client.account.address });
}

/** The voucher's status, no matter which device sent a claim. Undefined where the chain does not answer. */
export async function claimStateOf(
  wallets: Config,
  voucher: Pick<Voucher, 'chainId' | 'vault' | 'redemptionId'>,
): Promise<ClaimState | undefined> {
  const client = await getConnectorClient(wallets, { chainId: voucher.chainId });
  const data = `${STATUS_SELECTOR}${voucher.redemptionId.slice(2)}` as Hex;
  const { data: answer } = await call(client, { to: voucher.vault as Hex, data });
  return answer === undefined ? undefined : STATES[Number(BigInt(answer))];
}

/** Whether the transaction was mined and reverted; false while it is not mined. */
export async function hasFailed(wallets: Config, chainId: number, hash: string): Promise<boolean> {
  const client = await getConnectorClient(wallets, { chainId });
  const receipt = await getTransactionReceipt(client, { hash: hash as Hex }).catch(() => undefined);
  return receipt?.status === 'reverted';
}
