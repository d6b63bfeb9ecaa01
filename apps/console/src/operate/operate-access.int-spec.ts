import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EVIDENCE_KEY } from '#libs/testing';
import { ConsoleBench, OPERATOR, refusalOf, VIEWER } from '../testing/console-harness.support.js';
import { seedIndex, STAKER } from '../testing/operate-rows.support.js';
import { allRoutes, type Route } from '../testing/routes.support.js';
import { type Visitor } from '../testing/visitor.support.js';

let bench: ConsoleBench;
let viewer: Visitor;
let operator: Visitor;
beforeAll(async () => {
  bench = await ConsoleBench.start({ API_URL: 'http://127.0.0.1:1', EVIDENCE_KEY });
  await seedIndex(bench.database, bench.clock.nowMs());
  viewer = await bench.signedIn(VIEWER);
  operator = await bench.signedIn(OPERATOR);
});
afterAll(() => bench.stop());

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

describe('who may', () => {
  it('read every page of lists and figures: a viewer, and no one without a session', async () => {
    const paths = readPaths();
    expect(paths).toContain(`/api/operate/wallets/${STAKER}/history`);
    for (const path of paths) {
      const status = path === ASKS_A_NODE ? 503 : 200;
      expect([path, (await viewer.get(path)).status]).toEqual([path, status]);
      expect(await refusalOf(bench.visitor().get(path))).toBe('401 SIGN_IN_NEEDED');
    }
    expect(paths.length).toBeGreaterThan(15);
  });

  it.each(['doctor', `wallets/${STAKER}/audit`, 'reconciliation/claims/x/acknowledge'])(
    'act by %s: no viewer',
    async (path) => {
      const url = `/api/operate/${path}`;
      expect(await refusalOf(viewer.post(url, { note: 'x' }))).toBe('403 ROLE_TOO_LOW');
      expect(await refusalOf(bench.visitor().post(url))).toBe('401 SIGN_IN_NEEDED');
      const foreign = { origin: 'https://evil.example' };
      expect(await refusalOf(operator.post(url, {}, foreign))).toBe('403 FOREIGN_ORIGIN');
    },
  );
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
    `wallets/${STAKER}/history?days=7&days=30`,
    `wallets/${STAKER}/history?stakeSet=Default'--`,
    `wallets/${STAKER}/redemptions?after=1`,
    'reconciliation/claims?which=some',
    `reconciliation/claims?after=1_x_0x${'0'.repeat(64)}`,
    'audits?after=-1',
    'audits?stakeSet=a%00b',
    'log?actor=a%20b',
    'log?partner=%00',
    'log?command=partner%3B',
    'log?after=99999999999999999999',
    'log?redemption=1',
    'redemptions?partner=%00',
    'redemptions?from=2026-02-31T10:00Z',
    'redemptions?until=2026-W10',
    'partners?after=%00',
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
