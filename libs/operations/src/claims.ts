/** Claims on chain that the ledger does not explain. */
import {
  type ClaimKey,
  ClaimStore,
  type Database,
  type PageRequest,
  type UnexplainedClaim,
} from '#libs/db';
import { type Clock } from '#libs/platform';
import { audited } from './audit/audited.js';
import { Field } from './operation/field.js';
import { Operation, type OperationContext, operatorOf } from './operation/operation.js';
import { keptNote, NOTE } from './operation/page-fields.js';

const ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]{64})$/i;
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

/** Notes that an operator has looked into a claim, so that it raises no alert any more. */
export class AcknowledgeClaim extends Operation<number> {
  static readonly spec = {
    command: 'reconciliation acknowledge',
    description: 'take a claim that you have explained out of the alerts; it stays in the list',
    consequence:
      'After the next reconciliation, within the hour, the claim is no longer an alert; it stays in the list, with the note.',
    role: 'operator',
  } as const;

  @Field({
    type: 'text',
    help: 'as the list has it',
    argument: '<id>',
    expected: 'the id of a redemption, or 0x and 64 hex digits',
    isRight: (text) => parseClaimId(text) !== undefined,
    inPath: true,
  })
  readonly id!: string;

  @Field(NOTE) readonly note!: string;

  /**
   * @returns how many claims the note is for; one id may be claimed on several vaults
   * @throws NoSuchClaimError
   */
  perform(context: OperationContext): Promise<number> {
    const { database, clock } = context;
    const [id = '', note = ''] = [parseClaimId(this.id), keptNote(this.note)];
    const operator = operatorOf(this, context);
    const claim = { id, note, ...operator, atMs: clock.nowMs() };
    return audited(database, { ...operator, arguments: { id, note } }, {}, () =>
      new ClaimStore(database).acknowledge(claim),
    );
  }

  override outcomeOf(): string {
    return 'Acknowledged. The alert ends with the next reconciliation, which the service makes within the hour.';
  }
}

/** The id as the list of claims has it; undefined where the text is not the id of a claim. */
export function parseClaimId(text: string): string | undefined {
  return ID.test(text) ? text.toLowerCase() : undefined;
}
