import { PermanentError } from '#libs/domain';

/** The audit could not be made; it says nothing about the balances. */
export class AuditImpossibleError extends PermanentError {
  constructor(message: string) {
    super('AUDIT_IMPOSSIBLE', message);
  }
}
