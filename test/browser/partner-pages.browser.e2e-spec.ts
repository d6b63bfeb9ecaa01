/**
 * Tests the pages of a partner's engineer: snapshots, the conformance test, the documentation, a rotated credential,
 * redemptions, usage and webhooks.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type Database, EventQueue } from '#libs/db';
import { mintUuidV7, WEBHOOK_SCHEDULE } from '#libs/domain';
import { WebhookSender } from '#libs/partner-client';
import { verifyWebhook } from '#libs/partner-sdk';
import { KeyRing } from '#libs/signing';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { aPlayer } from '../../apps/partner/src/testing/partner-harness.support.js';
import { WebhookQueue } from '../../apps/redemption/src/webhooks/webhook.queue.js';
import { PartnerBench, SECRETS_KEY, WALLET } from '../console/partner-bench.support.js';
import { seedOpenDeduction, seedRequests } from './desk-rows.js';
import { useDesk } from './desk.js';
import { DeskVisit } from './desk-visit.js';

const MARKUP = `<img src=x onerror="document.title='taken'">`;

const desk = useDesk((place) => PartnerBench.start({}, place));
let visit: DeskVisit;

describe('signed in', () => {
  let page: Page;
  /** One visit for all of these tests. */
  beforeAll(async () => {
    visit = await DeskVisit.open(desk.browser, desk.bench.console);
    ({ page } = visit);
    await visit.signedInAs(await desk.bench.member(desk.bench.acme));
  });
  afterAll(async () => {
    await visit.context.close();
    expect(visit.faults).toEqual([]);
  });
  beforeEach(() => {
    // The clock of the partner's endpoints stands still.
    desk.bench.console.clock.set(desk.bench.game.clock.nowMs());
  });

  const go = (path: string) => visit.goto(`/partner${path}`);

  it('a snapshot is shown as it came, its signature verifies, and it ends with the day that is chosen', async () => {
    await go('/snapshot');
    await page.getByRole('textbox', { name: 'walletAddress' }).fill(WALLET);
    await visit.press('Ask the api');
    await page.getByText('The signature verifies').waitFor();
    const body = page.getByRole('region', { name: 'Body' });
    expect(JSON.parse((await body.textContent()) ?? '')).toMatchObject({ walletAddress: WALLET });
    const curl = page.getByRole('region', { name: 'The same by hand' });
    expect(await curl.textContent()).toContain(desk.bench.acme.prefix);

    await page.getByLabel('Last day (UTC)').fill('2026-11-18');
    await visit.press('Ask the api');
    await body.getByText('"to":"2026-11-18T23:59:59.999Z"}]').waitFor();
    expect(page.url()).toContain('endDay=2026-11-18');
    expect(await curl.textContent()).toContain('&endDay=2026-11-18');
  });

  it('the conformance test names its consequence, and passes', async () => {
    await go('/conformance');
    await page.getByText(/deducts points of the test player/).waitFor();
    const address = await aPlayer(desk.bench.game, 5);
    await page.getByRole('textbox', { name: 'A test player' }).fill(address);
    await visit.press('Run the tester');
    await page
      .getByRole('heading', { name: 'Your endpoints keep every rule.' })
      .waitFor({ timeout: 60_000 });
    await page.getByRole('heading', { name: 'Capabilities found' }).waitFor();
    await page.getByText('revert-by-redemption-id: found').waitFor();
    expect(await page.getByRole('textbox', { name: 'A test player' }).inputValue()).toBe(address);
  });

  it('points that a run could not give back are listed with what finds them in the own books', async () => {
    const title = 'Points of earlier runs are not back yet';
    const { database } = desk.bench.console;
    const { id } = desk.bench.acme;
    const named = await seedOpenDeduction(database, id, { transactionId: MARKUP });
    const silent = await seedOpenDeduction(database, id);
    // One that a run still has is not there.
    await seedOpenDeduction(database, id, { transactionId: 'TX-0', attempts: 0 });
    await go('/conformance');
    const alert = page.getByRole('alert').filter({ hasText: title });
    await alert.getByText('answer that with ERR-ALREADY-REVERTED').waitFor();
    const table = page.getByRole('region', { name: title });
    const row = table.getByRole('row').filter({ hasText: named.redemptionId });
    await row.getByText(MARKUP).waitFor();
    await row.getByText(WALLET).waitFor();
    await row.getByText('2.5', { exact: true }).waitFor();
    expect(await row.locator('time').getAttribute('datetime')).toBe(named.dueAt.toISOString());
    const other = table.getByRole('row').filter({ hasText: silent.redemptionId });
    await other.getByText('–', { exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBe(3);
    expect(await page.locator('img').count()).toBe(0);
  });

  it('the documentation is searched, its links stay on the pages, and its examples have the own key', async () => {
    await go('/docs');
    await page.getByRole('searchbox', { name: 'Search the documentation' }).fill('tombstone');
    await page
      .getByRole('link', { name: /tombstone/i })
      .first()
      .click();
    await page.waitForURL(/\/partner\/docs\/.+#/);
    await go('/docs/quick-start');
    await page.getByText(`${desk.bench.acme.prefix}…`).first().waitFor();
    await page.getByRole('article').getByRole('link', { name: 'the examples' }).first().click();
    await page.waitForURL(/\/partner\/docs\/signatures/);
  });

  it('a credential is replaced once, and the new one is shown once', async () => {
    await go('/credentials');
    await visit.press('Replace');
    await visit.press('Replace', visit.dialog('Replace'));
    const key = await page.getByRole('region', { name: 'X-API-KEY' }).textContent();
    expect(key).toMatch(/^svck_.{30}/);
    await visit.press('I have stored them');
    await page.getByText(/Replaced, works until/).waitFor();
    expect(await page.getByRole('button', { name: 'Replace', exact: true }).count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Revoke', exact: true }).count()).toBe(2);
    expect(await page.content()).not.toContain(key);
    const url = `${desk.bench.api.url}/api/staking/snapshots?walletAddress=${WALLET}&lastDays=1`;
    for (const one of [key ?? '', desk.bench.acme.credential.apiKey]) {
      expect((await fetch(url, { headers: { 'x-api-key': one } })).status).toBe(200);
    }
  });

  it('a redemption has plain words; its confirmation, with how often it was sent, is sent again once a minute', async () => {
    const { database } = desk.bench.console;
    const { id: partner } = desk.bench.acme;
    const { id } = await aStored(database, partner, 'claimed');
    await aStored(database, partner, 'authorised');
    await database.pool.query(
      `UPDATE redemption.confirmation SET state = 'delivered', attempts = 1, delivered_at = now(), next_action_at = NULL,
        version = version + 1 WHERE redemption_id = $1`,
      [id],
    );
    for (const at of [Date.now() - 2000, Date.now() - 1000]) {
      await database.pool.query(
        `INSERT INTO redemption.partner_call (request_id, redemption_id, partner, step) VALUES ($1, $2, $3, 'confirm')`,
        [mintUuidV7(at, randomBytes(10)), id, partner],
      );
    }
    await go('/redemptions');
    const row = (state: string) => page.getByRole('row').filter({ hasText: state });
    await visit.press('Show', row('claimed').filter({ hasNotText: 'ready' }));
    const dialog = visit.dialog('Redemption');
    await dialog.getByText('delivered, sent 2 times').waitFor();
    await dialog.getByText('the tokens were paid', { exact: true }).waitFor();
    await dialog.getByText('340 tokens').waitFor();
    await visit.press('Send the confirmation again', dialog);
    await dialog.getByText('It is on its way.').waitFor();
    await dialog.getByText('on its way, sent 2 times').waitFor();
    const { rows } = await database.pool.query<{ state: string; due: boolean; actor: string }>(
      `SELECT c.state, c.next_action_at <= clock_timestamp() + interval '1 second' AS due, a.actor FROM redemption.confirmation c
      JOIN redemption.audit a ON a.redemption_id = c.redemption_id AND a.command = 'redemption replay-confirm'
      WHERE c.redemption_id = $1`,
      [id],
    );
    expect(rows).toMatchObject([{ state: 'pending', due: true }]);
    expect(rows[0]?.actor).toMatch(/^partner:/);
    await visit.press('Send the confirmation again', dialog);
    await dialog.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await visit.press('Show', row('ready to be claimed'));
    await dialog.getByText('None yet: it comes when').waitFor();
  });

  it('usage is a chart, and a table beside it', async () => {
    const hours = 20;
    await seedRequests(desk.bench.console.database, { keyPrefix: desk.bench.acme.prefix, hours });
    await go('/usage');
    const chart = page.getByRole('img', { name: 'Your requests, by hour (UTC)' });
    // Each hour has at least one request, which is one part of the hour's bar.
    await chart
      .locator('.recharts-bar-rectangle path')
      .nth(hours - 1)
      .waitFor();
    await page.getByRole('columnheader', { name: 'Too many (429)' }).waitFor();
  });
});

describe('a webhook', () => {
  /** Opened as the database user of the redemption service, which sends the events. */
  let database: Database;
  let receiver: Server;
  /** Status with which the receiver answers. */
  let status: number;
  const received: { readonly headers: Record<string, string>; readonly body: Buffer }[] = [];
  beforeAll(async () => {
    const { test } = desk.bench.console;
    database = await test.open({ url: test.urlAs('redemption') });
    receiver = createServer((request, response) => {
      void buffer(request).then((body) => {
        received.push({ headers: request.headers as Record<string, string>, body });
        response.writeHead(status).end(MARKUP);
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    receiver.closeAllConnections();
    await new Promise((resolve) => receiver.close(resolve));
  });
  beforeEach(async () => {
    [status, received.length] = [500, 0];
    visit = await desk.member(desk.bench.acme.id);
    await visit.goto('/partner/webhooks');
  });

  const url = () => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
  const dialog = (name: string): Locator => visit.dialog(name);

  /** One attempt to send the due event, as the redemption service makes it. */
  async function attempt(): Promise<void> {
    const { clock } = desk.bench.console;
    const owner = randomUUID();
    clock.set(Date.now() + 1000);
    const sender = new WebhookSender({ clock, policy: { allowPrivate: true } });
    const queue = new WebhookQueue(new EventQueue(database), sender, KeyRing.parse(SECRETS_KEY), {
      ...{ clock, atOnce: 1, perSubscription: 1, perPartner: 1, leaseMs: 45_000 },
      ...{ random: () => 0, schedule: WEBHOOK_SCHEDULE },
    });
    const due = await queue.lease(1, owner);
    expect(due).toHaveLength(1);
    await queue.work(due, owner);
  }

  async function added(): Promise<string> {
    await visit.press('Add a webhook');
    const form = dialog('Add a webhook');
    await form.getByRole('textbox', { name: 'URL' }).fill(url());
    await form.getByLabel('redemption.*').check();
    await visit.press('Add a webhook', form);
    const shown = visit.page.getByRole('region', { name: 'Secret', exact: true });
    const secret = (await shown.textContent()) ?? '';
    await visit.press('I have stored it');
    await visit.page.getByRole('link', { name: url() }).waitFor();
    return secret;
  }

  /** Presses a button of the list and confirms the action. */
  async function confirm(name: string): Promise<void> {
    await visit.press(name);
    await visit.press(name, dialog(name));
  }

  async function remove(): Promise<void> {
    await confirm('Remove');
    await visit.page.getByText('No webhooks yet.').waitFor();
  }

  it('is added with a secret that is shown once, tried, sent again with all and alone, and removed', async () => {
    await visit.page.getByText('No webhooks yet.').waitFor();
    const secret = await added();
    expect(secret).toMatch(/^whsec_/);
    expect(await visit.page.content()).not.toContain(secret);
    const list = visit.page.getByRole('region', { name: 'Webhooks', exact: true });
    await list.getByText('never', { exact: true }).waitFor();
    await confirm('Send a test event');
    await visit.page.getByText('1 event waits').waitFor();
    status = 204;
    await attempt();
    await visit.page.reload();
    const deliveredAt = list.locator('time').first();
    await deliveredAt.waitFor();
    const [subscription] = await database.query<{ at: Date }>({
      text: 'SELECT last_delivered_at AS at FROM webhooks.subscription WHERE removed_at IS NULL',
    });
    expect(await deliveredAt.getAttribute('datetime')).toBe(subscription?.at.toISOString());
    const [first] = received;
    expect(verifyWebhook(first?.headers ?? {}, first?.body ?? '', secret).type).toBe(
      'webhook.test',
    );

    await visit.page.getByRole('link', { name: url() }).click();
    await visit.heading(url());
    const delivered = visit.page.getByRole('row', { name: /webhook\.test.*delivered.*204/ });
    await delivered.waitFor();
    await visit.press('Send events again');
    const replay = dialog('Send events again');
    await replay.getByLabel('From (your time)').fill('2026-01-01T00:00');
    await replay.getByLabel('Also those that were delivered').check();
    await visit.press('Send events again', replay);
    await replay.getByText('1 event is on its way.').waitFor();
    await visit.press('Close', replay);
    await visit.page.getByRole('row', { name: /webhook\.test.*waiting/ }).waitFor();
    await attempt();
    await visit.page.reload();
    await delivered.waitFor();

    await visit.press('Show');
    await dialog('Event').getByText('delivered · 204').first().waitFor();
    status = 500;
    await visit.press('Send it again', dialog('Event'));
    await dialog('Event').getByText('· waiting ·').waitFor();
    await attempt();
    await dialog('Event').getByText('failed · 500').waitFor();
    const answer = dialog('Event').getByRole('region', { name: 'Your answer (its beginning)' });
    expect(await answer.first().textContent()).toBe(MARKUP);
    const ids = received.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([first, first, first].map((one) => one?.headers['webhook-id']));

    await visit.goto('/partner/webhooks/01935000-0000-4000-8000-000000000000');
    await visit.page.getByText('You have no webhook with this id.').waitFor();
    await visit.goto('/partner/webhooks');
    await remove();
  });

  it('is changed and paused, and its secret replaced', async () => {
    await visit.press('Add a webhook');
    const form = dialog('Add a webhook');
    await form.getByRole('textbox', { name: 'URL' }).fill(url());
    const add = form.getByRole('button', { name: 'Add a webhook' });
    expect(await add.isDisabled()).toBe(true);
    await form.getByLabel('redemption.*').check();
    const address = form.getByRole('textbox', { name: 'URL' });
    await address.fill('https://user:word@hooks.example/');
    await visit.press('Add a webhook', form);
    await form.locator('[aria-invalid=true]').waitFor();
    expect(await address.getAttribute('aria-invalid')).toBe('true');
    expect(await form.getByRole('alert').count()).toBe(0);
    await address.fill(url());
    await visit.press('Add a webhook', form);
    await visit.press('I have stored it');

    await visit.press('Change');
    const change = dialog('Change');
    await change.getByLabel('day.sealed').check();
    await visit.press('Save', change);
    await visit.page.getByText('day.sealed, redemption.*').waitFor();

    await confirm('Pause');
    await visit.page.getByText('Paused', { exact: true }).waitFor();
    await confirm('Resume');
    await visit.page.getByText('Works', { exact: true }).waitFor();
    await confirm('Replace the secret');
    await visit.page.getByText('The old one signs until').waitFor();
    await visit.press('I have stored it');
    await remove();
  });
});
