/** Runs the conformance tester that partners get against the reference partner. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson } from '#libs/domain';
import {
  aPlayer,
  API_KEY,
  type Partner,
  SECRET,
  startPartner,
} from '../../apps/partner/src/testing/partner-harness.support.js';
import { send } from '../../libs/partner-sdk/src/testing/caller.support.js';
import {
  callsToNoEndpoint,
  faultsIn,
  refusedCalls,
} from '../../libs/partner-sdk/src/testing/refused-calls.support.js';
import { runConformance } from '../../libs/partner-sdk/src/conformance/index.js';

describe('the reference partner', () => {
  let partner: Partner;

  beforeAll(async () => {
    partner = await startPartner({ PARTNER_BASE_PATH: '/game/v1' });
  });
  afterAll(async () => {
    await partner.stop();
  });

  it('keeps every rule, has every capability, and loses one point to the claim', async () => {
    const address = await aPlayer(partner, 7);
    const report = await runConformance({
      baseUrl: `http://127.0.0.1:${partner.port}/game/v1`,
      apiKey: API_KEY,
      sharedSecret: SECRET,
      address,
      emptyAddress: await aPlayer(partner, 0),
      clock: partner.clock,
    });
    expect(report.checks.filter(({ status }) => status !== 'passed')).toEqual([]);
    expect(report).toMatchObject({ outcome: 'conforms', exitStatus: 0, stopped: null });
    expect(report.capabilities).toEqual({
      'revert-by-redemption-id': true,
      tombstones: true,
      'enforces-freshness': true,
      'signs-all-responses': true,
      'refuses-mismatched-pair': true,
    });
    expect(report.left).toMatchObject({ before: 7, after: 6, unresolved: [{ state: 'claimed' }] });
    expect(canonicalJson(report)).not.toContain(SECRET);
  });

  it('signs every answer, also to calls that are forged, malformed or to no endpoint', async () => {
    const wallet = await aPlayer(partner, 5);
    const place = { prefix: '/game/v1', wallet, nowMs: partner.clock.nowMs() };
    const calls = [...refusedCalls(place), ...callsToNoEndpoint(place)];
    expect(await faultsIn(calls, (made) => send(partner.port, made))).toEqual([]);
  });
});
