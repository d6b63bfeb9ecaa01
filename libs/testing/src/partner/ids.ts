import { randomUUID } from 'node:crypto';
import { type CredentialId, type PartnerId, type WebhookId } from '#libs/domain';

/** An id that no partner has. */
export const aPartnerId = (): PartnerId => randomUUID() as PartnerId;

/** An id that no webhook has. */
export const aWebhookId = (): WebhookId => randomUUID() as WebhookId;

/** An id that no credential has. */
export const aCredentialId = (): CredentialId => randomUUID() as CredentialId;
