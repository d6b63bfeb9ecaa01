/** Tests the conformance tester on the partners' pages against the reference partner. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '#libs/testing/clock';
import { type ConformanceBody } from '../../apps/console/src/portal/conformance.dto.js';
import { refusalOf } from '../../apps/console/src/testing/console-harness.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { aPlayer } from '../../apps/partner/src/testing/partner-harness.support.js';
import { json, PartnerBench, WALLET } from './partner-bench.support.js';

let bench: PartnerBench;
let acme: Visitor;
let beta: Visitor;
beforeAll(async () => {
  bench = await PartnerBench.start();
  acme = await bench.member(bench.acme);
  beta = await bench.member(bench.beta);
});
afterAll(() => bench.stop());

describe('the conformance tester', () => {
  it('passes the reference partner, one run at a time, and gives the points back', async () => {
    const address = await aPlayer(bench.game, 5);
    const wish = { address, mayClaim: false };
    const { consequence, run } = await json<ConformanceBody>(
      acme.post('/api/partner/conformance', wish),
    );
    expect(consequence).toContain('deducts points');
    expect(run).toMatchObject({ address, endedAt: null, report: null });
    expect(await refusalOf(acme.post('/api/partner/conformance', wish))).toBe('409 RUN_UNDER_WAY');
    const theirs = await json<ConformanceBody>(beta.get('/api/partner/conformance'));
    expect(theirs.run).toBeNull();
    let ended: ConformanceBody['run'] = null;
    await eventually(async () => {
      ended = (await json<ConformanceBody>(acme.get('/api/partner/conformance'))).run;
      return ended?.endedAt != null;
    });
    expect(ended).toMatchObject({
      failure: null,
      report: { outcome: 'conforms', errors: 0, unresolved: [], spent: [] },
    });
    const { report } = ended as unknown as NonNullable<ConformanceBody['run']>;
    expect(report?.capabilities).toContainEqual({ name: 'revert-by-redemption-id', isFound: true });
    const audit = await bench.console.database.query({
      text: `SELECT actor, command FROM redemption.audit WHERE command = 'partner conformance'`,
    });
    const actor = `partner:${bench.acme.account.address.toLowerCase()}`;
    expect(audit).toEqual([{ actor, command: 'partner conformance' }]);
  });

  it('takes no more than 1000 points at once, whatever the player has', async () => {
    const address = await aPlayer(bench.game, 990_000);
    await json(acme.post('/api/partner/conformance', { address, mayClaim: false }));
    let ended: ConformanceBody['run'] = null;
    let fewest = 990_000;
    await eventually(async () => {
      fewest = Math.min(fewest, await bench.pointsOf(address));
      ended = (await json<ConformanceBody>(acme.get('/api/partner/conformance'))).run;
      return ended?.endedAt != null;
    });
    expect(fewest).toBeGreaterThan(989_000);
    const run = ended as ConformanceBody['run'];
    expect(run?.report?.outcome).toBe('incomplete');
    const left = run?.report?.checks.filter(({ status }) => status === 'skipped') ?? [];
    expect(left.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['deduct-insufficient', 'deduct-overdraft-at-once']),
    );
    expect(JSON.stringify(left)).toContain('Give a test player with at most 1000.');
    expect(await bench.pointsOf(address)).toBe(990_000);
    const open = await bench.console.database.query({
      text: 'SELECT redemption_id FROM console.conformance_deduction',
    });
    expect(open).toEqual([]);
  });

  it('needs a fresh sign-in', async () => {
    const late = await bench.member(bench.acme);
    bench.console.clock.advance(5 * 60_000);
    const asked = late.post('/api/partner/conformance', { address: WALLET, mayClaim: false });
    expect(await refusalOf(asked)).toBe('401 FRESH_SIGN_IN_NEEDED');
  });

  it('is not there without a callback', async () => {
    const wish = { address: WALLET, mayClaim: false };
    beta = await bench.member(bench.beta);
    expect(await refusalOf(beta.post('/api/partner/conformance', wish))).toBe(
      '404 CALLBACK_MISSING',
    );
  });
});
