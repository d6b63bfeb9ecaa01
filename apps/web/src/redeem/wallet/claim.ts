/** Claims, through the wallet: nothing is asked of a person that the chain would refuse. */
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

/** What the chain knows of a voucher, up to its newest block. */
export type ClaimState = 'open' | 'claimed' | 'cancelled';

/** `status(bytes32)` of the vault, whatever its version. */
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
    // A fifth more: what it costs may change until its block.
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

/** What the wallet has for fees, in the smallest unit. */
export async function coinOf(wallets: Config, chainId: number): Promise<bigint> {
  const client = await getConnectorClient(wallets, { chainId });
  return getBalance(client, { address: client.account.address });
}

/** Notices a claim from wherever it was sent. Undefined where the chain does not say. */
export async function claimStateOf(
  wallets: Config,
  voucher: Pick<Voucher, 'chainId' | 'vault' | 'redemptionId'>,
): Promise<ClaimState | undefined> {
  const client = await getConnectorClient(wallets, { chainId: voucher.chainId });
  const data = `${STATUS_SELECTOR}${voucher.redemptionId.slice(2)}` as Hex;
  const { data: answer } = await call(client, { to: voucher.vault as Hex, data });
  return answer === undefined ? undefined : STATES[Number(BigInt(answer))];
}

/** Whether the transaction was refused by its block. Where there is no block yet: no. */
export async function hasFailed(wallets: Config, chainId: number, hash: string): Promise<boolean> {
  const client = await getConnectorClient(wallets, { chainId });
  const receipt = await getTransactionReceipt(client, { hash: hash as Hex }).catch(() => undefined);
  return receipt?.status === 'reverted';
}
