/** The webhook that a command works on: its partner, by name or id, and its own id. */
import { type Database, SubscriptionStore, type WebhookSubscription } from '#libs/db';
import { resolvePartner, type WebhookChoice, webhookId } from '#libs/operations';
import { type OperatorSettings } from '../cli.env.js';
import { type Call } from '../command.js';
import { type PartnerArgument } from '../operation-command.js';

export interface Chosen extends PartnerArgument {
  readonly webhook: string;
}

/** Works on the webhook that a person chose. @throws PartnerUnknownError, PartnerAmbiguousError, WebhookMissingError */
export function onWebhook<T>(
  call: Call<OperatorSettings>,
  { name, webhook }: Chosen,
  work: (database: Database, choice: WebhookChoice) => Promise<T>,
): Promise<T> {
  return call.withPartner(name, (database, { partnerId: partner }) =>
    work(database, { partner, webhook: webhookId(webhook) }),
  );
}

/** All webhooks of the partner that a person named. @throws PartnerUnknownError, PartnerAmbiguousError */
export async function webhooksOf(database: Database, name: string): Promise<WebhookSubscription[]> {
  const { partnerId } = await resolvePartner(database, name);
  return new SubscriptionStore(database).list(partnerId);
}
