/** The whole console with its database, and persons who sign in. A spec by name only: it has no tests. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import { type PartnerId } from '#libs/domain';
import { readSettings } from '#libs/config';
import {
  type Database,
  InvitationStore,
  PartnerStore,
  SignInLinkStore,
  type Standing,
} from '#libs/db';
import { freePort } from '#libs/devprocess';
import { createLogger } from '#libs/service';
import { FakeClock } from '#libs/testing/clock';
import { createTestDatabase, type TestDatabase } from '#libs/testing/database';
import { newToken } from '#libs/signing';
import { type SessionBody } from '../auth/auth.dto.js';
import { ConsoleSettings } from '../console.env.js';
import { createConsole } from '../create-console.js';
import { CLIENT_ID, CLIENT_SECRET, type IssuerKind, OidcIssuer } from './oidc-issuer.support.js';
import { Visitor } from './visitor.support.js';

export const ADMIN = privateKeyToAccount(generatePrivateKey());
export const OPERATOR = privateKeyToAccount(generatePrivateKey());
export const VIEWER = privateKeyToAccount(generatePrivateKey());

export type Account = typeof ADMIN;
type SiweChanges = Partial<Parameters<typeof createSiweMessage>[0]>;

const MINUTE_MS = 60_000;

type BenchParts = Pick<
  ConsoleBench,
  'origin' | 'apps' | 'test' | 'database' | 'issuer' | 'clock' | 'logged'
>;

/** Where the replicas of a service listen, and the origin under which browsers reach them. */
export interface Place {
  readonly origin: string;
  /** An address for each replica. */
  readonly hosts: readonly string[];
  readonly port: number;
}

/** One console or several replicas of it, one issuer and one database for all tests of a file. */
export class ConsoleBench {
  readonly origin: string;
  readonly apps: readonly NestFastifyApplication[];
  readonly test: TestDatabase;
  /** Connected as the owner of the database. */
  readonly database: Database;
  readonly issuer: OidcIssuer;
  readonly clock: FakeClock;
  /** All log records, one line each. */
  readonly logged: readonly string[];

  private constructor(parts: BenchParts) {
    this.origin = parts.origin;
    this.apps = parts.apps;
    this.test = parts.test;
    this.database = parts.database;
    this.issuer = parts.issuer;
    this.clock = parts.clock;
    this.logged = parts.logged;
  }

  static async start(
    overrides: Record<string, string> = {},
    issuerKind: IssuerKind = {},
    place?: Place,
  ): Promise<ConsoleBench> {
    const { origin, hosts, port } = place ?? (await ownPlace());
    const test = await createTestDatabase();
    const issuer = await OidcIssuer.start(`${origin}/api/auth/oidc/callback`, issuerKind);
    const clock = new FakeClock(Date.now());
    const logged: string[] = [];
    const source = {
      DATABASE_URL: test.urlAs('console'),
      PORTAL_DATABASE_URL: test.urlAs('portal'),
      CONSOLE_ORIGIN: origin,
      TRUSTED_PROXIES: 'loopback',
      OPERATORS: `${ADMIN.address}=admin,${OPERATOR.address}=operator,${VIEWER.address}=viewer`,
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_ROLES: 'staff=viewer,ops=admin',
      APPROVAL_ABOVE_USD: '1000',
      ...overrides,
    };
    const settings = readSettings(ConsoleSettings, source);
    const destination = { write: (line: string) => void logged.push(line) };
    const apps: NestFastifyApplication[] = [];
    for (const host of hosts) {
      const app = await createConsole({
        settings,
        source,
        clock,
        logger: createLogger({ app: 'console', level: 'trace', destination }),
        pages: join(process.cwd(), 'dist/apps/web'),
      });
      await app.listen(port, host);
      apps.push(app);
    }
    const database = await test.open();
    return new ConsoleBench({ origin, apps, test, database, issuer, clock, logged });
  }

  async stop(): Promise<void> {
    for (const app of this.apps) await app.close();
    await this.issuer.stop();
    await this.test.drop();
  }

  /** @param clientAddress default: an address of its own */
  visitor(clientAddress?: string): Visitor {
    return new Visitor(this.origin, clientAddress);
  }

  /** The only replica, or the first one. */
  get app(): NestFastifyApplication {
    const [first] = this.apps;
    if (first === undefined) throw new Error('the console has no replica');
    return first;
  }

