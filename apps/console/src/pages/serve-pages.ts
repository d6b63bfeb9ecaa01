import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply } from 'fastify';
import { PermanentError } from '#libs/domain';
import { type ConsoleSettings } from '../console.env.js';

/** As Vite builds the web app, beside this program. */
export const BUILT_PAGES = fileURLToPath(new URL('../../../web/', import.meta.url));
/** One document serves all pages; the web app finds the page of a path. */
const PAGES = [
  '/',
  '/redeem',
  '/redeem/*',
  '/operate',
  '/operate/*',
  '/partner',
  '/partner/*',
  '/sign-in/*',
];
/** What stands in the document for the nonce of its answer. */
const NONCE_MARK = '%NONCE%';
const YEAR_MS = 365 * 24 * 3_600_000;

/**
 * Serves the web app from the folder that it was built into. Its files have the hash of their content in their names, so that browsers keep them for ever; they lie
 * compressed on the disk.
 * @throws PermanentError PAGES_NOT_BUILT
 */
export async function servePages(
  app: NestFastifyApplication,
  { walletconnectProjectId }: Pick<ConsoleSettings, 'walletconnectProjectId'>,
  folder: string,
): Promise<void> {
  const document = await readDocument(folder);
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
  const sendPage = (_: unknown, reply: FastifyReply): FastifyReply => {
    const nonce = randomBytes(18).toString('base64');
    return reply
      .header('content-security-policy', policy(nonce, walletconnectProjectId !== undefined))
      .type('text/html; charset=utf-8')
      .send(document.replaceAll(NONCE_MARK, nonce));
  };
  for (const path of PAGES) fastify.get(path, sendPage);
}

/** Wallets announce themselves with icons as data: URLs (EIP-6963). Only WalletConnect needs another host. */
function policy(nonce: string, usesWalletConnect: boolean): string {
  const relay = usesWalletConnect
    ? ' wss://relay.walletconnect.com wss://relay.walletconnect.org'
    : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    `connect-src 'self'${relay}`,
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

async function readDocument(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'index.html'), 'utf8');
  } catch (error) {
    throw new PermanentError('PAGES_NOT_BUILT', 'The web pages are not built: npm run build.', {
      cause: error,
    });
  }
}
