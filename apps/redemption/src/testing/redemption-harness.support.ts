/**
 * The whole redemption service with its database, a vault on a chain and a partner. Named as a test file, without tests
 * of its own.
 */
import { randomBytes } from 'node:crypto';
import { type AddressInfo } from 'node:net';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import request, { type Response, type Test } from 'supertest';
import { readSettings, testConstants } from '#libs/config';
import { type Database, PriceStore, RedemptionStore, SessionStore } from '#libs/db';
import { type VaultSetup } from '#libs/devchain';
import { type Address, newRedemption, type Redemption, type UuidV7 } from '#libs/domain';
import { newToken } from '#libs/signing';
import { EVIDENCE_KEY, testEvidence } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
import { createRedemption } from '../create-redemption.js';
import { RedemptionSettings } from '../redemption.env.js';
import {
  connected,
  SECRETS_KEY,
  someKey,
  someTerms,
  type Stage,
  startStage,
  stopStage,
} from './stage.support.js';

export { addPartner, SECRETS_KEY } from './stage.support.js';

export const DOMAIN = 'app.example.com';

/** Another instance of the same service, as far as it differs from the first one. */
export type Replica = Pick<Service, 'app' | 'url' | 'port'>;

export interface Service extends Stage {
  readonly app: NestFastifyApplication;
  readonly url: string;
  readonly port: number;
  readonly store: RedemptionStore;
  /** Starts another instance on the same database and chain, with the same settings. */
  replica(): Promise<Replica>;
  readonly stop: () => Promise<void>;
}

/** The constants of the service, unless a test sets others. */
export const QUICK_PAYOUTS = { payoutPollMs: 50, payoutExpiryMarginSeconds: 0 };

export async function startService(
  overrides: Record<string, string> = {},
  /** The endpoint that the service uses; default: the chain itself. */
  rpcUrlOf: (chainUrl: string) => Promise<string> = (url) => Promise.resolve(url),
  vault: Partial<VaultSetup> = {},
): Promise<Service> {
  const stage = await startStage(vault);
  const RPC_URLS = await rpcUrlOf(stage.bench.chain.url);
  const { stop: close, ...service } = await serveOn(stage, { RPC_URLS, ...overrides }).catch(
    async (error: unknown) => {
      await stopStage(stage);
      throw error;
    },
  );
  const stop = async (): Promise<void> => {
    await close();
    await stopStage(stage);
  };
  return { ...service, stop };
}

/** Starts a service on a stage, which its `stop` leaves. */
export async function serveOn(stage: Stage, overrides: Record<string, string>): Promise<Service> {
  const { database, bench, clock, logger } = stage;
  const settings = readSettings(RedemptionSettings, {
    DATABASE_URL: database.urlAs('redemption'),
    SECRETS_KEY,
    EVIDENCE_KEY,
    CHAIN_ID: String(bench.chain.chainId),
    RPC_URLS: bench.chain.url,
    TOKEN_CONTRACT: bench.chain.contracts.token,
    VAULT_CONTRACT: bench.vault,
    VOUCHER_SIGNER_KEY: VaultBench.SIGNER_KEY,
    // Lets a test give each user an address of its own.
    TRUSTED_PROXIES: 'loopback',
    SIWE_DOMAINS: DOMAIN,
    ALLOW_PRIVATE_PARTNERS: 'true',
    // Production refuses them.
    ...(overrides['NODE_ENV'] !== 'production' && testConstants(QUICK_PAYOUTS)),
    WALLET_DAILY_TOKEN_BUDGET: '1000000',
    ...overrides,
  });
  const replica = async (): Promise<Replica> => {
    const app = await createRedemption({ settings, logger, clock });
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    return { app, port, url: `http://127.0.0.1:${port}` };
  };
  const first = await replica();
  const store = new RedemptionStore(await connected(database), testEvidence());
  return { ...stage, ...first, store, replica, stop: () => first.app.close() };
}

type Part<K extends keyof Service> = Pick<Service, K>;

export async function addPrice(
  { database, clock }: Part<'database' | 'clock'>,
  usd = '0.15',
): Promise<void> {
  const observedAt = new Date(clock.nowMs());
  await new PriceStore(await connected(database)).add({ usd, observedAt, source: 'fixed' });
}

export interface User {
  readonly wallet: Address;
  readonly token: string;
  get(path: string): Test;
  post(path: string, body?: object | string): Test;
  /** Without a given key the request gets a new idempotency key. */
  redeem(partner: unknown, points: unknown, key?: string): Test;
}

/** Opens a session as the service does. @returns its token */
export async function openSession(
  database: Database,
  session: { wallet: Address; expiresAtMs: number },
): Promise<string> {
  const { token, tokenHash } = newToken();
  const sessions = new SessionStore(database, testEvidence(), { siweDomains: [DOMAIN] });
  await sessions.open({ ...session, tokenHash, domain: DOMAIN });
  return token;
}

/** A wallet with a session. */
export async function aUser(
  { url, database, clock }: Part<'url' | 'database' | 'clock'>,
  wallet = `0x${randomBytes(20).toString('hex')}` as Address,
  clientAddress = `10.${randomBytes(3).join('.')}`,
): Promise<User> {
  const expiresAtMs = clock.nowMs() + 86_400_000;
  const token = await openSession(await connected(database), { wallet, expiresAtMs });
  const authorised = (test: Test): Test =>
    test.set('authorization', `Bearer ${token}`).set('x-forwarded-for', clientAddress);
  const post = (path: string, body?: object | string): Test => {
    const test = authorised(request(url).post(path));
    return body === undefined ? test : test.set('content-type', 'application/json').send(body);
  };
  return {
    wallet,
    token,
    get: (path) => authorised(request(url).get(path)),
    post,
    redeem: (partner, points, key = randomBytes(8).toString('hex')) =>
      post('/api/redemptions', { partner, points }).set('idempotency-key', key),
  };
}

/** A wallet with a session, and with points at the game. */
export async function aPlayer(service: Service, points = 10_000): Promise<User> {
  const user = await aUser(service);
  service.game.points.set(user.wallet, points);
  return user;
}

/** A redemption of 100 points and one token, which no worker touches since it is not due for a day. */
export async function aQuietOne(
  service: Service,
  { wallet }: User,
  change: Partial<Redemption>,
): Promise<string> {
  const nowMs = service.clock.nowMs();
  const terms = someTerms(nowMs, { wallet, points: 100n, tokenAmount: 10n ** 18n });
  const nextActionAtMs = nowMs + 86_400_000;
  await service.store.create(
    { ...newRedemption(terms, nowMs), nextActionAtMs, ...change },
    someKey(),
    { paused: false, maxOpen: 100, priceMaxAgeSeconds: 1 },
  );
  return terms.id;
}

/** Waits until the worker has brought the redemption to this state. */
export async function inState(
  { store, clock }: Service,
  id: string,
  state: Redemption['state'],
): Promise<void> {
  for (let looks = 0; looks < 600; looks++) {
    const stored = await store.get(id as UuidV7);
    if (stored?.redemption.state === state) return;
    clock.advance(100);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the redemption did not become ${state}`);
}

export function errorOf({ status, body }: Response): unknown {
  const { success, message, ...rest } = body as Record<string, unknown>;
  if (success !== false || typeof message !== 'string') return { status, body };
  return { status, ...rest };
}
