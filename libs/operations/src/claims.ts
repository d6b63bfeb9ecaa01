/** Claims on chain that the ledger does not explain. */
import {
  type ClaimKey,
  ClaimStore,
  type Database,
  type PageRequest,
  type UnexplainedClaim,
} from '#libs/db';
import { type Clock } from '#libs/platform';
import { audited, auditedText, type Operator } from './audit/audited.js';

const ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]{64})$/i;
const LONGEST_NOTE = 255;
/** How long the redemption service gives its workers to record a claim. */
export const CLAIM_OVERDUE_MS = 3_600_000;

/** The claims that no row explains, oldest first. @param page `all` includes acknowledged claims */
export function unexplainedClaims(
  database: Database,
  clock: Clock,
  page: { readonly all: boolean } & PageRequest<ClaimKey>,
): Promise<UnexplainedClaim[]> {
  return new ClaimStore(database).list(clock.nowMs() - CLAIM_OVERDUE_MS, page);
}

export interface ClaimAcknowledgement {
  /** From `parseClaimId`. */
  readonly id: string;
  /** From `parseClaimNote`. */
  readonly note: string;
}

/**
 * Notes that a person has looked into a claim, so that it raises no alert any more.
 * @returns how many claims the note is for; one id may be claimed on several vaults
 * @throws NoSuchClaimError
 */
export function acknowledgeClaim(
  database: Database,
  clock: Clock,
  operator: Operator,
  { id, note }: ClaimAcknowledgement,
): Promise<number> {
  const claim = { id, note, ...operator, atMs: clock.nowMs() };
  return audited(database, { ...operator, arguments: { id, note } }, {}, () =>
    new ClaimStore(database).acknowledge(claim),
  );
}

/** The id as the list of claims has it; undefined where the text is not the id of a claim. */
export function parseClaimId(text: string): string | undefined {
  return ID.test(text) ? text.toLowerCase() : undefined;
}

/** The note as the audit log keeps it; undefined where it is empty or too long. */
export function parseClaimNote(text: string): string | undefined {
  const note = auditedText(text.trim());
  return note === '' || Array.from(text.trim()).length > LONGEST_NOTE ? undefined : note;
}
