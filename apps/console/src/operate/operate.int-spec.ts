import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { AcknowledgeClaim } from '#libs/operations';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { type ConsoleSettings } from '../console.env.js';
import { ConsoleBench, OPERATOR, refusalOf, VIEWER } from '../testing/console-harness.support.js';
import {
  EXACT,
  seedClaims,
  seedIndex,
  seedLog,
  seedRedemption,
  STAKER,
} from '../testing/operate-rows.support.js';
import { allRoutes, type Route } from '../testing/routes.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type DatabaseAlerts } from './overview/database-alerts.js';
import { OpenAlerts } from './overview/open-alerts.js';
import { type ServiceHealth } from './overview/service-health.js';

type Json = Record<string, unknown> & { items: Record<string, unknown>[]; next: string | null };

const NAME = '<b>Arena</b> אבג';
const LOGGED = 12;
const CLAIMS = 60;
const exactTokens = '123456789.012345678901234567';

let bench: ConsoleBench;
let viewer: Visitor;
let operator: Visitor;
let partner: PartnerId;
let claims: string[];
beforeAll(async () => {
  const nowhere = 'http://127.0.0.1:1';
  bench = await ConsoleBench.start({ API_URL: nowhere, REDEMPTION_URL: nowhere, EVIDENCE_KEY });
  const nowMs = bench.clock.nowMs();
  partner = await bench.partner(NAME);
  const second = await bench.partner('Second');
  await seedIndex(bench.database, nowMs);
  await seedRedemption(bench.database, nowMs - 120_000, { isStuck: true, partner });
  await seedRedemption(bench.database, nowMs - 60_000, { isStuck: false, partner: second });
  claims = await seedClaims(bench.database, nowMs, CLAIMS);
  await seedLog(bench.database, partner, LOGGED);
  viewer = await bench.signedIn(VIEWER);
  operator = await bench.signedIn(OPERATOR);
});
afterAll(() => bench.stop());

