import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useConfig, useConnection } from 'wagmi';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { useRedeemConfig } from '../config-context';
import { SwitchNetwork } from './switch-network';

const LOOK_MS = 15_000;

/** Reports obstacles to claiming with this wallet, before points are deducted. */
export function WalletNotice({ redemptions }: { readonly redemptions: readonly Redemption[] }) {
  const { claim: words } = useTexts().texts.redeem;
  const { chain, coin } = useRedeemConfig();
  const { status, chainId } = useConnection();
  const hasNoCoin = useHasNoCoin();
  if (status !== 'connected') return null;
  if (chainId !== chain.chainId) {
    // The card of the voucher reports the wrong network itself.
    const hasVoucher = redemptions.some(({ voucher }) => voucher !== null);
    return hasVoucher ? null : <SwitchNetwork chainId={chain.chainId} />;
  }
  if (!hasNoCoin) return null;
  return (
    <Alert color="yellow" role="status">
      {words.noCoin(coin)}
    </Alert>
  );
}

/** Whether the account has no coin at all; the cost of a claim is not known in advance. */
function useHasNoCoin(): boolean {
  const wallets = useConfig();
  const { status, address, chainId, connector } = useConnection();
  const { chain } = useRedeemConfig();
  const { data } = useQuery({
    queryKey: ['coin', chain.chainId, address, connector?.uid],
    enabled: status === 'connected' && chainId === chain.chainId,
    retry: false,
    refetchInterval: LOOK_MS,
    queryFn: async () => {
      // The code for the wallet is loaded only when the balance can be read.
      const { coinOf } = await import('./claim');
      return coinOf(wallets, chain.chainId);
    },
  });
  return data === 0n;
}
