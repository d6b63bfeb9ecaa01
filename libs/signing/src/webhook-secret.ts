/** The signing secrets of webhooks, in the form of Standard Webhooks. */
import { randomBytes } from 'node:crypto';

/** Standard Webhooks asks for 24 to 64. */
const SECRET_BYTES = 32;

/** `whsec_` and base64. */
export function mintWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** The context of its seal: a sealed secret opens for its own subscription only. */
export function webhookSealContext(subscription: string): Buffer {
  return Buffer.from(`webhook:${subscription}`);
}
