import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { localEnvironment } from '../../apps/stack/src/compose/local-environment.js';
import { baseSecrets, localSecrets, SHARES } from '../../apps/stack/src/compose/secret-files.js';
import {
  type ComposeFile,
  type ComposeService,
  programOf,
  ROOT,
  settingsOfProgram,
  textOf,
  yamlOf,
} from './compose-file.js';

const file = yamlOf('docker-compose.yml') as ComposeFile;
const services = Object.entries(file.services);
const ours = services.filter(([, service]) => programOf(service) !== undefined);
const oneShots = services.filter(([, { restart }]) => restart === 'no').map(([name]) => name);
const lasting = services.filter(([name]) => !oneShots.includes(name));

const WALLET = '0x1111111111111111111111111111111111111111' as never;
const local = localEnvironment({
  rpcUrl: 'http://chain:8545',
  chainId: 31_337,
  contracts: { staking: WALLET, token: WALLET, startBlock: 1n },
  vault: { vault: WALLET, startBlock: 2n },
  redeemers: [WALLET],
});
const localNames = local.split('\n').map((line) => line.split('=')[0] ?? '');

function readsLocalEnvironment({ entrypoint = [], command = [] }: ComposeService): boolean {
  return [...entrypoint, ...command].some((part) => part.includes('--env-file-if-exists='));
}

/** Whose copies of the secrets a service mounts. */
function shareOf({ volumes = [] }: ComposeService): string | undefined {
  const mounted = volumes.filter((volume) => volume.startsWith('for-'));
  return mounted.length === 1 ? /^for-(\w+):/.exec(mounted[0] ?? '')?.[1] : undefined;
}

function secretsReadBy({ environment = {} }: ComposeService): string[] {
  return Object.entries(environment)
    .filter(([name]) => name.endsWith('_FILE'))
    .map(([, path]) => String(path));
}

/** Who has to talk to whom. */
const TALKS: readonly (readonly [string, string])[] = [
  ...['migrate', 'indexer', 'api', 'redemption', 'cli', 'partner', 'register-partner'].map(
    (name) => [name, 'postgres'] as const,
  ),
  ['game-database', 'postgres'],
  ['api', 'redis'],
  ['cli', 'redis'],
  ['activity', 'chain'],
  ['indexer', 'chain'],
  ['redemption', 'chain'],
  ['cli', 'chain'],
  ['redemption', 'partner'],
  ['cli', 'partner'],
  ['prometheus', 'indexer'],
  ['prometheus', 'api'],
  ['prometheus', 'redemption'],
  ['grafana', 'prometheus'],
  // Never at the same time, or both the operator's own.
  ['migrate', 'cli'],
  ['migrate', 'register-partner'],
  ['cli', 'register-partner'],
  ['game-database', 'partner'],
];

