import { useEffect, useState } from 'react';
import { ApiProblem } from '../../api/api-problem';
import { playerApi } from '../../api/player-client';
import { useTakeRedemption } from '../redemptions/redemptions-query';
import { type Click, clickOf, endClick, usePendingClick } from './pending-clicks';

/** After these it is not known whether there is a redemption: the same is asked again. */
const UNKNOWN = new Set([
  'IDEMPOTENCY_IN_PROGRESS',
  'INTERNAL_SERVER_ERROR',
  'NO_CONNECTION',
  'SERVICE_UNAVAILABLE',
  'ANSWER_TOO_LARGE',
  'UNEXPECTED_ANSWER',
]);
const AGAIN_MS = 1_500;

export interface RedeemClick {
  readonly pending: Click | undefined;
  /** There was no answer so far, and it is asked for again. */
  readonly isWaiting: boolean;
  readonly refusal: ApiProblem | undefined;
  clearRefusal(): void;
}

/** Brings the click that is kept to its answer, however often that takes and wherever it began: on this page, in another tab, or in one that was closed. */
export function useRedeemClick(wallet: string, partner: string): RedeemClick {
  const text = usePendingClick(wallet, partner);
  const [isWaiting, setWaiting] = useState(false);
  const [refusal, setRefusal] = useState<ApiProblem>();
  const take = useTakeRedemption(wallet);
  useEffect(() => {
    const click = clickOf(text);
    if (click === undefined) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async (): Promise<void> => {
      try {
        const redemption = await redeem(click);
        if (redemption !== undefined) take(redemption);
        setWaiting(false);
        endClick(click);
      } catch (error) {
        const problem = problemOf(error);
        if (isOver) return;
        if (problem.status === 401) return;
        if (UNKNOWN.has(problem.code)) {
          setWaiting(true);
          timer = setTimeout(() => void ask(), (problem.retryAfterSeconds ?? 0) * 1000 || AGAIN_MS);
          return;
        }
        setWaiting(false);
        setRefusal(problem);
        endClick(click);
      }
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- one run for each click; `take` is another function each time
  }, [text]);
  const clearRefusal = (): void => {
    setRefusal(undefined);
  };
  return { pending: clickOf(text), isWaiting, refusal, clearRefusal };
}

async function redeem({ key, partner, points, minAmount }: Click) {
  const { data } = await playerApi.POST('/api/redemptions', {
    params: { header: { 'Idempotency-Key': key } },
    body: { partner, points, minAmount },
  });
  return data;
}

function problemOf(error: unknown): ApiProblem {
  return error instanceof ApiProblem ? error : new ApiProblem(0, 'NO_CONNECTION', '', undefined);
}
