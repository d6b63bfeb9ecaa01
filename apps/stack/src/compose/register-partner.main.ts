/**
 * `./lowmark local up`: registers the reference partner with the operator's own commands. Idempotent: it sets the
 * callback again and changes nothing else.
 */
import { readSettings } from '#libs/config';
import { operator, setCallback } from '../programs.js';
import { endWithMessage, REFERENCE_PARTNER, RegisterSettings } from './compose.settings.js';

try {
  const settings = readSettings(RegisterSettings);
  const access = { DATABASE_URL: settings.databaseUrl, SECRETS_KEY: settings.secretsKey };
  const listed = await operator(['partner', 'list', '--json'], access);
  const partners = JSON.parse(listed) as readonly { readonly name: string }[];
  if (!partners.some(({ name }) => name === REFERENCE_PARTNER)) {
    // The reference partner redeems and asks for no snapshots, so its printed credential is discarded.
    await operator(['partner', 'create', '--name', REFERENCE_PARTNER, '--json'], access);
  }
  const url = settings.localPartnerUrl;
  const keys = { key: settings.partnerApiKey, secret: settings.partnerSharedSecret };
  await setCallback({ name: REFERENCE_PARTNER, url }, keys, access);
  console.log(`The partner "${REFERENCE_PARTNER}" is called at ${url}`);
} catch (error) {
  endWithMessage(error);
}
