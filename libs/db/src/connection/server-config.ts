import { type ClientConfig } from 'pg';
import { type SessionSettings } from './session-settings.js';

/**
 * For one host. The settings of the session travel in the start-up packet, so no statement can run before them.
 */
export function serverConfig(host: URL, session: SessionSettings = {}): ClientConfig {
  const url = new URL(host);
  // pg lets `options` of the URL replace ours; both are meant, ours last because the last one wins.
  const given = url.searchParams.get('options');
  url.searchParams.delete('options');
  // Neither may it replace our name, by which programs are counted.
  url.searchParams.delete('application_name');
  // sslmode means what it means to libpq: `require` encrypts, `verify-full` also checks the name.
  if (!url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  const all = [
    ...(given === null ? [] : [given]),
    ...Object.entries(session).map(([name, value]) => `-c ${name}=${value}`),
  ];
  return {
    connectionString: url.href,
    ...(all.length > 0 && { options: all.join(' ') }),
  };
}
