/** What players and operators see of a service whose ledger went back in time, until the restore is noted. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import request from 'supertest';
import { connected } from '../testing/stage.support.js';
import {
  addPartner,
  addPrice,
  aPlayer,
  aUser,
  errorOf,
  inState,
  type Service,
  startService,
  type User,
} from '../testing/redemption-harness.support.js';

const PAUSED = { status: 503, code: 'REDEMPTIONS_PAUSED' };

let service: Service;
let player: User;
let partner: string;
beforeAll(async () => {
  service = await startService();
  partner = await addPartner(service, 'Arena');
  await addPrice(service);
  player = await aPlayer(service);
});
afterAll(() => service.stop());

async function restored(): Promise<void> {
  const owner = await connected(service.database);
  await owner.pool.query(await readFile('deploy/pgbackrest/restored.sql', 'utf8'));
}

/** By the clock of the service, which is far behind that of the database. */
async function note(): Promise<void> {
  const owner = await connected(service.database);
  const atMs = service.clock.nowMs() + 1;
  await owner.pool.query(
    `INSERT INTO redemption.ledger_restore (at, lost_since, vouchers_until_seconds, actor)
      VALUES ($1, $2, $3, 'test')`,
    [new Date(atMs), new Date(atMs - 60_000), Math.ceil(atMs / 1000) + 600],
  );
}

const get = (path: string) => request(service.url).get(path);

it('players see that redemptions are paused, and operators what to run; the note ends it', async () => {
  const { body: open } = await player.redeem(partner, 100).expect(201);
  await inState(service, open.id, 'authorised');
  const show = () => player.get(`/api/redemptions/${open.id}`).expect(200);
  expect((await show()).body.voucher).not.toBeNull();
  await restored();
  // The session is that of before.
  await player.get(`/api/redemptions/${open.id}`).expect(401);
  player = await aUser(service, player.wallet);

  const other = await aPlayer(service);
  const refused = await other.redeem(partner, 100);
  expect(errorOf(refused)).toEqual(PAUSED);
  expect(refused.body.message).toContain('No points were taken');
  expect(refused.headers['retry-after']).toBe('60');
  const { body: quote } = await other.get(`/api/partners/${partner}/quote?points=100`).expect(200);
  expect(quote.refusal).toMatchObject({ code: 'REDEMPTIONS_PAUSED' });
  const { body: range } = await other.get(`/api/partners/${partner}/limits`).expect(200);
  expect(range.refusal).toMatchObject({ code: 'REDEMPTIONS_PAUSED' });
  const shown = await show();
  expect([shown.body.stage, shown.body.voucher]).toEqual(['authorised', null]);
  expect(service.game.calls.filter(({ body }) => body['address'] === other.wallet)).toEqual([]);

  const { body: ready } = await get('/health/ready').expect(503);
  expect(JSON.stringify(ready)).toContain('run `ledger restored`');
  await get('/health/accepting').expect(200);
  await get('/health/live').expect(200);
  expect((await get('/metrics')).text).toMatch(/^lowmark_ledger_restore_not_noted\{.*\} 1$/m);
  expect(service.logs.join('')).toMatch(/"alert":"restore-not-noted","severity":"critical"/);

  await note();
  await get('/health/ready').expect(200);
  expect((await get('/metrics')).text).toMatch(/^lowmark_ledger_restore_not_noted\{.*\} 0$/m);
  expect((await show()).body.voucher).not.toBeNull();
  service.clock.advance(1000);
  const { body: created } = await other.redeem(partner, 100).expect(201);
  await inState(service, created.id, 'authorised');
});
