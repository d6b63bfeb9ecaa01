import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadUser, RedemptionLoad } from '../restarts/redemption-load.js';

const UNAVAILABLE = 503;
/** Of a user's redemption and the next user's. */
const PAUSE_MS = 500;

/** Users who wait for the service, as its 503 asks for, and go on with the same redemption. New ones may be added at any time. */
export class PatientRedemptions extends RedemptionLoad {
  protected override async nextUser(users: LoadUser[]): Promise<LoadUser | undefined> {
    await sleep(PAUSE_MS);
    while (users.length === 0 && !this.stopping) await sleep(50);
    return users.pop();
  }

  protected override get asksAgainAfter(): readonly number[] {
    return [UNAVAILABLE];
  }
}
