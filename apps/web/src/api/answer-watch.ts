import { useSyncExternalStore } from 'react';

/** What is asked for is answered in less, except by partners. */
const SOON_MS = 5_000;

let isSilent = false;
const listeners = new Set<() => void>();

function become(silent: boolean): void {
  if (silent === isSilent) return;
  isSilent = silent;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
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
  return useSyncExternalStore(subscribe, () => isSilent);
}
