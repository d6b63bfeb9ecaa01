import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { PermanentError } from '#libs/domain';

/** The folder into which Vite builds the web app, beside this program. */
export const BUILT_PAGES = fileURLToPath(new URL('../../../web/', import.meta.url));
/**
 * Paths by kind of page. Each kind has one document per language; see apps/web/documents.mjs. The web app finds the
 * page.
 */
const PAGES = {
  players: ['/', '/redeem'],
  desk: ['/redeem/*', '/operate', '/operate/*', '/partner', '/partner/*', '/sign-in/*'],
};
/** The first language is the default for readers who want none of these. */
const LANGUAGES = ['en', 'de'] as const;
const SCHEMES = new Set(['light', 'dark']);
const YEAR_MS = 365 * 24 * 3_600_000;

/**
 * Serves the web app from the folder into which it was built. The names of its files contain the hash of their content,
 * so that browsers may keep the files for ever. Compressed copies are stored beside the files.
 * @throws PermanentError PAGES_NOT_BUILT
 */
export async function servePages(app: NestFastifyApplication, folder: string): Promise<void> {
  const fastify = app.getHttpAdapter().getInstance();
  await fastify.register(fastifyStatic, {
    root: join(folder, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: YEAR_MS,
    decorateReply: false,
    index: false,
  });
  for (const [kind, paths] of Object.entries(PAGES)) {
    const documents = new Map<string, string>();
    for (const language of LANGUAGES) {
      documents.set(language, await readDocument(join(folder, `${kind}.${language}.html`)));
    }
    const sendPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      const nonce = randomBytes(18).toString('base64');
      const { headers, cookies } = request;
      const language = languageOf(headers['accept-language'], cookies, LANGUAGES);
      return reply
        .header('content-security-policy', policy(nonce))
        .header('content-language', language)
        .type('text/html; charset=utf-8')
        .send(
          fillPlaceholders(documents.get(language) ?? '', {
            nonce,
            language,
            scheme: schemeOf(cookies),
          }),
        );
    };
    for (const path of paths) fastify.get(path, sendPage);
  }
}

type Cookies = Readonly<Record<string, string | undefined>>;

interface PageValues {
  readonly nonce: string;
  readonly language: string;
  readonly scheme: string;
}

function fillPlaceholders(document: string, { nonce, language, scheme }: PageValues): string {
  return document
    .replaceAll('%NONCE%', nonce)
    .replace('%LANGUAGE%', language)
    .replace('%SCHEME%', scheme);
}

/**
 * Content-Security-Policy of a page. Images may be data: URLs, since wallets announce themselves with such icons
 * (EIP-6963). The page loads nothing from other hosts.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function readDocument(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new PermanentError('PAGES_NOT_BUILT', 'The web pages are not built: npm run build.', {
      cause: error,
    });
  }
}

/**
 * The language of the document: the chosen one, else the first accepted language that is in `languages`, else the first
 * of `languages`.
 */
export function languageOf(
  acceptLanguage: string | undefined,
  cookies: Cookies,
  languages: readonly [string, ...string[]],
): string {
  const accepted = (acceptLanguage ?? '').split(',');
  const wanted = [cookies['lowmark-language'] ?? '', ...accepted];
  const codes = wanted.map((one) => one.trim().slice(0, 2).toLowerCase());
  return codes.find((code) => languages.includes(code)) ?? languages[0];
}

/** The colour scheme that the reader chose; empty for the scheme of the system. */
export function schemeOf(cookies: Cookies): string {
  const chosen = cookies['lowmark-scheme'] ?? '';
  return SCHEMES.has(chosen) ? chosen : '';
}
