import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { testConstants } from '#libs/config';
import { localEnvironment, priceVariables } from '../../apps/stack/src/chain/local-environment.js';
import {
  type ComposeFile,
  type ComposeService,
  networksOf,
  programOf,
  ROOT,
  settingsOfProgram,
  textOf,
  trialFile,
  yamlOf,
} from './compose-file.js';

const real = yamlOf('docker-compose.yml') as ComposeFile;
const file = trialFile();
const services = Object.entries(file.services);
const ours = services.filter(([, service]) => programOf(service) !== undefined);
const oneShots = services.filter(([, { restart }]) => restart === 'no').map(([name]) => name);
const lasting = services.filter(([name]) => !oneShots.includes(name));

const WALLET = '0x1111111111111111111111111111111111111111' as never;
const local = localEnvironment(
  {
    rpcUrl: 'http://chain:8545',
    chainId: 31_337,
    contracts: { staking: WALLET, token: WALLET, startBlock: 1n },
    vault: { vault: WALLET, startBlock: 2n },
  },
  {
    serviceUrl: 'http://127.0.0.1:3002',
    pagesUrl: 'http://127.0.0.1:3003',
    redeemers: [WALLET],
  },
);
const localNames = local.split('\n').map((line) => line.split('=')[0] ?? '');

function readsLocalEnvironment({ entrypoint = [], command = [] }: ComposeService): boolean {
  return [...entrypoint, ...command].some((part) => part.includes('--env-file-if-exists='));
}

describe('the trial on a local chain', () => {
  it('has bounds around its price, which the redemption service checks for every price', () => {
    expect(local).toMatch(/^PRICE_SOURCE=fixed:0.15\n(.*\n)*PRICE_BOUNDS_USD=0.015..1.5$/m);
    const of = (source: string): unknown => priceVariables(source)['PRICE_BOUNDS_USD'];
    expect(of('fixed:20')).toBe('2..200');
    // The price of another source is not known in advance.
    expect(of('http://127.0.0.1/price#/usd')).toBeUndefined();
  });
});

