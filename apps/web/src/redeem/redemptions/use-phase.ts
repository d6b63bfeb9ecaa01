import { type Redemption } from '../config';
import { useNow } from '../../api/server-clock';
import { claimsStore, type SentClaim, useSentClaim } from './claims-store';
import { type Phase, phaseOf, type SeenOnChain } from './redemption-phase';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useConfig, useConnection } from 'wagmi';
import { useRedeemConfig } from '../config-context';

export interface PhaseNow {
  readonly phase: Phase;
  readonly sent: SentClaim | undefined;
  readonly nowMs: number;
}

/** The current phase of a redemption, from the service, the chain and this browser. */
export function usePhase(redemption: Redemption): PhaseNow {
  const sent = useSentClaim(redemption.id);
  const seen = useSeenOnChain(redemption, sent);
  const nowMs = useNow();
  return { phase: phaseOf(redemption, { sent, seen, nowMs }), sent, nowMs };
}

const LOOK_MS = 4_000;

/**
 * Reads the status of an open voucher through the connected wallet, which shows a claim within seconds, no matter which
 * device sent it; the service reads final blocks, minutes later. A claim of this browser that reverted is forgotten, so
 * that it can be sent again.
 */
function useSeenOnChain(redemption: Redemption, sent: SentClaim | undefined): SeenOnChain {
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
      // The code for the wallet is loaded only when there is a voucher to check.
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
