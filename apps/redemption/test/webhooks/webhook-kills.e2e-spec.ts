import { describeWebhookKills } from './webhook-kills.support-spec.js';

describeWebhookKills({ events: 2000, wallets: 97, kills: 3 });
