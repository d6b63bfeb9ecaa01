import { PermanentError } from '#libs/domain';
import { OptionError } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { RefusalsInterceptor } from '../http/refusals.interceptor.js';

/** Statuses of refusals by code. These errors are answered with their own message, since partners may read it. */
const STATUS: Readonly<Record<string, number>> = {
  CREDENTIAL_MISSING: 404,
  CREDENTIAL_AMBIGUOUS: 409,
  LAST_CREDENTIAL: 409,
  TOO_MANY_CREDENTIALS: 409,
  LAST_MEMBER: 409,
  MEMBER_MISSING: 404,
  WEBHOOK_MISSING: 404,
  WEBHOOK_EVENT_MISSING: 404,
  TOO_MANY_WEBHOOKS: 409,
};

export const REFUSALS = new RefusalsInterceptor((error) => {
  if (!(error instanceof PermanentError)) return error;
  const { code, message } = error;
  if (error instanceof OptionError) {
    const { onPages, field } = error;
    return new HttpProblem(400, onPages, { code: 'BAD_REQUEST', field });
  }
  const status = STATUS[code];
  return status === undefined ? error : new HttpProblem(status, message, { code });
});
