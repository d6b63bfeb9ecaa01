/** Tracks whether the services can be reached and answer. */
import { useSyncExternalStore } from 'react';
import { Listeners } from './listeners';

/** Time after which an answer is late; only requests that ask a partner may take longer. */
const SOON_MS = 5_000;

let isSilent = false;
const listeners = new Listeners();

function become(silent: boolean): void {
  if (silent === isSilent) return;
  isSilent = silent;
  listeners.tell();
}

/**
 * Watches one request. A late answer marks the service as silent, until any watched request is answered.
 * @returns a function to call when the request has ended
 */
export function watchAnswer(): (hasAnswered: boolean) => void {
  const timer = setTimeout(become, SOON_MS, true);
  return (hasAnswered) => {
    clearTimeout(timer);
    if (hasAnswered) become(false);
  };
}

/** Whether the service accepts requests but does not answer. */
export function useSilence(): boolean {
  return useSyncExternalStore(listeners.subscribe, () => isSilent);
}

function onConnection(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}

export function useOnline(): boolean {
  return useSyncExternalStore(onConnection, () => navigator.onLine);
}