async function read(path: string, visitor = viewer): Promise<Json> {
  const answer = await visitor.get(`/api/operate/${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Json;
}

async function pagesOf(path: string): Promise<Record<string, unknown>[][]> {
  const pages: Record<string, unknown>[][] = [];
  let after = '';
  do {
    const { items, next } = await read(`${path}${path.includes('?') ? '&' : '?'}${after}`);
    pages.push(items);
    after = next === null ? '' : `after=${next}`;
  } while (after !== '');
  return pages;
}

describe('the overview', () => {
  it('says of a service that is away which, and goes on', async () => {
    const { services } = (await read('overview/services')) as unknown as {
      services: Record<string, unknown>[];
    };
    expect(services).toMatchObject([
      { name: 'api', state: 'no-answer', setting: 'API_URL', reasons: ['it cannot be reached'] },
      { name: 'indexer', state: 'not-set', setting: 'INDEXER_URL', reasons: [] },
      { name: 'redemption', state: 'no-answer', setting: 'REDEMPTION_URL' },
    ]);
  });

  it('has the index, with exact amounts', async () => {
    const { sets } = (await read('overview/index')) as unknown as { sets: unknown[] };
    expect(sets).toMatchObject([
      {
        stakeSet: 'default',
        index: { headBlock: '400', finalisedBlock: '390', total: exactTokens, halted: null },
      },
    ]);
  });

  it('has the price, and what needs attention', async () => {
    const { prices } = (await read('overview/prices')) as unknown as { prices: unknown[] };
    expect(prices).toMatchObject([
      { stored: { usd: '0.15', source: 'coingecko:low' }, hold: null },
    ]);
    expect(await read('overview/redemptions')).toMatchObject({
      attention: 1,
      open: [
        { state: 'attention', count: 1 },
        { state: 'created', count: 1 },
      ],
      made: [
        { state: 'attention', count: 1 },
        { state: 'created', count: 1 },
      ],
    });
  });

  it('without an Alertmanager has what the database and the services tell, the gravest first', async () => {
    const { source, alerts, unknown } = (await read('overview/alerts')) as unknown as {
      source: string;
      unknown: string[];
      alerts: { name: string; severity: string; summary: string }[];
    };
    expect(source).toBe('console');
    expect(unknown).toEqual(['INDEXER_URL']);
    expect(alerts.map(({ name, severity }) => `${severity} ${name}`)).toEqual([
      'critical AuditDifferent',
      'critical ClaimAlarm',
      'critical ServiceDown',
      'critical ServiceDown',
      'warning RedemptionsNeedAttention',
    ]);
  });

  it('has a restore that was not noted, with what to run', async () => {
    await bench.database.pool.query(
      `INSERT INTO redemption.unnoted_restore (noticed) VALUES ('restored from a backup')`,
    );
    const { alerts } = (await read('overview/alerts')) as unknown as { alerts: object[] };
    await bench.database.pool.query('DELETE FROM redemption.unnoted_restore');
    expect(alerts).toContainEqual(
      expect.objectContaining({
        name: 'RestoreNotNoted',
        severity: 'critical',
        summary: expect.stringMatching(
          /^Redemptions are paused\. .*run `ledger restored`.*restored from a backup\.$/,
        ),
      }),
    );
  });

  it('says which setting the vault needs', async () => {
    expect(await refusalOf(viewer.get('/api/operate/overview/vaults'))).toBe('503 SETTING_MISSING');
    const audit = operator.post(`/api/operate/wallets/${STAKER}/audit`);
    expect(await refusalOf(audit)).toBe('503 SETTING_MISSING');
  });
});

describe('a wallet', () => {
  it('has the low of each day, and each change, exact', async () => {
    const history = await read(`wallets/${STAKER.toUpperCase().replace('X', 'x')}/history?days=7`);
    const { days, changes } = history as unknown as { days: unknown[]; changes: unknown[] };
    expect(history).toMatchObject({ hasStaked: true, balance: exactTokens, isCut: false });
    expect(days).toHaveLength(7);
    expect(days).toMatchObject([
      ...Array.from({ length: 4 }, () => ({ low: '100', closing: '100', isOpen: false })),
      { low: '40.5', closing: '40.5' },
      { low: '40.5', closing: '40.5' },
      { low: '40.5', closing: exactTokens, isOpen: true },
    ]);
    expect(changes).toMatchObject([
      { block: '100', balance: '100' },
      { block: '200', balance: '40.5' },
      { block: '300', balance: exactTokens },
    ]);
  });

  it('that never staked has nothing', async () => {
    const path = `wallets/0x${'9'.repeat(40)}/history?days=90`;
    expect(await read(path)).toMatchObject({
      hasStaked: false,
      balance: '0',
      days: [],
      changes: [],
    });
  });

  it('has its redemptions, newest first', async () => {
    const { items, next } = await read(`wallets/${STAKER}/redemptions`);
    expect(items).toMatchObject([
      { state: 'created', points: '5000', tokens: '340', usd: '50.00' },
      { state: 'attention', partner: { id: partner, name: NAME } },
    ]);
    expect(next).toBeNull();
  });
});

describe('reconciliation', () => {
  it('lists the claims by key, each once, the oldest first', async () => {
    const pages = await pagesOf('reconciliation/claims');
    expect(pages.map(({ length }) => length)).toEqual([50, 10]);
    expect(pages.flat().map(({ id }) => id)).toEqual(claims);
    expect(pages[0]?.[0]).toMatchObject({ kind: 'without-row', tokens: '7', canAcknowledge: true });
  });

  it('an acknowledgement takes a claim out, with the audit row of the command', async () => {
    const [id = ''] = claims;
    const url = `/api/operate/reconciliation/claims/${id}/acknowledge`;
    const note = 'The game has it <b>';
    expect((await operator.post(url, { note })).status).toBe(200);
    const none = `0x${'0'.repeat(64)}`;
    const nowhere = `/api/operate/reconciliation/claims/${none}/acknowledge`;
    expect(await refusalOf(operator.post(nowhere, { note }))).toBe('404 CLAIM_NOT_FOUND');
    const page = await read('reconciliation/claims');
    expect(page.items[0]?.['id']).toBe(claims[1]);
    expect(page['consequence']).toBe(AcknowledgeClaim.spec.consequence);
    const all = await read('reconciliation/claims?which=all');
    expect(all.items[0]).toMatchObject({ id, canAcknowledge: false, acknowledged: { note } });
    const { items } = await read('log?command=reconciliation%20acknowledge');
    const by = `operator:${OPERATOR.address.toLowerCase()}`;
    expect(items).toMatchObject([
      { actor: by, arguments: { id: none, note }, outcome: 'refused: CLAIM_NOT_FOUND' },
      { actor: by, arguments: { id, note }, outcome: 'acknowledged' },
    ]);
  });

  it.each([['   '], ['x'.repeat(256)]])('the note %j is refused', async (note) => {
    const url = `/api/operate/reconciliation/claims/${claims[5] ?? ''}/acknowledge`;
    expect(await refusalOf(operator.post(url, { note }))).toBe('400 BAD_REQUEST');
  });

  it('before the first comparison says so by nulls', async () => {
    expect(await read('reconciliation')).toMatchObject({ at: null, ledgers: [], chainClaims: 0 });
  });
});

it('the audits have what differed, and why one was not possible', async () => {
  const { items } = await read('audits');
  expect(items).toMatchObject([
    {
      result: 'different',
      different: [{ wallet: STAKER, indexed: exactTokens }],
      indexedTotal: exactTokens,
    },
    { result: 'impossible', reason: '<b>no</b> endpoint', block: null, different: [] },
  ]);
  expect(BigInt(exactTokens.replace('.', ''))).toBe(EXACT);
});

describe('the log', () => {
  it('is filtered by operator, by partner and by what is none', async () => {
    const byAnn = await pagesOf(`log?actor=ann&partner=${encodeURIComponent(NAME)}`);
    expect(byAnn.flat()).toHaveLength(LOGGED / 3);
    expect(byAnn[0]?.[0]).toMatchObject({ actor: 'operator:ann', partner: { id: partner } });
    expect((await read('log?partner=nobody')).items).toEqual([]);
    expect((await read('log?redemption=00000000-0000-4000-8000-000000000000')).items).toEqual([]);
  });
});

it('the doctor answers with what it found, and looks once for requests at the same time', async () => {
  const look = async () => (await (await operator.post('/api/operate/doctor')).json()) as Json;
  const [report, same] = await Promise.all([look(), look()]);
  const findings = report['findings'] as { what: string; state: string }[];
  expect(findings.find(({ what }) => what === 'database')).toMatchObject({ state: 'ok' });
  expect(same).toEqual(report);
  bench.clock.advance(1_000);
  expect((await look())['finishedAt']).not.toBe(report['finishedAt']);
});

/** Is answered only where a node is set. */
const ASKS_A_NODE = '/api/operate/overview/vaults';

/** All that a viewer reads, except of one partner and of one redemption. */
function readPaths(): string[] {
  return allRoutes(bench.app)
    .filter(({ method, audience }) => method === 'GET' && isForViewers(audience))
    .map(({ path }) => path.replace(':wallet', STAKER))
    .filter((path) => !path.includes(':'));
}

function isForViewers(audience: Route['audience']): boolean {
  return audience?.kind === 'operator' && audience.role === 'viewer';
}

it('a viewer reads every page of lists and figures', async () => {
  const paths = readPaths();
  expect(paths).toContain(`/api/operate/wallets/${STAKER}/history`);
  for (const path of paths) {
    const status = path === ASKS_A_NODE ? 503 : 200;
    expect([path, (await viewer.get(path)).status]).toEqual([path, status]);
  }
  expect(paths.length).toBeGreaterThan(15);
});

function queueAt(stateSince: string): string {
  const after = `true~${stateSince}~01a20919-ec5c-730b-be77-7914c66b99a9`;
  return `redemptions/queue?after=${encodeURIComponent(after)}`;
}

describe('what is malformed is refused', () => {
  it('but not the end of a page', async () => {
    for (const moment of ['2026-03-01 00:00:00.123456+00', '2026-03-01 00:00:00+05:30']) {
      expect((await viewer.get(`/api/operate/${queueAt(moment)}`)).status).toBe(200);
    }
  });

  it.each([
    'wallets/0x12/history',
    `wallets/${STAKER}/history?days=8`,
    `wallets/${STAKER}/history?stakeSet=Default'--`,
    `wallets/${STAKER}/redemptions?after=1`,
    'reconciliation/claims?which=some',
    `reconciliation/claims?after=1_x_0x${'0'.repeat(64)}`,
    'audits?stakeSet=a%00b',
    'log?actor=a%20b',
    'log?partner=%00',
    'log?after=99999999999999999999',
    'log?redemption=1',
    'redemptions?from=2026-02-31T10:00Z',
    'redemptions?until=2026-W10',
    ...['9999-99-99 99:99:99+99', '2026-02-31 00:00:00+00', '0000-01-01 00:00:00+00'].map(queueAt),
    queueAt('2026-03-01 00:00:00+23'),
  ])('%s', async (path) => {
    expect(await refusalOf(viewer.get(`/api/operate/${path}`))).toBe('400 BAD_REQUEST');
  });

  it('a stake set that is none is not found', async () => {
    const paths = [`wallets/${STAKER}/history?stakeSet=golf`, 'audits?stakeSet=golf'];
    for (const path of paths) {
      expect(await refusalOf(viewer.get(`/api/operate/${path}`))).toBe('404 STAKE_SET_UNKNOWN');
    }
  });
});