  /** A signed EIP-4361 message with a nonce of the console. */
  async message(visitor: Visitor, account: Account, changes: SiweChanges = {}) {
    const { nonce } = (await (await visitor.post('/api/auth/wallet/nonce')).json()) as {
      nonce: string;
    };
    const message = createSiweMessage({
      address: account.address,
      chainId: 1,
      domain: new URL(this.origin).host,
      nonce,
      uri: `${this.origin}/operate/sign-in`,
      version: '1',
      issuedAt: new Date(this.clock.nowMs()),
      ...changes,
    });
    return { message, signature: await account.signMessage({ message }) };
  }

  /** A browser in which the account is signed in. */
  async signedIn(
    account: Account,
    wish: { kind: Standing['kind']; invitation?: string } = { kind: 'operator' },
    visitor = this.visitor(),
  ): Promise<Visitor> {
    const signed = await this.message(visitor, account);
    const answer = await visitor.post('/api/auth/wallet/verify', { ...signed, ...wish });
    if (answer.status !== 200) throw new Error(await answer.text());
    return visitor;
  }

  /** A browser of a new member of the partner. */
  async member(partnerId: PartnerId, account = anAccount()): Promise<Visitor> {
    const invitation = await this.invitation(partnerId);
    return this.signedIn(account, { kind: 'partner', invitation });
  }

  /** The session of a browser that is signed in. */
  async me(visitor: Visitor): Promise<SessionBody> {
    return (await (await visitor.get('/api/auth/me')).json()) as SessionBody;
  }

  /** Signs a person of the issuer in. @returns the code of the refusal; '' where the person is signed in */
  async signInByOidc(
    visitor: Visitor,
    name = 'ann',
    kind: Standing['kind'] = 'operator',
  ): Promise<string> {
    const start = { kind, returnTo: kind === 'operator' ? '/operate' : '/partner' };
    const begun = await visitor.post('/api/auth/oidc/start', start);
    const { url, code } = (await begun.json()) as { url: string; code?: string };
    if (code !== undefined) return code;
    const landed = await visitor.get(await this.issuer.signIn(url, name));
    const page = new URL(landed.headers.get('location') ?? '', this.origin);
    return page.searchParams.get('problem') ?? '';
  }

  /** Makes a sign-in link. @returns its token */
  async link(
    standing: Standing = { kind: 'operator', role: 'admin' },
    name = 'first',
  ): Promise<string> {
    const { token, tokenHash } = newToken();
    const nowMs = this.clock.nowMs();
    await new SignInLinkStore(this.database).create({
      tokenHash,
      ...{ standing, name, createdBy: 'operator:test', nowMs, expiresAtMs: nowMs + 15 * MINUTE_MS },
    });
    return token;
  }

  /** Makes a partner. @returns its id */
  async partner(name: string): Promise<PartnerId> {
    const credential = {
      keyHash: randomBytes(32),
      keyPrefix: 'svck_test',
      secretCiphertext: randomBytes(64),
    };
    const terms = { name, rate: 20, burst: 100, credential };
    return (await new PartnerStore(this.database).create(terms)).partnerId;
  }

  /** Makes an invitation. @returns its token */
  async invitation(partnerId: PartnerId): Promise<string> {
    const { token, tokenHash } = newToken();
    const nowMs = this.clock.nowMs();
    await new InvitationStore(this.database).create({
      tokenHash,
      ...{ partnerId, invitedBy: 'operator:test', note: 'their engineer', nowMs },
      expiresAtMs: nowMs + 7 * 24 * 60 * MINUTE_MS,
    });
    return token;
  }
}

/** A console whose database is away: for what needs none. */
export async function startWithoutDatabase(
  more: Record<string, string> = {},
): Promise<{ readonly app: NestFastifyApplication; readonly url: string }> {
  const database = { DATABASE_URL: 'postgresql://lowmark@127.0.0.1:1/none' };
  const app = await createConsole({
    settings: readSettings(ConsoleSettings, { ...database, ...more }),
    logger: createLogger({ app: 'console', level: 'silent' }),
    pages: join(process.cwd(), 'dist/apps/web'),
  });
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl() };
}

async function ownPlace(): Promise<Place> {
  const port = await freePort();
  return { origin: `http://127.0.0.1:${port}`, hosts: ['127.0.0.1'], port };
}

export function anAccount(): Account {
  return privateKeyToAccount(generatePrivateKey());
}

/** The status of an answer, and its code where it is a refusal. */
export async function refusalOf(answer: Promise<Response>): Promise<string> {
  const found = await answer;
  const { code } = (await found.json().catch(() => ({}))) as { code?: string };
  return `${found.status} ${code ?? ''}`.trim();
}
