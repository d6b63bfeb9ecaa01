/**
 * Tests the profile `metrics`: the stack's real metrics, a real Prometheus with the shipped rules, and a real
 * Alertmanager with the shipped routes and with stand-ins for a pager and a dead man's switch. Grafana is not
 * available, so each query of the dashboard is sent to Prometheus instead.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { redemptionVaultAbi } from '#libs/chain';
import { freePort } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { programPath } from '../../libs/testing/src/jest/programs.mjs';
import {
  alertRules,
  dashboard,
  dashboardExpressions,
  recordingRules,
  RULE_TESTS,
} from '../compose/metrics.js';
import { codeBlocks, read } from '../partner-docs/markdown.js';
import { rpc } from '../stack/redeemer.js';
import { RunningStack, START_MS, STACK_PORTS, type StackFacts } from '../stack/running-stack.js';
import { HANDBOOK_URL, Monitoring } from './monitoring.js';
import { startTlsServer, type TlsServer } from './tls-server.js';
import { WebhookReceiver } from './webhook-receiver.js';

const DAYS = 30;
/** Longer than two readings of the vault's balance, which the redemption service makes twice a minute. */
const BALANCE_MS = 90_000;

/** Queries without a result on a healthy machine without Redis. Each has other queries in its panel. */
const MAY_BE_EMPTY = ['min(lowmark_redis_up)'];

/** Metrics of the nightly audit. The first audit runs at the next full minute, so it may have run or not. */
const OF_THE_AUDIT = /\blowmark_audit_/;

/** Cleanup steps of `beforeAll`, which run in reverse order. */
const undo: (() => Promise<unknown>)[] = [];

let folder: string;
let stack: RunningStack;
let facts: StackFacts;
let tls: TlsServer;
let operators: WebhookReceiver;
let deadMansSwitch: WebhookReceiver;
let monitoring: Monitoring;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lowmark-monitoring-'));
  undo.push(() => rm(folder, { recursive: true, force: true }));
  const environment: Record<string, string> = { VOUCHER_TTL_SECONDS: '10' };
  for (const name of STACK_PORTS) environment[name] = String(await freePort());
  stack = RunningStack.start(folder, environment);
  undo.push(() => stack.stop());
  [operators, deadMansSwitch] = [await WebhookReceiver.start(), await WebhookReceiver.start()];
  tls = await startTlsServer(folder, DAYS);
  undo.push(() => Promise.all([operators.stop(), deadMansSwitch.stop(), tls.stop()]));
  await stack.shows(undefined, START_MS);
  facts = await stack.facts();
  monitoring = await Monitoring.start({
    folder,
    services: {
      indexer: new URL(facts.indexerUrl).host,
      api: new URL(facts.apiUrl).host,
      redemption: new URL(facts.redemptionUrl).host,
      console: new URL(facts.consoleUrl).host,
    },
    certificates: [tls.address],
    receivers: { webhook_url: operators.url, watchdog_url: deadMansSwitch.url },
  });
  undo.push(() => monitoring.stop());
}, 2 * START_MS);

afterAll(async () => {
  for (const one of undo.reverse()) await one();
});

