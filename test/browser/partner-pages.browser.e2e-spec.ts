/**
 * Tests the pages of a partner's engineer: from the invitation to a rotated credential, the webhooks, and the points
 * that a conformance run could not give back.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Locator, type Page } from 'playwright-core';
import { type Database, EventQueue } from '#libs/db';
import { WEBHOOK_SCHEDULE } from '#libs/domain';
import { WebhookSender } from '#libs/partner-client';
import { verifyWebhook } from '#libs/partner-sdk';
import { KeyRing } from '#libs/signing';
import { aStored } from '../../apps/cli/src/testing/redemption-rows.support.js';
import { anAccount } from '../../apps/console/src/testing/console-harness.support.js';
import { aPlayer } from '../../apps/partner/src/testing/partner-harness.support.js';
import { WebhookQueue } from '../../apps/redemption/src/webhooks/webhook.queue.js';
import {
  type OwnPartner,
  PartnerBench,
  SECRETS_KEY,
  WALLET,
} from '../console/partner-bench.support.js';
import { seedRequests } from './desk-rows.js';
import { useDesk } from './desk.js';
import { DeskVisit, WALLET_NAME } from './desk-visit.js';

const MARKUP = `<img src=x onerror="document.title='taken'">`;

const desk = useDesk((place) => PartnerBench.start({}, place));
let visit: DeskVisit;

describe('from the invitation to a rotated credential', () => {
  let page: Page;
  /** One signed-in visit for all of these tests. */
  beforeAll(async () => {
    visit = await DeskVisit.open(desk.browser, desk.bench.console, desk.bench.acme.account);
    ({ page } = visit);
    await visit.signedInAs(await desk.bench.member(desk.bench.acme));
  });
  afterAll(() => visit.context.close());
  beforeEach(() => {
    // The clock of the partner's endpoints stands still.
    desk.bench.console.clock.set(desk.bench.game.clock.nowMs());
  });

  const go = (path: string) => visit.goto(`/partner${path}`);

  it('an invitation leads to the pages of the partner', async () => {
    const invitation = await desk.bench.console.invitation(desk.bench.acme.id);
    const guest = await DeskVisit.open(desk.browser, desk.bench.console, anAccount());
    await guest.goto(`/partner/invitation#${invitation}`);
    await guest.press(`Sign in with ${WALLET_NAME}`);
    await guest.page.getByRole('heading', { level: 1, name: desk.bench.acme.name }).waitFor();
    expect(guest.page.url()).not.toContain(invitation);
    await guest.context.close();
    expect(guest.faults).toEqual([]);
  });

  it('a snapshot is shown as it came, and its signature verifies', async () => {
    await go('/snapshot');
    await page.getByRole('textbox', { name: 'walletAddress' }).fill(WALLET);
    await page.getByRole('button', { name: 'Ask the api' }).click();
    await page.getByText('The signature verifies').waitFor();
    const body = await page.getByRole('region', { name: 'Body' }).textContent();
    expect(JSON.parse(body ?? '')).toMatchObject({ walletAddress: WALLET });
    const curl = await page.getByRole('region', { name: 'The same by hand' }).textContent();
    expect(curl).toContain(desk.bench.acme.prefix);
  });

  it('a snapshot ends with the day that is chosen', async () => {
    await page.getByLabel('Last day (UTC)').fill('2026-11-18');
    await page.getByRole('button', { name: 'Ask the api' }).click();
    const body = page.getByRole('region', { name: 'Body' });
    await body.getByText('"to":"2026-11-18T23:59:59.999Z"}]').waitFor();
    expect(page.url()).toContain('endDay=2026-11-18');
    const curl = await page.getByRole('region', { name: 'The same by hand' }).textContent();
    expect(curl).toContain('&endDay=2026-11-18');
  });

  it('the conformance test names its consequence, and passes', async () => {
    await go('/conformance');
    await page.getByText(/deducts points of the test player/).waitFor();
    const address = await aPlayer(desk.bench.game, 5);
    await page.getByRole('textbox', { name: 'A test player' }).fill(address);
    await page.getByRole('button', { name: 'Run the tester' }).click();
    await page
      .getByRole('heading', { name: 'Your endpoints keep every rule.' })
      .waitFor({ timeout: 60_000 });
    await page.getByRole('heading', { name: 'Capabilities found' }).waitFor();
    await page.getByText('revert-by-redemption-id: found').waitFor();
    expect(await page.getByRole('textbox', { name: 'A test player' }).inputValue()).toBe(address);
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

  it('a credential is replaced, and the new one is shown once', async () => {
    await go('/credentials');
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
    const key = await page.getByRole('region', { name: 'X-API-KEY' }).textContent();
    expect(key).toMatch(/^svck_.{30}/);
    await page.getByRole('button', { name: 'I have stored them' }).click();
    await page.getByText(/Replaced, works until/).waitFor();
    expect(await page.content()).not.toContain(key);
    const url = `${desk.bench.api.url}/api/staking/snapshots?walletAddress=${WALLET}&lastDays=1`;
    for (const one of [key ?? '', desk.bench.acme.credential.apiKey]) {
      expect((await fetch(url, { headers: { 'x-api-key': one } })).status).toBe(200);
    }
  });

  it('a confirmation that was delivered is sent again, once a minute', async () => {
    const { database } = desk.bench.console;
    const { id } = await aStored(database, desk.bench.acme.id, 'claimed');
    const delivered = await database.pool.query(
      `UPDATE redemption.confirmation SET state = 'delivered', delivered_at = now(), next_action_at = NULL, version = version + 1
      WHERE redemption_id = $1`,
      [id],
    );
    expect(delivered.rowCount).toBe(1);
    await go('/redemptions');
    await page.getByRole('button', { name: 'Show', exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('delivered, sent 0 times').waitFor();
    await dialog.getByRole('button', { name: 'Send the confirmation again' }).click();
    await dialog.getByText('It is on its way.').waitFor();
    const { rows } = await database.pool.query<{ state: string; due: boolean; actor: string }>(
      `SELECT c.state, c.next_action_at <= clock_timestamp() + interval '1 second' AS due, a.actor FROM redemption.confirmation c
      JOIN redemption.audit a ON a.redemption_id = c.redemption_id AND a.command = 'redemption replay-confirm'
      WHERE c.redemption_id = $1`,
      [id],
    );
    expect(rows).toMatchObject([{ state: 'pending', due: true }]);
    expect(rows[0]?.actor).toMatch(/^partner:/);
    await dialog.getByRole('button', { name: 'Send the confirmation again' }).click();
    await dialog.getByRole('alert').waitFor();
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

  it('all of it kept to the policy of the pages', () => {
    expect(visit.faults).toEqual([]);
  });
});

describe('points that a conformance run could not give back', () => {
  const TITLE = 'Points of earlier runs are not back yet';

  async function open({ id }: OwnPartner): Promise<void> {
    visit = await desk.member(id);
    await visit.goto('/partner/conformance');
    await visit.page.getByRole('button', { name: 'Run the tester' }).waitFor();
    await visit.page.waitForLoadState('networkidle');
  }

  /**
   * Inserts a deduction as a console has it that took over from a killed one. It is due far in the future, so that no
   * console retries it during the test.
   */
  async function left(partner: OwnPartner, transactionId: string | null, attempts = 3) {
    const redemptionId = randomUUID();
    const { rows } = await desk.bench.console.database.pool.query<{ dueAt: Date }>(
      `INSERT INTO console.conformance_deduction (redemption_id, run_id, partner, address, points, transaction_id, attempts, due_at)
      VALUES ($1, gen_random_uuid(), $2, $3, 2.5, $4, $5, now() + interval '1 day') RETURNING due_at AS "dueAt"`,
      [redemptionId, partner.id, WALLET, transactionId, attempts],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('it was added');
    return { redemptionId, dueAt: row.dueAt };
  }

  it('are not there where nothing is open, or where a run still has it', async () => {
    await left(desk.bench.acme, 'TX-0', 0);
    await open(desk.bench.acme);
    expect(await visit.page.getByText(TITLE).count()).toBe(0);
  });

  it('are listed with what finds them in the partner’s own books, and when they are tried again', async () => {
    const [named, silent] = [
      await left(desk.bench.acme, MARKUP),
      await left(desk.bench.acme, null),
    ];
    await open(desk.bench.acme);
    const alert = visit.page.getByRole('alert').filter({ hasText: TITLE });
    await alert.getByText('answer that with ERR-ALREADY-REVERTED').waitFor();
    const table = visit.page.getByRole('region', { name: TITLE });
    const row = table.getByRole('row').filter({ hasText: named.redemptionId });
    await row.getByText(MARKUP).waitFor();
    await row.getByText(WALLET).waitFor();
    await row.getByText('2.5', { exact: true }).waitFor();
    expect(await row.locator('time').getAttribute('datetime')).toBe(named.dueAt.toISOString());
    const other = table.getByRole('row').filter({ hasText: silent.redemptionId });
    await other.getByText('–', { exact: true }).waitFor();
    expect(await table.getByRole('row').count()).toBe(3);
    expect(await visit.page.locator('img').count()).toBe(0);
    expect(await visit.findings()).toEqual([]);
  });

  it('of another partner are not there, and those that are back are gone', async () => {
    const { redemptionId } = await left(desk.bench.beta, 'TX-9');
    await open(desk.bench.beta);
    const table = visit.page.getByRole('region', { name: TITLE });
    await table.getByText(redemptionId).waitFor();
    expect(await table.getByRole('row').count()).toBe(2);
    await desk.bench.console.database.pool.query(
      'DELETE FROM console.conformance_deduction WHERE redemption_id = $1',
      [redemptionId],
    );
    await visit.page.reload();
    await visit.page.getByRole('button', { name: 'Run the tester' }).waitFor();
    await visit.page.waitForLoadState('networkidle');
    expect(await visit.page.getByText(TITLE).count()).toBe(0);
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

  it('is added with a secret that is shown once, tried, sent again from its log, and removed', async () => {
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
    const delivered = list.locator('time').first();
    await delivered.waitFor();
    const [subscription] = await database.query<{ at: Date }>({
      text: 'SELECT last_delivered_at AS at FROM webhooks.subscription WHERE removed_at IS NULL',
    });
    expect(await delivered.getAttribute('datetime')).toBe(subscription?.at.toISOString());
    const [first] = received;
    expect(verifyWebhook(first?.headers ?? {}, first?.body ?? '', secret).type).toBe(
      'webhook.test',
    );

    await visit.page.getByRole('link', { name: url() }).click();
    await visit.heading(url());
    await visit.page.getByRole('row', { name: /webhook\.test.*delivered.*204/ }).waitFor();
    await visit.press('Show');
    await dialog('Event').getByText('delivered · 204').waitFor();
    status = 500;
    await visit.press('Send it again', dialog('Event'));
    await dialog('Event').getByText('· waits ·').waitFor();
    await attempt();
    await dialog('Event').getByText('failed · 500').waitFor();
    const answer = dialog('Event').getByRole('region', { name: 'Your answer (its beginning)' });
    expect(await answer.first().textContent()).toBe(MARKUP);
    expect(await visit.findings()).toEqual([]);
    expect(received[1]?.headers['webhook-id']).toBe(first?.headers['webhook-id']);

    await visit.goto('/partner/webhooks');
    await remove();
  });

  it('sends all since a time again', async () => {
    await added();
    await confirm('Send a test event');
    await visit.page.getByText('1 event waits').waitFor();
    status = 204;
    await attempt();
    await visit.page.getByRole('link', { name: url() }).click();
    await visit.press('Send events again');
    const replay = dialog('Send events again');
    await replay.getByLabel('From (your time)').fill('2026-01-01T00:00');
    await replay.getByLabel('Also those that were delivered').check();
    await visit.press('Send events again', replay);
    await replay.getByText('1 event is on its way.').waitFor();
    await visit.press('Close', replay);
    await visit.page.getByRole('row', { name: /webhook\.test.*waits/ }).waitFor();
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
    expect(await visit.findings()).toEqual([]);
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

  it('of another partner is none of the own', async () => {
    await visit.goto('/partner/webhooks/01935000-0000-4000-8000-000000000000');
    await visit.page.getByText('You have no webhook with this id.').waitFor();
  });
});
