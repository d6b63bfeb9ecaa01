/** Whether the services can be asked, and answer. */
import { useSyncExternalStore } from 'react';
import { Listeners } from './listeners';

/** What is asked for is answered in less, except by partners. */
const SOON_MS = 5_000;

let isSilent = false;
const listeners = new Listeners();

function become(silent: boolean): void {
  if (silent === isSilent) return;
  isSilent = silent;
  listeners.tell();
}

/**
 * Watches one question. One that has no answer soon shows that the service is silent, until it answers any of them.
 * @returns is to be called when the question is over
 */
export function watchAnswer(): (hasAnswered: boolean) => void {
  const timer = setTimeout(become, SOON_MS, true);
  return (hasAnswered) => {
    clearTimeout(timer);
    if (hasAnswered) become(false);
  };
}

/** Whether the service takes questions and does not answer. */
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

/** Whether the browser has a connection. */
export function useOnline(): boolean {
  return useSyncExternalStore(onConnection, () => navigator.onLine);
}
