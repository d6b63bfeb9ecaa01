/** What a check found out about one thing. */
export type FindingState = 'ok' | 'warning' | 'fault' | 'not-checked';

export interface Finding {
  /** What was looked at: `rpc 127.0.0.1:8545#1: head`. */
  readonly what: string;
  readonly state: FindingState;
  readonly found: string;
  /** What to do about it; absent where nothing. */
  readonly mend?: string;
}

export function ok(what: string, found: string): Finding {
  return { what, state: 'ok', found };
}

/** It works, and not as it should. */
export function warning(what: string, found: string, mend: string): Finding {
  return { what, state: 'warning', found, mend };
}

/** A service that needs it does not work. */
export function fault(what: string, found: string, mend: string): Finding {
  return { what, state: 'fault', found, mend };
}

export function notChecked(what: string, why: string): Finding {
  return { what, state: 'not-checked', found: why };
}
