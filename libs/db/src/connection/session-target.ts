/**
 * Whether a session is with the kind of server that `target_session_attrs` asks for. PostgreSQL 14 and newer tell it before the first
 * statement, and tell again when it changes; so no statement is needed.
 */
import { type SessionTarget } from '#libs/platform';

/** What the server reports of itself; see "Asynchronous Operations" of the protocol's description. */
export interface ReportedState {
  /** `in_hot_standby` */
  standby?: boolean;
  /** `default_transaction_read_only` */
  readOnly?: boolean;
}

const PARAMETERS: Record<string, keyof ReportedState> = {
  in_hot_standby: 'standby',
  default_transaction_read_only: 'readOnly',
};

/** Takes one ParameterStatus; those of other names are not kept. */
export function noteReport(state: ReportedState, name: string, value: string): void {
  const key = PARAMETERS[name];
  if (key !== undefined) state[key] = value === 'on';
}

/** @param asksForReadOnly the session itself asked for read-only transactions, so that these say nothing of the server */
export function isTarget(
  target: SessionTarget,
  { standby = false, readOnly = false }: ReportedState,
  asksForReadOnly: boolean,
): boolean {
  const refusesWrites = standby || (readOnly && !asksForReadOnly);
  switch (target) {
    case 'any':
      return true;
    case 'read-write':
      return !refusesWrites;
    case 'read-only':
      return refusesWrites;
    case 'primary':
      return !standby;
    case 'standby':
      return standby;
  }
}
