import { describeWebhookKills } from './webhook-kills.support-spec.js';

describeWebhookKills({
  ...{ events: 2000, wallets: 397, kills: 3 },
  ...{ redemptionsBefore: 12, redemptionsAKill: 8 },
});
