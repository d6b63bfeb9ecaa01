import { type FastifyRequest } from 'fastify';

const SCHEMES = new Set(['light', 'dark']);

/** The language of the documents for a reader: the one that was chosen, else the first that the browser wants and there is, else the first there is. */
export function languageOf(
  { cookies, headers }: Pick<FastifyRequest, 'cookies' | 'headers'>,
  languages: readonly [string, ...string[]],
): string {
  const accepted = (headers['accept-language'] ?? '').split(',');
  const wanted = [cookies['lowmark-language'] ?? '', ...accepted];
  const codes = wanted.map((one) => one.trim().slice(0, 2).toLowerCase());
  return codes.find((code) => languages.includes(code)) ?? languages[0];
}

/** The colours that were chosen; empty: as the system has them. */
export function schemeOf({ cookies }: Pick<FastifyRequest, 'cookies'>): string {
  const chosen = cookies['lowmark-scheme'] ?? '';
  return SCHEMES.has(chosen) ? chosen : '';
}
