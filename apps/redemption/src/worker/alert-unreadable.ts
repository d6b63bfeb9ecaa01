import { type UnreadableRedemptionError } from '#libs/db';
import { type Alerts } from '../observe/alerts.js';

/** For a lease: a row that cannot be read is a person's business. */
export function alertUnreadable(alerts: Alerts): (error: UnreadableRedemptionError) => void {
  return ({ redemptionId, fault }) => {
    alerts.raise({
      severity: 'critical',
      code: 'redemption-unreadable',
      redemptionId,
      detail: `its row cannot be read (${fault}): no program of ours has written it so, and nothing is done with it`,
    });
  };
}
