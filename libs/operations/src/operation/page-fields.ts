/** Fields that pages send and commands do not have. */
import { createHash } from 'node:crypto';
import { isStakeSetName, PermanentError, STAKE_SET_RULE } from '#libs/domain';
import { auditedText } from '../audit/audited.js';
import { type FieldSpec } from './field.js';

const LONGEST_NOTE = 255;

/** Why an operation is asked for, of a second operator. */
export const REASON = {
  type: 'text',
  label: 'Reason',
  help: 'it stays in the log; a second operator decides by it',
  expected: '1 to 500 characters in one line, none of them a control, direction or invisible one',
  pattern: /^(?=.*\S)[^\p{C}\u2028\u2029]{1,500}$/u,
  ...{ least: 1, most: 500 },
} as const satisfies FieldSpec;

/** The stake set that an operation works on; the command takes its default from STAKE_SET. */
export const STAKE_SET = {
  type: 'text',
  help: 'of several stake sets the one that is meant',
  option: '--stake-set <name>',
  expected: STAKE_SET_RULE,
  isRight: isStakeSetName,
} as const satisfies FieldSpec;

/** The note of an acknowledgement, for the audit and the list. */
export const NOTE = {
  type: 'text',
  label: 'What it was',
  help: 'what it was, for the person who comes after you',
  option: '--note <text>',
  expected: `1 to ${LONGEST_NOTE} characters`,
  isRight: (text) => keptNote(text) !== undefined,
  ...{ least: 1, most: LONGEST_NOTE, required: true },
} as const satisfies FieldSpec;

/** The note as the audit log keeps it; undefined where it is empty or too long. */
export function keptNote(text: string): string | undefined {
  const note = auditedText(text.trim());
  return note === '' || Array.from(text.trim()).length > LONGEST_NOTE ? undefined : note;
}

/** The name of a request that creates something: the id of the created row is derived from it and the operator. */
export const REQUEST = {
  type: 'uuid',
  help: 'names the request: sent again, it creates nothing more',
  required: true,
} as const satisfies FieldSpec;

/** The request has created its row already, and the answer with the secret was given then. */
export class AlreadyDoneError extends PermanentError {
  constructor(message: string) {
    super('ALREADY_DONE', message);
  }
}

/**
 * The id that a request gives to what it creates; undefined without a request, as on the command line.
 * @param scope names of the request are unique within it
 */
export function createdId(
  subject: string | undefined,
  request: string | undefined,
  scope = '',
): string | undefined {
  if (subject === undefined || request === undefined) return undefined;
  const named = `${subject}\n${scope}${request.toLowerCase()}`;
  const digest = createHash('sha256').update(named).digest().subarray(0, 16);
  // A UUID of version 8 (RFC 9562), whose other bits are free to choose.
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