describe('alerts of an Alertmanager', () => {
  /** An Alertmanager below `/am`, which redirects a path with two slashes as Go's servers do. */
  let server: Server;
  let host: string;
  beforeAll(async () => {
    server = createServer(({ url = '', headers }, answer) => {
      const login = Buffer.from(headers.authorization?.slice('Basic '.length) ?? '', 'base64');
      if (url.includes('//')) answer.writeHead(301, { location: url.replaceAll('//', '/') }).end();
      else if (!url.startsWith('/am/api/v2/alerts?')) answer.writeHead(404).end();
      else if (login.toString() !== 'ann:p@ss') answer.writeHead(401).end();
      else answer.end('[{"labels":{"alertname":"IndexHalted","severity":"critical"}}]');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
  });

  const alertsOf = (alertmanagerUrl: string) =>
    new OpenAlerts(
      { alertmanagerUrl } as ConsoleSettings,
      {} as DatabaseAlerts,
      {} as ServiceHealth,
    ).all();

  it.each(['/am', '/am/'])('are read from an Alertmanager with a login, below %s', async (path) => {
    expect(await alertsOf(`http://ann:p%40ss@${host}${path}`)).toMatchObject({
      source: 'alertmanager',
      alerts: [{ name: 'IndexHalted', severity: 'critical' }],
    });
  });

  it.each([
    ['/am', '401'],
    ['/other', '404'],
  ])('say what an Alertmanager answers below %s', async (path, status) => {
    await expect(alertsOf(`http://${host}${path}`)).rejects.toThrow(`answered ${status}`);
  });
});
