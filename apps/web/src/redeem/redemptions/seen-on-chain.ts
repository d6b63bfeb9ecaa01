import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConfig, useConnection } from 'wagmi';
import { type Redemption } from '../config';
import { useRedeemConfig } from '../config-context';
import { claimsStore, type SentClaim } from './claims-store';
import { type SeenOnChain } from './redemption-phase';

const LOOK_MS = 4_000;

/**
 * What the chain says of an open voucher, by the wallet that is connected: so a claim is noticed in seconds, wherever it was sent from. What
 * the service says, by final blocks, comes minutes later. A claim of this browser that its block refused is forgotten, and can be sent again.
 */
export function useSeenOnChain(redemption: Redemption, sent: SentClaim | undefined): SeenOnChain {
  const wallets = useConfig();
  const connection = useConnection();
  const { chain } = useRedeemConfig();
  const { id, stage, voucher } = redemption;
  const isAsked =
    stage === 'authorised' &&
    voucher !== null &&
    connection.status === 'connected' &&
    connection.chainId === voucher.chainId;
  const { data } = useQuery({
    queryKey: ['seen-on-chain', id, chain.chainId, connection.connector?.uid, sent?.hash],
    enabled: isAsked,
    retry: false,
    refetchInterval: LOOK_MS,
    queryFn: async () => {
      if (voucher === null) return null;
      // The wallet's part is loaded when there is something to ask.
      const { claimStateOf, hasFailed } = await import('../wallet/claim');
      const state = await claimStateOf(wallets, voucher);
      const isRefused =
        state === 'open' &&
        sent !== undefined &&
        (await hasFailed(wallets, voucher.chainId, sent.hash));
      return { state, refusedHash: isRefused ? sent.hash : undefined };
    },
  });
  const refusedHash = data?.refusedHash;
  useEffect(() => {
    if (refusedHash !== undefined) claimsStore.forget(id);
  }, [id, refusedHash]);
  return data?.state;
}
