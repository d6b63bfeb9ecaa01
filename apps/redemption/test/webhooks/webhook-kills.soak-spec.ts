import { describeWebhookKills } from './webhook-kills.support-spec.js';

describeWebhookKills({
  ...{ events: 100_000, wallets: 2003, kills: 40 },
  ...{ redemptionsBefore: 120, redemptionsAKill: 7 },
});