/** Waits for something that takes a few seconds on an idle machine. */
const within = (holds: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(holds, { withinMs: 45_000, everyMs: 250 });

/** Makes requests of a partner, of a player and for a page, so that the services have data to measure. */
async function askServices(): Promise<void> {
  const [wallet = ''] = (await rpc(facts, 'eth_accounts')) as string[];
  const url = `${facts.apiUrl}/api/staking/snapshots?walletAddress=${wallet}&lastDays=7`;
  const answer = await fetch(url, { headers: { 'X-API-KEY': facts.partner.apiKey } });
  await answer.arrayBuffer();
  const redemptions = await fetch(`${facts.redemptionUrl}/api/redemptions`);
  await redemptions.arrayBuffer();
  const page = await fetch(`${facts.consoleUrl}/redeem`);
  await page.arrayBuffer();
}

const isFiring = async (alert: string): Promise<boolean> =>
  (await monitoring.query(`ALERTS{alertname="${alert}", alertstate="firing"}`)).length > 0;

/** Sends a transaction from the account that deployed the vault, which is the vault's administrator. */
async function treasury(to: string, data: Hex): Promise<void> {
  const [from] = (await rpc(facts, 'eth_accounts')) as string[];
  const hash = await rpc(facts, 'eth_sendTransaction', { from, to, data });
  let status: unknown;
  await within(async () => {
    const receipt = await rpc(facts, 'eth_getTransactionReceipt', hash);
    status = (receipt as { readonly status: string } | null)?.status;
    return status !== undefined;
  });
  expect(status).toBe('0x1');
}

describe('Prometheus', () => {
  it('does with our rules what their tests say', () => {
    const words = ['test', 'rules', ...RULE_TESTS];
    const cwd = 'deploy/prometheus';
    const promtool = spawnSync('promtool', words, { cwd, encoding: 'utf8' });
    expect(promtool.stdout + promtool.stderr).toContain('SUCCESS');
    expect(promtool.status).toBe(0);
  });

  it('reaches every target', async () => {
    const jobs = ['alertmanager', 'api', 'blackbox', 'certificates', 'console', 'indexer', 'node'];
    await within(async () => (await monitoring.query('up == 1')).length === jobs.length + 1);
    const up = (await monitoring.query('up')).map(({ metric }) => metric['job']);
    expect(up.sort()).toEqual([...jobs, 'redemption']);
  });

  it('has our rules, and can work each of them out', async () => {
    await within(async () => (await monitoring.query('ALERTS')).length > 0);
    const answer = await fetch(`${monitoring.prometheusUrl}/api/v1/rules`);
    const { data } = (await answer.json()) as {
      data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    // Prometheus sorts the groups by name, so both lists are sorted before the comparison.
    const recorded = recordingRules().map(({ record }) => record);
    const expected = [...alertRules().map(({ alert }) => alert), ...recorded];
    expect(rules.map(({ name }) => name).sort()).toEqual(expected.sort());
    expect(rules.filter(({ health }) => health === 'err')).toEqual([]);
  });

  it('sees the age of a certificate that no authority signed', async () => {
    const query = 'probe_ssl_earliest_cert_expiry - time()';
    await within(async () => (await monitoring.query(query)).length === 1);
    const [sample] = await monitoring.query(query);
    expect(sample?.metric).toMatchObject({ job: 'certificates', instance: tls.address });
    expect(Math.round(Number(sample?.value[1]) / 86_400)).toBe(DAYS);
  });

  it('sees when a backup was noted, as ./lowmark notes it', async () => {
    const old = alertRules().find(({ alert }) => alert === 'BackupOld')?.expr ?? '';
    expect(await monitoring.query(old)).toHaveLength(1);
    expect(read('lowmark')).toContain('touch /textfiles/backup.prom');
    await writeFile(join(monitoring.textfiles, 'backup.prom'), '');
    await within(async () => (await monitoring.query(old)).length === 0);
  });
});

describe('the dashboard', () => {
  // Waits for two redemptions, so that the dashboard has data.
  beforeAll(async () => {
    await stack.demonstrates(START_MS);
  }, 2 * START_MS);

  it.each(dashboardExpressions())('%s: %s', async (_, expression) => {
    if (MAY_BE_EMPTY.includes(expression)) {
      expect(await monitoring.query(expression)).toEqual([]);
      return;
    }
    if (OF_THE_AUDIT.test(expression)) {
      // This only checks that Prometheus can evaluate the expression; test/compose/metrics.e2e-spec.ts tests that
      // the metric exists.
      expect((await monitoring.query(expression)).length).toBeLessThanOrEqual(1);
      return;
    }
    const numbers = async (): Promise<number[]> => {
      await askServices();
      return (await monitoring.query(expression)).map(({ value }) => Number(value[1]));
    };
    await within(async () => (await numbers()).some((number) => Number.isFinite(number)));
  });

  it('finds the handbook, which its links begin with', async () => {
    const [, series = '', label = ''] =
      /^label_values\((.+), (\w+)\)$/.exec(dashboard().templating.list[0]?.definition ?? '') ?? [];
    const found = await monitoring.query(series);
    expect(found.map(({ metric }) => metric[label])).toEqual([HANDBOOK_URL]);
  });
});

describe('Alertmanager', () => {
  const config = 'deploy/alertmanager/alertmanager.yml';

  it('takes what is shipped, and the e-mail of the handbook in its place', async () => {
    const amtool = programPath('amtool') ?? '';
    const own = read(join(folder, 'alertmanager.yml'));
    const [mail = ''] = codeBlocks(read('docs/operating/alerts.md'))
      .map(({ code }) => code)
      .filter((code) => code.includes('email_configs'));
    const mailing = own.replace(/ {2}- name: operators\n.*\n.*\n/, mail);
    expect(mailing).toContain('auth_password_file');
    const [one, other] = [join(folder, 'own.yml'), join(folder, 'mailing.yml')];
    await writeFile(one, own);
    await writeFile(other, mailing);
    const checked = execFileSync(amtool, ['check-config', one, other], { encoding: 'utf8' });
    expect(checked.match(/SUCCESS/g)).toHaveLength(2);
  });

  it.each([
    ['dead-mans-switch', ['alertname=Watchdog', 'severity=none']],
    ['operators', ['alertname=ServiceDown', 'severity=critical']],
    ['operators', ['alertname=RpcErrors', 'severity=warning']],
  ])('sends to %s: %j', (receiver, labels) => {
    const words = ['config', 'routes', 'test', `--config.file=${join(folder, 'alertmanager.yml')}`];
    const told = execFileSync(programPath('amtool') ?? '', [...words, ...labels], {
      encoding: 'utf8',
    });
    expect(told.trim()).toBe(receiver);
    expect(read(config)).toContain(`- name: ${receiver}`);
  });

  it('tells the dead man’s switch again and again, and nothing else', async () => {
    const { annotations } = await deadMansSwitch.received('Watchdog', 'firing');
    expect(annotations['runbook_url']).toBe(`${HANDBOOK_URL}/alerts.md#watchdog`);
    await within(() => deadMansSwitch.alerts.length > 2);
    expect(new Set(deadMansSwitch.alerts.map(({ labels }) => labels['alertname'])).size).toBe(1);
    expect(operators.alerts.filter(({ labels }) => labels['alertname'] === 'Watchdog')).toEqual([]);
  });

  it('tells the operators of an empty vault, with what to do, and when it is filled again', async () => {
    const [token, vault] = [facts.tokenContract as Hex, facts.vaultContract as Hex];
    const balance = (await rpc(facts, 'eth_call', {
      to: token,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [vault] }),
    })) as Hex;
    const amount = BigInt(balance);
    expect(amount).toBeGreaterThan(0n);
    expect(await isFiring('VaultShort')).toBe(false);
    const [owner] = (await rpc(facts, 'eth_accounts')) as [Hex];
    await treasury(
      vault,
      encodeFunctionData({
        abi: redemptionVaultAbi,
        functionName: 'withdraw',
        args: [token, owner, amount],
      }),
    );
    const alert = await operators.received('VaultShort', 'firing', BALANCE_MS);
    expect(alert.labels).toMatchObject({
      severity: 'critical',
      service: 'redemption',
      reason: 'empty',
    });
    expect(alert.labels).not.toHaveProperty('handbook');
    expect(alert.annotations).toEqual({
      summary: 'The vault holds no tokens.',
      runbook_url: `${HANDBOOK_URL}/alerts.md#vaultshort`,
    });
    await treasury(
      token,
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [vault, amount] }),
    );
    const resolved = await operators.received('VaultShort', 'resolved', BALANCE_MS);
    expect(resolved.annotations).toEqual(alert.annotations);
  });

  it('keeps the warnings of a service back while it is down, and nothing critical', async () => {
    const alerts = [
      ['ServiceDown', 'critical', 'redemption'],
      ['RedemptionsStuck', 'warning', 'redemption'],
      ['BooksMayDiffer', 'critical', 'redemption'],
      ['PriceOld', 'warning', 'indexer'],
    ].map(([alertname = '', severity = '', service = '']) => ({
      labels: { alertname, severity, service, test: 'inhibition' },
    }));
    const url = `${monitoring.alertmanagerUrl}/api/v2/alerts`;
    const headers = { 'content-type': 'application/json' };
    const posted = await fetch(url, { method: 'POST', headers, body: JSON.stringify(alerts) });
    expect(posted.status).toBe(200);
    let kept: string[] = [];
    await within(async () => {
      const answer = await fetch(`${url}?filter=test=inhibition`);
      const seen = (await answer.json()) as {
        labels: Record<string, string>;
        status: { state: string };
      }[];
      const isDecided = seen.every(({ status }) => status.state !== 'unprocessed');
      kept = seen
        .filter(({ status }) => status.state === 'suppressed')
        .map(({ labels }) => labels['alertname'] ?? '');
      return seen.length === alerts.length && isDecided && kept.length > 0;
    });
    expect(kept).toEqual(['RedemptionsStuck']);
  });
});
