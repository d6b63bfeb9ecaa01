import { PermanentError } from '#libs/domain';

/** STAKE_EVENTS cannot be used as it stands. */
export class StakeEventsError extends PermanentError {
  constructor(where: string, reason: string) {
    super('STAKE_EVENTS_INVALID', `${where}: ${reason}`);
  }
}
