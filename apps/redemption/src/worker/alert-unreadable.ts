import { type UnreadableRedemptionError } from '#libs/db';
import { type Alerts } from '../observe/alerts.js';

/** What a lease does with a row that cannot be read: a person has to look at it. */
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
