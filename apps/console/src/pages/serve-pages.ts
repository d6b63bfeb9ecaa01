import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { PermanentError } from '#libs/domain';

/** As Vite builds the web app, beside this program. */
export const BUILT_PAGES = fileURLToPath(new URL('../../../web/', import.meta.url));
/** A document for each kind of page, in each language; the web app finds the page of a path. See apps/web/documents.mjs. */
const PAGES = {
  players: ['/', '/redeem'],
  desk: ['/redeem/*', '/operate', '/operate/*', '/partner', '/partner/*', '/sign-in/*'],
};
/** The first is for readers who want none of them. */
const LANGUAGES = ['en', 'de'] as const;
const SCHEMES = new Set(['light', 'dark']);
const YEAR_MS = 365 * 24 * 3_600_000;

/**
 * Serves the web app from the folder that it was built into. Its files have the hash of their content in their names, so that browsers keep them for ever; they lie
 * compressed on the disk.
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
          filled(documents.get(language) ?? '', { nonce, language, scheme: schemeOf(cookies) }),
        );
    };
    for (const path of paths) fastify.get(path, sendPage);
  }
}

type Cookies = Readonly<Record<string, string | undefined>>;

interface Marks {
  readonly nonce: string;
  readonly language: string;
  readonly scheme: string;
}

/** What a document leaves open for its answer. */
function filled(document: string, { nonce, language, scheme }: Marks): string {
  return document
    .replaceAll('%NONCE%', nonce)
    .replace('%LANGUAGE%', language)
    .replace('%SCHEME%', scheme);
}

/** Wallets announce themselves with icons as data: URLs (EIP-6963). Nothing is asked of another host. */
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

/** The language of the documents for a reader: the one that was chosen, else the first that the browser wants and there is, else the first there is. */
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

/** The colours that were chosen; empty: as the system has them. */
export function schemeOf(cookies: Cookies): string {
  const chosen = cookies['lowmark-scheme'] ?? '';
  return SCHEMES.has(chosen) ? chosen : '';
}
