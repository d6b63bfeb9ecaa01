import { type Redemption } from '../config';
import { useNow } from '../use-now';
import { type SentClaim, useSentClaim } from './claims-store';
import { type Phase, phaseOf } from './redemption-phase';
import { useSeenOnChain } from './seen-on-chain';

export interface PhaseNow {
  readonly phase: Phase;
  readonly sent: SentClaim | undefined;
  readonly nowMs: number;
}

/** Where a redemption is at this moment, by the service, the chain and this browser. */
export function usePhase(redemption: Redemption): PhaseNow {
  const sent = useSentClaim(redemption.id);
  const seen = useSeenOnChain(redemption, sent);
  const nowMs = useNow();
  return { phase: phaseOf(redemption, { sent, seen, nowMs }), sent, nowMs };
}
