import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useConfig, useConnection } from 'wagmi';
import { useTexts } from '../../texts/texts-context';
import { type Redemption } from '../config';
import { useRedeemConfig } from '../config-context';
import { SwitchNetwork } from './switch-network';

const LOOK_MS = 15_000;

/** What would keep the wallet from claiming, said before points are taken. */
export function WalletNotice({ redemptions }: { readonly redemptions: readonly Redemption[] }) {
  const { claim: words } = useTexts().texts.redeem;
  const { chain, coin } = useRedeemConfig();
  const { status, chainId } = useConnection();
  const hasNoCoin = useHasNoCoin();
  if (status !== 'connected') return null;
  if (chainId !== chain.chainId) {
    // The card of a voucher says it by itself.
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

/** Only where there is none at all: what a claim will cost is not known before. */
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
      // The wallet's part is loaded when there is something to ask.
      const { coinOf } = await import('./claim');
      return coinOf(wallets, chain.chainId);
    },
  });
  return data === 0n;
}
