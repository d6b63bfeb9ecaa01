import { useEffect, useRef, useState } from 'react';
import { ApiProblem } from '../../api/api-problem';
import { playerApi } from '../../api/player-client';
import { untilAnswered } from '../../api/until-answered';
import { useTakeRedemption } from './redemptions-query';

export interface Cancelling {
  readonly isBusy: boolean;
  /** There was no answer so far, and the request will be repeated. */
  readonly isWaiting: boolean;
  readonly refusal: ApiProblem | undefined;
  readonly begin: () => void;
}

/** Cancels, and repeats the request until there is an answer or the page closes. Cancelling is idempotent. */
export function useCancel(id: string, wallet: string): Cancelling {
  const take = useTakeRedemption(wallet);
  const [state, setState] = useState<'idle' | 'busy' | 'waiting'>('idle');
  const [refusal, setRefusal] = useState<ApiProblem>();
  const ending = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    ending.current = controller;
    return () => controller.abort();
  }, []);
  useRetryAfter(refusal, () => {
    setRefusal(undefined);
  });
  const cancel = async (): Promise<void> => {
    setState('busy');
    setRefusal(undefined);
    try {
      const { data } = await untilAnswered(
        () => playerApi.POST('/api/redemptions/{id}/cancel', { params: { path: { id } } }),
        {
          signal: ending.current.signal,
          onWaiting: () => setState('waiting'),
        },
      );
      if (data !== undefined) take(data);
    } catch (error) {
      if (error instanceof ApiProblem && !ending.current.signal.aborted) setRefusal(error);
    } finally {
      setState('idle');
    }
  };
  return {
    isBusy: state !== 'idle',
    isWaiting: state === 'waiting',
    refusal,
    begin: () => void cancel(),
  };
}

/** Calls `onOver` when the refusal's waiting time has passed, since its text is outdated then. */
function useRetryAfter(refusal: ApiProblem | undefined, onOver: () => void): void {
  useEffect(() => {
    if (refusal?.retryAfterSeconds === undefined) return undefined;
    const timer = setTimeout(onOver, refusal.retryAfterSeconds * 1000);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- one wait for each refusal
  }, [refusal]);
}
