import { useState } from 'react';

interface Entry {
  readonly kept?: Readonly<Record<string, unknown>>;
}

declare module '@tanstack/react-router' {
  /** Lets a link set the kept values of its target page. */
  interface HistoryState {
    kept?: Readonly<Record<string, unknown>>;
  }
}

function entry(): Entry {
  return (history.state ?? {}) as Entry;
}

/**
 * A state that is stored in the current history entry, so that it survives a reload and returns with the browser's back
 * button.
 * @param name unique on this page; its value must keep the same form in all versions
 */
export function useKept<T>(name: string, initial: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const { kept = {} } = entry();
    return Object.hasOwn(kept, name) ? (kept[name] as T) : initial;
  });
  const keep = (next: T): void => {
    const before = entry();
    const kept = { ...before.kept, [name]: next };
    // Bypasses the router, which replaces `history.replaceState` and would treat the call as a navigation.
    History.prototype.replaceState.call(history, { ...before, kept }, '');
    setValue(next);
  };
  return [value, keep];
}
