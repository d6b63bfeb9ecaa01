/** Settings of the web pages that several programs read. */
import { type SettingOptions, url } from './setting.js';
import { databaseUrl } from './service.settings.js';

/** @throws Error where the text is more than a scheme, a host and a port */
export function origin(text: string): string {
  const parsed = new URL(url('http', 'https')(text));
  if (parsed.origin !== text.replace(/\/$/, '')) {
    throw new Error('must be a scheme, a host and a port, as browsers show them: https://host');
  }
  return parsed.origin;
}

export const CONSOLE_ORIGIN_SETTING: SettingOptions = {
  description:
    'Where browsers reach the pages: scheme, host and port. Requests of other origins are refused; cookies are Secure with https.',
  default: 'http://127.0.0.1:3003',
  parse: origin,
};

export const PORTAL_DATABASE_URL_SETTING: SettingOptions = {
  description:
    'The database as the console’s second user, who reads only the rows of the partner that a transaction names. `migrate` makes that user. Unset: there are no pages for partners.',
  secret: true,
  optional: true,
  parse: databaseUrl,
};

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

export function isLoopback(text: string): boolean {
  return LOOPBACK.test(new URL(text).hostname);
}