describe('docker-compose.yml', () => {
  it('has the services it promises', () => {
    const profiles = Object.fromEntries(
      services.map(([name, service]) => [name, service.profiles?.join() ?? '']),
    );
    expect(profiles).toEqual({
      secrets: '',
      postgres: '',
      redis: '',
      migrate: '',
      indexer: '',
      api: '',
      redemption: '',
      cli: 'cli',
      'local-secrets': 'local',
      chain: 'local',
      activity: 'local',
      'game-database': 'local',
      partner: 'local',
      'register-partner': 'local',
      prometheus: 'metrics',
      grafana: 'metrics',
    });
    expect(oneShots.sort()).toEqual([
      'cli',
      'game-database',
      'local-secrets',
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
    expect(known).toEqual(expect.arrayContaining(Object.keys(service.environment ?? {})));
  });

  it.each(ours)('%s lacks nothing in the local profile', async (name, service) => {
    const told = [
      ...Object.keys(service.environment ?? {}).map((variable) => variable.replace(/_FILE$/, '')),
      ...(readsLocalEnvironment(service) ? localNames : []),
    ];
    const needed = (await settingsOfProgram(programOf(service) ?? ''))
      .filter((one) => one.default === undefined && one.optional !== true)
      .map(({ variable }) => variable)
      // The cli has settings for each command; migrate is one that wants the database only.
      .filter((variable) => name !== 'migrate' || variable === 'DATABASE_URL');
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
    expect(variables).toEqual(expect.arrayContaining(localNames.filter((name) => name !== '')));
  });

  it('reads no secret that nobody makes', () => {
    const made = [...baseSecrets('/run/lowmark'), ...localSecrets('/run/lowmark')];
    const used = services.flatMap(([, service]) => {
      const share = SHARES[shareOf(service) ?? ''] ?? [];
      const names = new Map(share.map(([file, as = file]) => [as, file]));
      return secretsReadBy(service).map((path) => {
        const name = path.replace('/run/lowmark/secrets/', '');
        return name === path
          ? path
          : `/run/lowmark/secrets/${names.get(name) ?? `missing ${name}`}`;
      });
    });
    // The configuration of Redis is named on its command line.
    const configured = [...used, '/run/lowmark/secrets/redis.conf'];
    expect([...new Set(configured)].sort()).toEqual(made.map(({ path }) => path).sort());
  });

  it('gives no program a secret that it does not read', () => {
    const optional = ['rpc_urls', 'price_source'];
    const readers = services.filter(([, service]) => shareOf(service) !== undefined);
    expect(readers.length).toBeGreaterThan(8);
    for (const [share, files] of Object.entries(SHARES)) {
      const read = readers
        .filter(([, service]) => shareOf(service) === share)
        .flatMap(([, service]) => [...secretsReadBy(service), ...(service.command ?? [])])
        .map((path) => path.replace('/run/lowmark/secrets/', ''));
      const given = files.map(([file, as = file]) => as).filter((name) => !optional.includes(name));
      for (const name of given)
        expect({ share, read }).toEqual({ share, read: expect.arrayContaining([name]) });
    }
  });

  it('lets no one but the service that makes them see all secrets', () => {
    const sees = services.filter(([, { volumes = [] }]) =>
      volumes.some((volume) => volume.includes(':-secrets}:')),
    );
    expect(sees.map(([name]) => name)).toEqual(['secrets']);
  });

  it('lets only the migration have the credential of the owner', () => {
    const owners = services.filter(
      ([, service]) => shareOf(service) === 'migrate' || shareOf(service) === 'postgres',
    );
    expect(owners.map(([name]) => name).sort()).toEqual(['game-database', 'migrate', 'postgres']);
  });

  it('has no network for services that need not talk, and none to the world but for those that need it', () => {
    const members = Object.keys(file.networks).map((network) => ({
      network,
      names: services
        .filter(([, { networks = [] }]) => networks.includes(network))
        .map(([name]) => name),
    }));
    for (const { network, names } of members) {
      const pairs = names.flatMap((one, index) => names.slice(index + 1).map((two) => [one, two]));
      for (const [one = '', two = ''] of pairs) {
        const may = TALKS.some((talk) => talk.includes(one) && talk.includes(two));
        expect({ network, one, two, may }).toEqual({ network, one, two, may: true });
      }
    }
    for (const [one, two] of TALKS.slice(0, -4)) {
      const both = members.filter(({ names }) => names.includes(one) && names.includes(two));
      expect({ one, two, networks: both.length }).toEqual({ one, two, networks: 1 });
    }
    const open = members.filter(({ network }) => file.networks[network]?.internal !== true);
    expect(open.flatMap(({ names }) => names).sort()).toEqual([
      'api',
      'chain',
      'cli',
      'grafana',
      'indexer',
      'migrate',
      'prometheus',
      'redemption',
    ]);
    for (const [name, { networks, network_mode: mode }] of services) {
      expect({ name, isPlaced: mode === 'none' || (networks ?? []).length > 0 }).toEqual({
        name,
        isPlaced: true,
      });
    }
  });

  it('asks Redis for a password that no argument holds', () => {
    const { command = [] } = file.services['redis'] ?? {};
    expect(command.slice(0, 2)).toEqual(['redis-server', '/run/lowmark/secrets/redis.conf']);
    expect(command.join(' ')).not.toContain('requirepass');
  });

  it('is production unless the local chain is the only one named', () => {
    const run = (file.services['api']?.entrypoint ?? []).join('\n');
    for (const name of ['indexer', 'api', 'redemption']) {
      expect(file.services[name]?.entrypoint).toEqual(file.services['api']?.entrypoint);
    }
    expect(run).toContain('[ -z "$$NODE_ENV" ] && [ -z "$$CHAIN_ID" ]');
    expect(textOf('Dockerfile')).toContain('\nENV NODE_ENV=production\n');
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
    expect(sees.map(([name]) => name).sort()).toEqual([
      'activity',
      'local-secrets',
      'redemption',
      'secrets',
    ]);
  });

  it.each(lasting)('%s has a health check and time to stop', (_, service) => {
    expect(service.healthcheck?.test[0]).toMatch(/^CMD(-SHELL)?$/);
    expect(service.healthcheck?.start_period).toMatch(/^\d+s$/);
    expect(service.stop_grace_period).toMatch(/^\d+s$/);
    expect(service.restart).toBe('unless-stopped');
  });

  it.each(ours.filter(([, { healthcheck }]) => healthcheck?.test.join().includes('fetch')))(
    '%s is asked for its health where it listens',
    (name, { environment = {}, ports = [], healthcheck }) => {
      const port = environment[`${name.toUpperCase()}_PORT`];
      const management = environment[`${name.toUpperCase()}_MANAGEMENT_PORT`];
      expect(environment[`${name.toUpperCase()}_HOST`]).toBe('0.0.0.0');
      expect(healthcheck?.test.at(-1)).toContain(
        `http://127.0.0.1:${management ?? port}/health/ready`,
      );
      for (const published of ports) expect(published).toMatch(new RegExp(`:${port}$`));
    },
  );

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

  it.each(services)('%s waits for what it needs, by health', (_, { depends_on = {} }) => {
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const expected = oneShots.includes(name)
        ? 'service_completed_successfully'
        : 'service_healthy';
      expect(condition).toBe(expected);
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
        expect(port).toMatch(/^(127\.0\.0\.1|\$\{PUBLISH_ADDRESS:-127\.0\.0\.1\}):/);
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
      'postgres:17.11',
      'prom/prometheus:v3.13.3',
      'redis:7.4.11',
    ]);
  });
});

