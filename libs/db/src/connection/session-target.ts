/**
 * Checks whether a server is of the kind that `target_session_attrs` asks for. PostgreSQL 14 and newer report their
 * kind before the first statement and after each change, so no statement is needed.
 */
import { type SessionTarget } from '#libs/platform';

/** Parameters that the server reports; see "Asynchronous Operations" in the description of PostgreSQL's protocol. */
export interface ReportedState {
  standby?: boolean;
  readOnly?: boolean;
}

const PARAMETERS: Record<string, keyof ReportedState> = {
  in_hot_standby: 'standby',
  default_transaction_read_only: 'readOnly',
};

/** Stores the value of one ParameterStatus message. Ignores parameters that are not in PARAMETERS. */
export function noteReport(state: ReportedState, name: string, value: string): void {
  const key = PARAMETERS[name];
  if (key !== undefined) state[key] = value === 'on';
}

/**
 * @param asksForReadOnly whether the session itself asked for read-only transactions, so that `readOnly`
 * says nothing of the server
 */
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
