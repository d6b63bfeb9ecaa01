/**
 * Ids of rows. Each kind is a type of its own, so that neither a text that a person typed nor the id of another kind
 * passes for one. An id comes from a row, or from a parser here; a parsed id may belong to no row.
 */

/** The id of a partner. A name is not one: `resolvePartner` finds the partner that a person named. */
export type PartnerId = string & { readonly __brand: 'PartnerId' };

/** The id of a webhook, which is a partner's subscription to events. */
export type WebhookId = string & { readonly __brand: 'WebhookId' };

/** The id of an API credential. People name a credential by a prefix of its key. */
export type CredentialId = string & { readonly __brand: 'CredentialId' };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id in lower case; undefined if the text is not a UUID. */
export function parsePartnerId(text: string): PartnerId | undefined {
  return parseUuid(text) as PartnerId | undefined;
}

/** The id in lower case; undefined if the text is not a UUID. */
export function parseWebhookId(text: string): WebhookId | undefined {
  return parseUuid(text) as WebhookId | undefined;
}

/** The id in lower case; undefined if the text is not a UUID. */
export function parseCredentialId(text: string): CredentialId | undefined {
  return parseUuid(text) as CredentialId | undefined;
}

/** A UUID of any version as PostgreSQL writes it: in lower case. */
function parseUuid(text: string): string | undefined {
  const id = text.toLowerCase();
  return UUID.test(id) ? id : undefined;
}
