/**
 * Tests how a partner's engineer adds a webhook, tries it, looks at its log, sends events again and removes it. The
 * events are really sent.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Locator } from 'playwright-core';
import { type Database, EventQueue } from '#libs/db';
import { WEBHOOK_SCHEDULE } from '#libs/domain';
import { WebhookSender } from '#libs/partner-client';
import { verifyWebhook } from '#libs/partner-sdk';
import { KeyRing } from '#libs/signing';
import { WebhookQueue } from '../../apps/redemption/src/webhooks/webhook.queue.js';
import { PartnerBench } from '../console/partner-bench.support.js';
import { useDesk } from './desk.js';
import { type DeskVisit } from './desk-visit.js';

const SECRETS_KEY = Buffer.alloc(32, 9).toString('base64');
const MARKUP = `<img src=x onerror="document.title='taken'">`;

const desk = useDesk((place) => PartnerBench.start({ SECRETS_KEY }, place));
let visit: DeskVisit;
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
  expect(verifyWebhook(first?.headers ?? {}, first?.body ?? '', secret).type).toBe('webhook.test');

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
