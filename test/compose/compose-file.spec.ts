import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { testConstants } from '#libs/config';
import { localEnvironment, priceVariables } from '../../apps/stack/src/chain/local-environment.js';
import {
  type ComposeFile,
  type ComposeService,
  networksOf,
  programOf,
  ROOT,
  textOf,
  trialFile,
  variablesOf,
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
  it('starts by itself what is in no profile, and runs these once', () => {
    const inProfiles = Object.entries(real.services).filter(([, one]) => one.profiles);
    expect(inProfiles.map(([name, { profiles = [] }]) => `${name}: ${profiles.join()}`)).toEqual([
      'cli: cli',
      'prometheus: metrics',
      'alertmanager: metrics',
      'node-exporter: metrics',
      'blackbox-exporter: metrics',
      'grafana: metrics',
    ]);
    expect(oneShots.sort()).toEqual([
      ...['cli', 'game-database', 'migrate', 'register-partner', 'secrets'],
    ]);
  });

  it.each(ours)(
    '%s is told only what its program reads, and in a trial all it needs',
    async (name, service) => {
      const program = programOf(service) ?? '';
      expect(existsSync(new URL(program, ROOT))).toBe(true);
      const { known, needed } = await variablesOf(program);
      const told = Object.keys(service.environment ?? {});
      // Every program reads NODE_ENV when it reads its settings.
      expect([...known, 'NODE_ENV']).toEqual(expect.arrayContaining(told));
      if (program.endsWith('secrets.main.ts')) return;
      const inTrial = [
        ...told.map((variable) => variable.replace(/_FILE$/, '')),
        ...(readsLocalEnvironment(service) ? localNames : []),
      ];
      const lacking = needed
        .filter((variable) => !inTrial.includes(variable))
        // The cli has settings for each command; `migrate` is a command that needs only the database.
        .filter((variable) => name !== 'migrate' || variable === 'DATABASE_URL')
        // EVIDENCE_KEY is for `redemption adopt`, which runs where the redemption service does.
        .filter((variable) => name !== 'cli' || variable !== 'EVIDENCE_KEY');
      expect(lacking).toEqual([]);
    },
  );

  it('tells the services nothing of a local chain that none of them reads', async () => {
    const read = await Promise.all(
      ours
        .filter(([, service]) => readsLocalEnvironment(service))
        .map(([, service]) => variablesOf(programOf(service) ?? '')),
    );
    const variables = read.flatMap(({ known }) => known);
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
    '%s can write nowhere but where it must, has no rights to gain, and a limit of processes',
    (_, one) => {
      expect(one).toMatchObject({
        init: true,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        pids_limit: 512,
      });
    },
  );

  it('lets init stop a PostgreSQL that runs under another user', () => {
    expect(file.services['postgres']?.cap_add).toContain('KILL');
  });

  it.each(services)(
    '%s waits for what it needs, by health',
    (waiting, { depends_on = {}, profiles }) => {
      for (const [name, { condition, required }] of Object.entries(depends_on)) {
        const expected = oneShots.includes(name)
          ? ['service_completed_successfully']
          : // The proxy starts before its replicas.
            ['service_healthy', ...(waiting === 'proxy' ? ['service_started'] : [])];
        expect(expected).toContain(condition);
        // What starts by itself does not need what only a profile brings.
        if (profiles === undefined && required !== false)
          expect([name, file.services[name]?.profiles]).toEqual([name, undefined]);
      }
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

  it('takes images by the tags of versions', () => {
    const images = new Set(services.map(([, { image }]) => image ?? ''));
    expect(images.delete('${LOWMARK_IMAGE:-lowmark:local}')).toBe(true);
    for (const image of images) expect(image).toMatch(/^[a-z./-]+:v?\d+(\.\d+)+(-alpine)?$/);
  });
});

interface Override {
  readonly services: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

it('the further indexer of several-contracts.md extends the first one, with settings and a name of its own', () => {
  const page = textOf('docs/operating/several-contracts.md');
  const [text = '', index = ''] = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(
    ([, yaml]) => yaml ?? '',
  );
  // Compose's `!override` replaces the list of the extended service, so that no setting of .env applies to the second
  // contract.
  expect(text).toContain('env_file: !override [golf.env]');
  const { services } = load(text.replace('!override', '')) as Override;
  expect(services).toEqual({
    'indexer-golf': {
      extends: { file: 'docker-compose.yml', service: 'indexer' },
      env_file: ['golf.env'],
      environment: { STAKE_SET: 'golf', CHAIN_ID: 8453 },
      networks: { indexer: { aliases: ['indexer'] } },
    },
  });
  expect((load(index.replace('!override', '')) as Override).services).toEqual({
    'index-golf': {
      extends: { file: 'docker-compose.yml', service: 'migrate' },
      profiles: ['cli'],
      env_file: ['golf.env'],
      environment: { STAKE_SET: 'golf', CHAIN_ID: 8453 },
    },
  });
  const { indexer } = real.services;
  expect(indexer?.networks).toContain('indexer');
  // The override sets every value that compose itself takes from .env for the first contract.
  const fromSettings = Object.entries(indexer?.environment ?? {}).filter(([, value]) =>
    String(value).startsWith('${'),
  );
  expect(fromSettings.map(([name]) => name)).toEqual(['CHAIN_ID']);
});
