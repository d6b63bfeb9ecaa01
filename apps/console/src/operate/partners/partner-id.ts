import { PartnerUnknownError } from '#libs/db';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** Of routes. */
export const PARTNER_ID = {
  name: 'partner',
  schema: { type: 'string', format: 'uuid' },
  description: 'The id of the partner.',
} as const;

/** @throws PartnerUnknownError */
export function partnerIdOf(text: string): string {
  if (!UUID.test(text)) throw new PartnerUnknownError();
  return text;
}
