/**
 * The whole service with two endpoints of which one gives false answers: which answers are used, and which alerts are
 * raised.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import request from 'supertest';
import { type UuidV7 } from '#libs/domain';
import { type Fault, type FaultyNode, startFaultyNode } from '#libs/testing/fake-node';
import { VaultBench } from '#libs/testing/vault';
import {
  addPartner,
  addPrice,
  aPlayer,
  inState,
  type Service,
  startService,
  type User,
} from '../testing/redemption-harness.support.js';

const WEEK_SECONDS = 7 * 86_400;
const POINTS = 5000;

describe('a service with two endpoints', () => {
  let service: Service;
  const nodes: FaultyNode[] = [];

  beforeAll(async () => {
    service = await startService({}, async (upstream) => {
      nodes.push(await startFaultyNode({ upstream }), await startFaultyNode({ upstream }));
      return nodes.map(({ url }) => url).join(',');
    });
    await addPartner(service, 'Arena', { capabilities: ['revert-by-redemption-id'] });
    await addPrice(service);
  });
  beforeEach(mend);
  afterAll(async () => {
    await service.stop();
    await Promise.all(nodes.map((node) => node.close()));
  });

  function mend(): void {
    for (const node of nodes) node.fault = undefined;
    service.clock.advance(60_000);
  }

  function setFault(endpoint: number, fault: Fault): void {
    for (const [index, node] of nodes.entries()) if (index === endpoint) node.fault = fault;
  }

  async function until(what: () => boolean | Promise<boolean>): Promise<void> {
    for (let look = 0; look < 200; look++) {
      if (await what()) return;
      service.clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('it did not come to pass');
  }

  async function alertsOf(code: string): Promise<number> {
    const { text } = await request(service.url).get('/metrics').expect(200);
    const line = text
      .split('\n')
      .find((one) => one.startsWith('lowmark_alerts_total') && one.includes(`code="${code}"`));
    return Number(line?.split(' ').at(-1) ?? 0);
  }

  function saidOf(code: string): string {
    const lines = service.logs.filter((line) => line.includes(`"alert":"${code}"`));
    return (JSON.parse(lines.at(-1) ?? '{}') as { detail?: string }).detail ?? '';
  }

  /** Waits until the service has polled the chain `count` times more through each endpoint. */
  async function looks(count: number): Promise<void> {
    const all = () => nodes.map((node) => node.count('eth_getBlockByNumber'));
    const before = all();
    await until(() => all().every((now, index) => now - (before[index] ?? 0) >= count));
  }

  /** A redemption whose voucher was given to its user. */
  async function authorised(): Promise<{ readonly id: string; readonly user: User }> {
    const user = await aPlayer(service, POINTS);
    const { body } = await user.redeem('arena', POINTS).expect(201);
    const { id } = body as { id: string };
    await inState(service, id, 'authorised');
    return { id, user };
  }

  async function claim({ id, user }: { id: string; user: User }): Promise<void> {
    const { body } = await user.get(`/api/redemptions/${id}`).expect(200);
    const { calldata } = (body as { voucher: { calldata: `0x${string}` } }).voucher;
    const { bench } = service;
    const [outcome] = await bench.mine(bench.to(VaultBench.STRANGER, calldata));
    expect(outcome?.error).toBeUndefined();
    await bench.finalise();
  }

  async function stateOf(id: string) {
    return (await service.store.get(id as UuidV7))?.redemption.state;
  }

  // In which place of the list the liar is: libs/chain/src/vault/lying-endpoints.int-spec.ts.
  it.each<[string, Fault, string, RegExp]>([
    [
      'a time that is a week ahead',
      { kind: 'false-final', seconds: WEEK_SECONDS },
      'final-block-refused',
      /final block \d+ is of .*, and .* clock says/,
    ],
    [
      'a hash that the other one denies',
      { kind: 'false-final', fields: { hash: `0x${'ab'.repeat(32)}` } },
      'endpoints-disagree',
      /says that final block \d+ is 0x[0-9a-f]{64} of .* says that final block \d+ is 0xabab|0xabab.* says that/,
    ],
  ])('gives no points back by %s, and names both', async (_case, lie, alert, text) => {
    const one = await authorised();
    const raised = await alertsOf(alert);
    setFault(1, lie);
    await claim(one);
    await until(async () => (await alertsOf(alert)) > raised);
    expect(saidOf(alert)).toMatch(text);
    await looks(5);
    expect(await stateOf(one.id)).toBe('authorised');
    expect(service.game.points.get(one.user.wallet)).toBe(0);
    mend();
    await inState(service, one.id, 'claimed');
    expect(service.game.points.get(one.user.wallet)).toBe(0);
  });
});
