/** A partner's corrected answers by the console's API: its own ones only. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PartnerId } from '#libs/domain';
import { anAccount, ConsoleBench, refusalOf } from '../testing/console-harness.support.js';
import { type Visitor } from '../testing/visitor.support.js';
import { type CorrectedAnswersBody } from './corrections.controller.js';

const PATH = '/api/partner/corrections';
const FIGURE = {
  ...{ walletAddress: `0x${'a'.repeat(40)}`, field: 'snapshotAmount', day: '2026-11-21' },
  ...{ signed: 1, correct: 3 },
};

let bench: ConsoleBench;
let ann: Visitor;
let eve: Visitor;
beforeAll(async () => {
  bench = await ConsoleBench.start();
  const acme = await bench.partner('Acme');
  [ann, eve] = [await memberOf(acme), await memberOf(await bench.partner('Evil'))];
  await addAnswers(acme, 51);
});
afterAll(() => bench.stop());

async function memberOf(partner: PartnerId): Promise<Visitor> {
  const invitation = await bench.invitation(partner);
  return bench.signedIn(anAccount(), { kind: 'partner', invitation });
}

async function addAnswers(partner: PartnerId, count: number): Promise<void> {
  await bench.database.query(
    {
      text: `WITH made AS (INSERT INTO partners.correction (stake_set, reason, actor, blocks)
          VALUES ('default', 'a test', 'operator:ops', '[]') RETURNING id)
        INSERT INTO partners.corrected_answer (correction, partner_id, request, request_id, requested_at, method, path, is_certain, figures)
        SELECT id, $1, n, 'r-' || n, now(), 'GET', '/api/staking/snapshots', true, $2 FROM made, generate_series(1, $3::int) n`,
    },
    [partner, JSON.stringify([FIGURE]), count],
  );
}

async function page(visitor: Visitor, query = ''): Promise<CorrectedAnswersBody> {
  const answer = await visitor.get(`${PATH}${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as CorrectedAnswersBody;
}

describe('corrected answers', () => {
  it('are shown page by page, newest first, without the operator', async () => {
    const first = await page(ann);
    expect(first.answers).toHaveLength(50);
    expect(first.answers[0]).toEqual({
      ...{ id: '51', correction: '1', at: expect.any(String), stakeSet: 'default' },
      ...{ reason: 'a test', request: '51', requestId: 'r-51', requestedAt: expect.any(String) },
      ...{ method: 'GET', path: '/api/staking/snapshots', isCertain: true },
      figures: [{ ...FIGURE, block: null }],
    });
    const last = await page(ann, `?before=${first.next ?? ''}`);
    expect(last).toMatchObject({ answers: [{ requestId: 'r-1' }], next: null });
    expect(JSON.stringify(first)).not.toContain('ops');
  });

  it('are those of no other partner', async () => {
    expect(await page(eve)).toEqual({ answers: [], next: null });
  });

  it('need a number as the place', async () => {
    expect(await refusalOf(ann.get(`${PATH}?before=x`))).toBe('400 BAD_REQUEST');
  });
});