describe('Dockerfile', () => {
  const text = textOf('Dockerfile');

  it('needs no other front end and no one digest', () => {
    expect(text).not.toMatch(/^#\s*syntax\s*=/im);
    expect(text).not.toContain('@sha256:');
    expect([...text.matchAll(/^FROM (\S+)/gm)].map(([, from]) => from)).toEqual([
      '${NODE_IMAGE}',
      '${NODE_IMAGE}',
      '${NODE_IMAGE}',
    ]);
    expect(text).toContain('ARG NODE_IMAGE=node:24.19.0-bookworm-slim\n');
  });

  it('copies what exists, and what .dockerignore lets through', () => {
    const ignore = textOf('.dockerignore').split('\n');
    for (const [, line = ''] of text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const path of line.split(' ')) {
        expect(existsSync(new URL(path, ROOT))).toBe(true);
        expect(ignore).toContain(`!${path}`);
      }
    }
  });

  it('installs from the lock file, and without what only development needs', () => {
    expect(text).toContain('RUN npm ci --omit=dev');
    expect(text).not.toMatch(/npm (i|install)\b/);
    expect(text).toMatch(/^USER node$/m);
  });

  it('makes the folders that volumes are mounted at', () => {
    const mounted = services.flatMap(([, service]) =>
      programOf(service) === undefined
        ? []
        : (service.volumes ?? []).map((volume) => /:(\/[^:]+)/.exec(volume)?.[1] ?? ''),
    );
    for (const path of new Set(mounted)) expect(text).toContain(path);
  });

  it('takes the arguments that compose passes, but for those that Docker knows by itself', () => {
    const args = file.services['secrets']?.build?.args ?? [];
    for (const arg of args.filter((name) => !name.endsWith('PROXY'))) {
      expect(text).toContain(`ARG ${arg}`);
    }
  });
});