describe('docker-compose.yml', () => {
  it('has the services it promises', () => {
    const profiles = Object.fromEntries(
      Object.entries(real.services).map(([name, { profiles = [] }]) => [name, profiles.join()]),
    );
    expect(profiles).toEqual({
      secrets: '',
      postgres: '',
      redis: '',
      migrate: '',
      indexer: '',
      api: '',
      redemption: '',
      console: '',
      proxy: '',
      cli: 'cli',
      prometheus: 'metrics',
      alertmanager: 'metrics',
      'node-exporter': 'metrics',
      'blackbox-exporter': 'metrics',
      grafana: 'metrics',
    });
    const ofTrial = services.map(([name]) => name).filter((name) => !(name in real.services));
    expect(ofTrial.sort()).toEqual([
      'activity',
      'chain',
      'game-database',
      'partner',
      'register-partner',
    ]);
    expect(oneShots.sort()).toEqual([
      'cli',
      'game-database',
      'migrate',
      'register-partner',
      'secrets',
    ]);
  });

  it.each(ours)('%s runs a program that exists', (_, service) => {
    expect(existsSync(new URL(programOf(service) ?? '', ROOT))).toBe(true);
  });

  it.each(ours)('%s is told only what its program reads', async (_, service) => {
    const settings = await settingsOfProgram(programOf(service) ?? '');
    const known = settings.flatMap(({ variable, secret }) =>
      secret === true ? [variable, `${variable}_FILE`] : [variable],
    );
    // Every program reads NODE_ENV when it reads its settings.
    known.push('NODE_ENV');
    expect(known).toEqual(expect.arrayContaining(Object.keys(service.environment ?? {})));
  });

  it.each(ours)('%s lacks nothing in a trial', async (name, service) => {
    const told = [
      ...Object.keys(service.environment ?? {}).map((variable) => variable.replace(/_FILE$/, '')),
      ...(readsLocalEnvironment(service) ? localNames : []),
    ];
    const needed = (await settingsOfProgram(programOf(service) ?? ''))
      .filter((one) => one.default === undefined && one.optional !== true)
      .map(({ variable }) => variable)
      // The cli has settings for each command; `migrate` is a command that needs only the database.
      .filter((variable) => name !== 'migrate' || variable === 'DATABASE_URL')
      // EVIDENCE_KEY is for `redemption adopt`, which runs where the redemption service does.
      .filter((variable) => name !== 'cli' || variable !== 'EVIDENCE_KEY');
    if (!programOf(service)?.endsWith('secrets.main.ts')) {
      expect(told).toEqual(expect.arrayContaining(needed));
    }
  });

  it('tells the services nothing of a local chain that none of them reads', async () => {
    const read = await Promise.all(
      ours
        .filter(([, service]) => readsLocalEnvironment(service))
        .map(([, service]) => settingsOfProgram(programOf(service) ?? '')),
    );
    const variables = read.flat().map(({ variable }) => variable);
    variables.push(...Object.keys(testConstants({})));
    expect(variables).toEqual(expect.arrayContaining(localNames.filter((name) => name !== '')));
  });

  it('is development for every service that reads the constants of a trial', () => {
    expect(textOf('deploy/local.env')).toMatch(
      /^SETTINGS=deploy\/local\.env\nNODE_ENV=development$/m,
    );
    const readers = Object.values(file.services).filter(readsLocalEnvironment);
    expect(readers.length).toBeGreaterThan(5);
    for (const { env_file: settings, environment } of readers)
      expect(settings ? 'development' : environment?.['NODE_ENV']).toBe('development');
  });

  it('holds no secret', () => {
    const secret = /(PASSWORD|SECRET|KEY|DATABASE_URL)$/;
    const named = services.flatMap(([, { environment = {} }]) => Object.keys(environment));
    expect(named.filter((name) => secret.test(name))).toEqual([]);
  });

  it.each(services)('%s mounts what there is', (_, { volumes = [] }) => {
    for (const volume of volumes) {
      const source = /^(?:\$\{\w+:-([\w-]+)\}|([^:]+)):/.exec(volume);
      const name = source?.[1] ?? source?.[2] ?? '';
      if (name.startsWith('./')) expect(existsSync(new URL(name, ROOT))).toBe(true);
      else expect(Object.keys(file.volumes)).toContain(name);
    }
  });

  it.each(ours)('%s gets every file that it is told to read', (_, service) => {
    const mounts = (service.volumes ?? []).map((volume) => /:(\/[^:]+)/.exec(volume)?.[1] ?? '');
    const paths = Object.values(service.environment ?? {})
      .map(String)
      .filter((value) => value.startsWith('/run/lowmark/'));
    for (const path of paths) {
      expect(mounts.some((mount) => path.startsWith(mount))).toBe(true);
    }
  });

  it('lets only the redemption service and the local chain see the key that signs vouchers', () => {
    const sees = services.filter(([, { volumes = [] }]) =>
      volumes.some((volume) => volume.includes(':/run/lowmark/signer')),
    );
    // The cli sees the key in a trial only, where its doctor asks about the key.
    expect(sees.map(([name]) => name).sort()).toEqual(['activity', 'cli', 'redemption', 'secrets']);
    expect(real.services['cli']?.volumes).toEqual(['for-cli:/run/lowmark/secrets:ro']);
  });

  it.each(lasting)('%s has a health check and time to stop', (_, service) => {
    expect(service.healthcheck?.test[0]).toMatch(/^CMD(-SHELL)?$/);
    expect(service.healthcheck?.start_period).toMatch(/^\d+s$/);
    expect(service.stop_grace_period).toMatch(/^\d+s$/);
    expect(service.restart).toBe('unless-stopped');
  });

  it.each(services)('%s has a limit of processes', (_, { pids_limit: limit }) => {
    expect(limit).toBe(512);
  });

  it('limits the memory of each program of ours', () => {
    const programs = Object.values(real.services).filter((one) => programOf(one) !== undefined);
    const limits = programs.map(({ restart, mem_limit: limit }) => `${restart} ${limit}`);
    expect([...new Set(limits)].sort()).toEqual(['no 8g', 'unless-stopped 1g']);
  });

  const asked = ours.filter(([, { healthcheck }]) => healthcheck?.test.includes('ready'));

  it('asks five programs whether they are ready', () => {
    const names = asked.map(([name]) => name);
    expect(names).toEqual(['indexer', 'api', 'redemption', 'console', 'partner']);
    const checks = asked.map(([, { healthcheck }]) => healthcheck?.test.slice(0, -1));
    expect(new Set(checks.map(String)).size).toBe(1);
  });

  it.each(asked)(
    '%s is asked for its health where it listens',
    (name, { environment = {}, ports = [], healthcheck }) => {
      const port = environment[`${name.toUpperCase()}_PORT`];
      const management = environment['MANAGEMENT_PORT'];
      expect(environment['LISTEN_HOST']).toBe('0.0.0.0');
      expect(healthcheck?.test.at(-1)).toBe(String(management ?? port));
      for (const published of ports) expect(published).toMatch(new RegExp(`:${port}$`));
    },
  );

  it.each([
    [200, true],
    [503, false],
    [undefined, false],
  ])('takes a program for ready by its answer %s: %s', async (status, isReady) => {
    const server = createServer((request, response) => {
      response.writeHead(request.url === '/health/ready' ? (status ?? 0) : 404).end('{}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    if (status === undefined) server.close();
    const [, program = '', ...words] = asked[0]?.[1].healthcheck?.test.slice(0, -1) ?? [];
    const asking = execFile(program, [
      ...words.map((word) => word.replaceAll('$$', '$')),
      String(port),
    ]);
    const [code] = (await once(asking, 'exit')) as [number];
    server.close();
    expect(code === 0).toBe(isReady);
  });

  it('asks for the replicas of a service where it listens, as the proxy does', () => {
    const told = textOf('deploy/haproxy/haproxy.cfg');
    for (const name of ['api', 'redemption', 'console']) {
      const { environment = {}, ports, scale } = real.services[name] ?? {};
      const upper = name.toUpperCase();
      const port = String(environment[`${upper}_PORT`]);
      expect(told).toContain(`presetenv ${upper} ${name}:${port}\n`);
      const management = String(environment['MANAGEMENT_PORT']);
      expect(told).toContain(`presetenv MANAGEMENT_PORT ${management}\n`);
      expect(told).toContain(`presetenv LISTEN_${upper} :${port}\n`);
      expect(real.services['proxy']?.ports?.some((one) => one.endsWith(`:${port}`))).toBe(true);
      expect({ ports, scale }).toEqual({ ports: undefined, scale: `\${${upper}_REPLICAS:-2}` });
      // Those who share limits know into how many parts they divide them without Redis.
      const shares = environment['REDIS_URL_FILE'] !== undefined;
      expect(environment['REPLICAS']).toBe(shares ? scale : undefined);
      // The services trust the proxy's address, and whatever else the operator sets.
      expect(environment['TRUSTED_PROXIES']).toMatch(/^uniquelocal\$/);
    }
  });

  it('lets the console ask api and redemption service by entrances of the proxy that are not published', () => {
    const { console: pages, proxy } = real.services;
    const { REDEMPTION_URL, API_URL } = pages?.environment ?? {};
    expect(REDEMPTION_URL).toBe('http://redemption.proxy:3012');
    expect(API_URL).toBe('http://api.proxy:3000');
    expect(proxy?.networks).toMatchObject({
      redemption: { aliases: ['api.proxy', 'redemption.proxy'] },
    });
    expect(networksOf(pages ?? {})).toContain('redemption');
    expect(textOf('deploy/haproxy/haproxy.cfg')).toContain(
      `presetenv LISTEN_MANAGEMENT :${pages?.environment?.['MANAGEMENT_PORT']}\n`,
    );
    expect(textOf('deploy/haproxy/haproxy.cfg')).toContain('presetenv LISTEN_INNER :3012\n');
    expect(proxy?.ports?.filter((port) => /3012|9000/.test(port))).toEqual([]);
    // The proxy knows the pages under the origin that browsers use.
    expect(proxy?.environment?.['CONSOLE_ORIGIN']).toBe(pages?.environment?.['CONSOLE_ORIGIN']);
  });

  it('recreates no service because another one is', () => {
    const dependent = Object.entries(real.services).filter(([, one]) => one.depends_on);
    expect(dependent.map(([name]) => name)).toEqual(['grafana']);
  });

  it.each(services)(
    '%s can write nowhere but where it must, and has no rights to gain',
    (_, one) => {
      expect(one).toMatchObject({
        init: true,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    },
  );

  it('lets init stop a PostgreSQL that runs under another user', () => {
    expect(file.services['postgres']?.cap_add).toContain('KILL');
  });

  it.each(services)('%s waits for what it needs, by health', (waiting, { depends_on = {} }) => {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const expected = oneShots.includes(name)
        ? ['service_completed_successfully']
        : // The proxy starts before its replicas.
          ['service_healthy', ...(waiting === 'proxy' ? ['service_started'] : [])];
      expect(expected).toContain(condition);
    }
  });

  it.each(services.filter(([, { profiles }]) => profiles === undefined))(
    '%s does not need what only a profile brings',
    (_, { depends_on = {} }) => {
      const needed = Object.entries(depends_on).filter(([, { required }]) => required !== false);
      const fromProfiles = needed.filter(([name]) => file.services[name]?.profiles !== undefined);
      expect(fromProfiles).toEqual([]);
    },
  );

  it('publishes on the loopback address unless it is told otherwise', () => {
    for (const [, { ports = [] }] of services) {
      for (const port of ports)
        expect(port).toMatch(/^(127\.0\.0\.1|\$\{(PUBLISH|HTTPS)_ADDRESS:-127\.0\.0\.1\}):/);
    }
  });

  it('has every variable of its own explained', () => {
    const page = textOf('docs/operating/compose.md');
    const variables = new Set(
      [...textOf('docker-compose.yml').matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name ?? ''),
    );
    expect(variables.size).toBeGreaterThan(5);
    for (const name of variables) expect(page).toContain(`\`${name}\``);
  });

  it('takes images by their tags, and only those that are meant', () => {
    const images = services.map(([, { image }]) => image ?? '');
    expect([...new Set(images)].sort()).toEqual([
      '${LOWMARK_IMAGE:-lowmark:local}',
      'ghcr.io/foundry-rs/foundry:v1.7.1',
      'grafana/grafana:12.4.4',
      'haproxy:3.0.25-alpine',
      'postgres:17.11',
      'prom/alertmanager:v0.31.1',
      'prom/blackbox-exporter:v0.28.0',
      'prom/node-exporter:v1.11.1',
      'prom/prometheus:v3.13.3',
      'redis:7.4.11',
    ]);
  });
});
