import { useEffect, useState } from 'react';
import { ApiProblem } from '../../api/api-problem';
import { playerApi } from '../../api/player-client';
import { untilAnswered } from '../../api/until-answered';
import { focusWhenThere } from '../kept-focus';
import { cardId, useTakeRedemption } from '../redemptions/redemptions-query';
import { type Click, clickOf, endClick, usePendingClick } from './pending-clicks';

export interface RedeemClick {
  readonly pending: Click | undefined;
  /** There was no answer so far, and the request will be repeated. */
  readonly isWaiting: boolean;
  readonly refusal: ApiProblem | undefined;
  /** The waiting time that the refusal named has passed. */
  readonly isRefusalOver: boolean;
  clearRefusal(): void;
}

/** Sends the pending click until it is answered, even where it was made in another tab or on a page that was closed. */
export function useRedeemClick(wallet: string, partner: string): RedeemClick {
  const text = usePendingClick(wallet, partner);
  const [isWaiting, setWaiting] = useState(false);
  const [refusal, setRefusal] = useState<ApiProblem>();
  const isRefusalOver = useWaitIsOver(refusal);
  const take = useTakeRedemption(wallet);
  useEffect(() => {
    const click = clickOf(text);
    if (click === undefined) return undefined;
    const ending = new AbortController();
    const { signal } = ending;
    const onWaiting = (): void => {
      if (!signal.aborted) setWaiting(true);
    };
    const ask = async (): Promise<void> => {
      try {
        const redemption = await untilAnswered(() => redeem(click), { signal, onWaiting });
        if (redemption !== undefined) {
          take(redemption);
          focusWhenThere(cardId(redemption));
        }
        setWaiting(false);
        endClick(click);
      } catch (error) {
        if (signal.aborted || !(error instanceof ApiProblem) || error.status === 401) return;
        setWaiting(false);
        setRefusal(error);
        endClick(click);
      }
    };
    void ask();
    return () => ending.abort();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- one run for each click; `take` is another function each time
  }, [text]);
  const clearRefusal = (): void => setRefusal(undefined);
  return { pending: clickOf(text), isWaiting, refusal, isRefusalOver, clearRefusal };
}

async function redeem({ key, partner, points, minAmount }: Click) {
  const { data } = await playerApi.POST('/api/redemptions', {
    params: { header: { 'Idempotency-Key': key } },
    body: { partner, points, minAmount },
  });
  return data;
}

/** Whether the refusal's waiting time has passed, so that its reason (a silent partner, for example) may be gone. */
function useWaitIsOver(refusal: ApiProblem | undefined): boolean {
  const [over, setOver] = useState<ApiProblem>();
  useEffect(() => {
    const seconds = refusal?.retryAfterSeconds;
    if (seconds === undefined) return undefined;
    const timer = setTimeout(setOver, seconds * 1000, refusal);
    return () => clearTimeout(timer);
  }, [refusal]);
  return refusal !== undefined && over === refusal;
}
