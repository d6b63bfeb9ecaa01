import { useState } from 'react';

interface Entry {
  readonly kept?: Readonly<Record<string, unknown>>;
}

declare module '@tanstack/react-router' {
  /** By which a link fills in the page that it leads to. */
  interface HistoryState {
    kept?: Readonly<Record<string, unknown>>;
  }
}

function entry(): Entry {
  return (history.state ?? {}) as Entry;
}

/**
 * What is set on a page stays by a reload, and comes back with the page by the browser's back: it is in the entry of the history.
 * @param name on this page; what it holds has the same form for good
 */
export function useKept<T>(name: string, initial: T): readonly [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const { kept = {} } = entry();
    return Object.hasOwn(kept, name) ? (kept[name] as T) : initial;
  });
  const keep = (next: T): void => {
    const before = entry();
    const kept = { ...before.kept, [name]: next };
    // Not by the object itself: the router would take it for a change of the place.
    History.prototype.replaceState.call(history, { ...before, kept }, '');
    setValue(next);
  };
  return [value, keep];
}
