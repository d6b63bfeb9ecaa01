/** Tests the overview with a real Alertmanager: a firing alert is on the page, with a link to its runbook. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser } from 'playwright-core';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { startBrowser } from '#libs/testing/browser';
import { eventually } from '#libs/testing/clock';
import { programPath } from '../../libs/testing/src/jest/programs.mjs';
import { ADMIN, ConsoleBench } from '../../apps/console/src/testing/console-harness.support.js';
import { DeskVisit } from '../browser/desk-visit.js';
import { alertRules } from '../compose/metrics.js';
import { HANDBOOK_URL } from './monitoring.js';

/** A rule of deploy/prometheus/rules.yml. */
const RULE = 'PriceHeld';

const undo: (() => Promise<unknown>)[] = [];
let alertmanagerUrl: string;
let bench: ConsoleBench;
let browser: Browser;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lowmark-alerts-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const address = `127.0.0.1:${await freePort()}`;
  alertmanagerUrl = `http://${address}`;
  const config = join(folder, 'alertmanager.yml');
  await writeFile(config, 'route: { receiver: none }\nreceivers: [{ name: none }]\n');
  const started = await ManagedProcess.start({
    command: programPath('alertmanager') ?? 'alertmanager',
    args: [
      `--config.file=${config}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ],
    logFile: join(folder, 'alertmanager.log'),
  });
  undo.push(() => started.stop());
  await eventually(async () => {
    const answer = await fetch(`${alertmanagerUrl}/-/ready`).catch(() => undefined);
    return answer?.ok === true;
  });
  bench = await ConsoleBench.start({ ALERTMANAGER_URL: alertmanagerUrl });
  undo.push(() => bench.stop());
  browser = await startBrowser();
  undo.push(() => browser.close());
});
afterAll(async () => {
  for (const step of undo.toReversed()) await step();
});

/** Sends an alert as Prometheus does: with the labels and annotations of the rule, and its templates filled in. */
async function send(change: { readonly endsAt?: string } = {}): Promise<string> {
  const rule = alertRules().find(({ alert }) => alert === RULE);
  if (rule === undefined) throw new Error(`There is no rule ${RULE}.`);
  const runbook = rule.annotations.runbook_url.replace(/\{\{[^}]*handbook[^}]*\}\}/i, HANDBOOK_URL);
  const answer = await fetch(`${alertmanagerUrl}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([
      {
        labels: { alertname: RULE, ...rule.labels },
        annotations: { ...rule.annotations, runbook_url: runbook },
        ...change,
      },
    ]),
  });
  expect(answer.status).toBe(200);
  return runbook;
}

it('an alert that fires is on the overview with its runbook, and its end takes it away', async () => {
  const visit = await DeskVisit.open(browser, bench);
  undo.push(() => visit.context.close());
  await visit.signedInAs(await bench.signedIn(ADMIN));
  await visit.goto('/operate');
  const card = visit.page.getByRole('region', { name: 'Alerts' });
  await card.getByText('There is none.').waitFor();
  await card.getByText('By Alertmanager.').waitFor();
  const runbook = await send();
  // The card polls every ten seconds.
  const link = card.getByRole('link', { name: 'What to do' });
  await link.waitFor({ timeout: 40_000 });
  expect(runbook).toMatch(/^https:\/\/git\.example\/.*alerts\.md#/);
  expect(await link.getAttribute('href')).toBe(runbook);
  await card.getByText(RULE).waitFor();
  await send({ endsAt: new Date().toISOString() });
  await card.getByText('There is none.').waitFor({ timeout: 40_000 });
  expect(visit.faults).toEqual([]);
});

it('an Alertmanager that is away is one sentence in its own card', async () => {
  const bare = await ConsoleBench.start({ ALERTMANAGER_URL: 'http://127.0.0.1:1' });
  const visit = await DeskVisit.open(browser, bare);
  try {
    await visit.signedInAs(await bare.signedIn(ADMIN));
    await visit.goto('/operate');
    const card = visit.page.getByRole('region', { name: 'Alerts' });
    await card.getByText('Alertmanager does not answer: check ALERTMANAGER_URL').waitFor();
    await visit.page.getByRole('region', { name: 'Redemptions' }).waitFor();
  } finally {
    await visit.context.close();
    await bare.stop();
  }
});
