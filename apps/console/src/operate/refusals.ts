import { LowmarkError } from '#libs/domain';
import { OptionError, RefusedOperationError } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { RefusalsInterceptor } from '../http/refusals.interceptor.js';

/** Statuses of refusals by code. These errors are answered with their own message, since operators may read it. */
const STATUS: Readonly<Record<string, number>> = {
  OPTION_INVALID: 400,
  PARTNER_CREDENTIAL_INVALID: 400,
  STAKE_SET_UNKNOWN: 400,
  PARTNER_AMBIGUOUS: 400,
  PARTNER_UNKNOWN: 404,
  CLAIM_NOT_FOUND: 404,
  REDEMPTION_MISSING: 404,
  CREDENTIAL_MISSING: 404,
  INVITATION_CLOSED: 404,
  MEMBER_UNKNOWN: 404,
  PARTNER_MISSING: 409,
  PRICE_NOT_HELD: 409,
  PRICE_MOVED: 409,
  PARTNER_EXISTS: 409,
  ALREADY_DONE: 409,
  APPROVAL_NEEDED: 409,
  CREDENTIAL_EXISTS: 409,
  CREDENTIAL_AMBIGUOUS: 409,
  LAST_CREDENTIAL: 409,
  REDEMPTION_STALE: 409,
  VIEW_OUTDATED: 409,
  REDEMPTION_UNREADABLE: 409,
  PARTNER_ID_REUSED: 409,
  NO_CONFIRMATION: 409,
  STILL_TRYING: 409,
  SECRETS_KEY_MISSING: 409,
  SEALED_SECRET_INVALID: 409,
};

/** Refusals whose code the pages do not know. */
const TOLD_AS: Readonly<Record<string, string>> = {
  INVITATION_CLOSED: 'NOT_FOUND',
  MEMBER_UNKNOWN: 'NOT_FOUND',
};

/** Replaces the operation's own message if that names a command to type. */
const MESSAGE: Readonly<Record<string, string>> = {
  PARTNER_UNKNOWN: 'There is no partner of this name or id: the list of partners has them all.',
  CLAIM_NOT_FOUND: 'No such claim is waiting for an explanation now: load the list again.',
  INVITATION_CLOSED: 'There is no such invitation that is open.',
  MEMBER_UNKNOWN: 'There is no such member.',
};

export const REFUSALS = new RefusalsInterceptor(refusalProblem);

function refusalProblem(error: unknown): unknown {
  if (!(error instanceof LowmarkError) || error instanceof HttpProblem) return error;
  const status = error instanceof RefusedOperationError ? 409 : STATUS[error.code];
  if (status === undefined) return error;
  const code = TOLD_AS[error.code] ?? error.code;
  const field = error instanceof OptionError ? error.field : undefined;
  const message = MESSAGE[error.code] ?? messageOf(error);
  return new HttpProblem(status, message, { code, field, cause: error });
}

function messageOf(error: LowmarkError): string {
  const hasOther = error instanceof OptionError || error instanceof RefusedOperationError;
  return hasOther ? error.onPages : error.message;
}
