/**
 * The whole API on its own database, for the end-to-end tests of this app. Named so that it counts as a test file, but
 * holds no tests.
 */
import { type AddressInfo } from 'node:net';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { readSettings } from '#libs/config';
import { IndexStore, PartnerStore, PriceStore } from '#libs/db';
import { type Address, type BlockDeltas, DEFAULT_STAKE_SET, foldBlocks } from '#libs/domain';
import { createLogger } from '#libs/service';
import { hashApiKey, KeyRing, mintCredential, type MintedCredential } from '#libs/signing';
import { FakeClock } from '#libs/testing/clock';
import {
  aBlock,
  anInitialIndex,
  aWallet,
  createTestDatabase,
  type TestDatabase,
} from '#libs/testing/database';
import { TcpLink } from '#libs/testing/wire';
import { ApiSettings } from '../api.env.js';
import { anonymousSecret } from '../auth/admission.js';
import { createApi } from '../create-api.js';
import { Caller } from './wire.support.js';

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
export const ANON_SECRET = anonymousSecret(SECRETS_KEY);
const NO_CREDENTIAL: MintedCredential = { apiKey: '', sharedSecret: ANON_SECRET };
/** Start of every test's clock; Unix time in milliseconds. */
export const NOON_MS = Date.parse('2026-11-21T12:00:02.123Z');

export const seconds = (iso: string): number => Date.parse(iso) / 1000;

export interface Api {
  readonly app: NestFastifyApplication;
  readonly url: string;
  readonly port: number;
  readonly clock: FakeClock;
  readonly logs: string[];
  readonly database: TestDatabase;
  /** The way of the API to its database. */
  readonly link: TcpLink;
  /** @param credential absent: a caller without a key */
  as(credential?: MintedCredential): Caller;
  stop(): Promise<void>;
}

/**
 * Starts the API. Its database connections go through a link that a test can cut.
 * @param shared the database of another replica, which must be stopped after this one
 * @param patienceMs time limit of Redis commands and of index reads; long in tests that are not about timeouts, because
 * a busy machine is slow. Absent: the limits of production
 */
export async function startApi(
  overrides: Record<string, string> = {},
  shared?: TestDatabase,
  patienceMs?: number,
  exportIdleMs?: number,
): Promise<Api> {
  const database = shared ?? (await createTestDatabase());
  const databaseUrl = new URL(database.urlAs('api'));
  const link = new TcpLink({ host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  await link.open();
  databaseUrl.port = String(link.port);
  const clock = new FakeClock(NOON_MS);
  const logs: string[] = [];
  const settings = readSettings(ApiSettings, {
    DATABASE_URL: databaseUrl.href,
    SECRETS_KEY,
    ...overrides,
  });
  const destination = { write: (line: string) => void logs.push(line) };
  const logger = createLogger({ app: 'api', level: 'info', destination });
  const app = await createApi({
    ...{ settings, logger, clock },
    ...{ redisDeadlineMs: patienceMs, slowReadMs: patienceMs, exportIdleMs },
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const stop = async (): Promise<void> => {
    await app.close();
    await link.close();
    if (shared === undefined) await database.drop();
  };
  const url = `http://127.0.0.1:${port}`;
  const as = (credential = NO_CREDENTIAL): Caller => new Caller(url, credential);
  return { app, url, port, clock, logs, database, link, as, stop };
}

export async function addPartner(
  api: Api,
  name: string,
  policy: { rate: number; burst: number; stakeSet?: string } = { rate: 1000, burst: 10_000 },
): Promise<MintedCredential> {
  const minted = mintCredential();
  const keyHash = hashApiKey(minted.apiKey);
  const secretCiphertext = KeyRing.parse(SECRETS_KEY).seal(minted.sharedSecret, keyHash);
  const keyPrefix = minted.apiKey.slice(0, 12);
  const partners = new PartnerStore(await api.database.open());
  await partners.create({ name, ...policy, credential: { keyHash, keyPrefix, secretCiphertext } });
  return minted;
}

export interface Seed {
  /** One entry per block: time, wallet and signed amount in whole tokens. Default: wallet 1 stakes 100. */
  readonly events?: readonly [iso: string, wallet: Address, tokens: number][];
  /** Time of the newest indexed block; ISO 8601. Default: two seconds before `NOON_MS`. */
  readonly headAt?: string;
  readonly finalisedAt?: string;
  readonly synced?: boolean;
  readonly symbol?: string;
  /** Absent: the default stake set. */
  readonly stakeSet?: string;
  readonly stakeContract?: Address;
  /** Further contracts, whose balances are added. */
  readonly moreContracts?: readonly Address[];
}

/** Writes a history as the indexer does. */
export async function seedIndex(api: Api, seed: Seed = {}): Promise<void> {
  const { stakeSet = DEFAULT_STAKE_SET, stakeContract, headAt = '2026-11-21T12:00:00Z' } = seed;
  const { events = [['2026-11-10T10:00:00Z', aWallet(1), 100]] } = seed;
  const index = new IndexStore((await api.database.open()).inSet(stakeSet));
  const first = aBlock(0, seconds('2026-01-01T00:00:00Z'));
  const tokenSymbol = seed.symbol ?? 'SVC';
  const of = { head: first, tokenSymbol, ...(stakeContract && { stakeContract }) };
  const initial = anInitialIndex(of);
  const stakeContracts = [initial.stakeContract, ...(seed.moreContracts ?? [])];
  await index.create({ ...initial, settings: { ...initial.settings, stakeContracts } });
  const blocks: BlockDeltas[] = events.map(([iso, wallet, tokens], i) => ({
    blockNumber: BigInt(i + 1),
    timestampSeconds: seconds(iso),
    deltas: [{ wallet, amount: BigInt(tokens) * 10n ** 18n }],
  }));
  const folded = foldBlocks(new Map(), blocks);
  const head = aBlock(1000, seconds(headAt));
  await index.commit({
    fence: await index.takeLead(),
    previousHead: first,
    head,
    folded,
    blocks: [head],
    synced: seed.synced !== false,
    ...(seed.finalisedAt && { finalised: aBlock(900, seconds(seed.finalisedAt)) }),
  });
}

export async function addPrice(api: Api, usd: string, observedAt: string): Promise<void> {
  const prices = new PriceStore(await api.database.open());
  await prices.add({ usd, observedAt: new Date(observedAt), source: 'fixed' });
}
