import { PermanentError } from '#libs/domain';

/**
 * Codes of errors that rest on what a node answered, or on what this process remembers. Such a finding halts the index,
 * or ends a start, only when it was made several times.
 */
export const FINDINGS: ReadonlySet<string> = new Set([
  'CHAIN_SKIPS_HEIGHTS',
  'DEEP_REORGANISATION',
  'EVENTS_IN_DOUBT',
  'NEGATIVE_BALANCE',
  'NO_CONTRACT',
  'RPC_CHAIN_MISMATCH',
  'RPC_EXECUTION_REVERTED',
  'STAKE_EVENT_MISMATCH',
  'STAKE_VIEW_MISMATCH',
  'STAKE_VIEW_UNANSWERED',
  'START_BLOCK_AHEAD',
  'TOKEN_CHANGED',
  'TOKEN_DISPUTED',
  'TOKEN_UNREADABLE',
  'TOTAL_MISMATCH',
  'VERIFICATION_IMPOSSIBLE',
  'WALLET_MISMATCH',
  'WRONG_WALLET_STATE',
]);
const CONFIRMATIONS = 3;

/** The failures since the last turn that succeeded. A time-out neither confirms a finding nor clears it. */
export class Failures {
  private readonly findings = new Map<string, number>();
  private count = 0;

  get inARow(): number {
    return this.count;
  }

  add(error: unknown): void {
    this.count += 1;
    if (!(error instanceof PermanentError)) return;
    this.findings.set(error.code, (this.findings.get(error.code) ?? 0) + 1);
  }

  /** Whether the error halts the index: a finding that was made three times, or an error that is none. */
  isConfirmed({ code }: PermanentError): boolean {
    return !FINDINGS.has(code) || (this.findings.get(code) ?? 0) >= CONFIRMATIONS;
  }

  clear(): void {
    this.count = 0;
    this.findings.clear();
  }
}
