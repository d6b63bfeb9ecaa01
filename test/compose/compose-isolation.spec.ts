/** Tests what each container of docker-compose.yml can read, and which containers it can reach. */
import { describe, expect, it } from '@jest/globals';
import {
  baseSecrets,
  localSecrets,
  PROGRAMS,
  SHARES,
  TRIAL_SHARES,
} from '../../apps/stack/src/compose/secret-files.js';
import {
  type ComposeFile,
  type ComposeService,
  networksOf,
  textOf,
  trialFile,
  yamlOf,
} from './compose-file.js';

const file = trialFile();
const services = Object.entries(file.services);

/** The secrets that a program gets in a trial. */
const sharesOf = (program: string) => [
  ...(SHARES[program] ?? []),
  ...(TRIAL_SHARES[program] ?? []),
];

/** The program whose copies of the secrets a service mounts. */
function shareOf({ volumes = [] }: ComposeService): string | undefined {
  const mounted = volumes.filter((volume) => volume.startsWith('for-'));
  return mounted.length === 1 ? /^for-(\w+):/.exec(mounted[0] ?? '')?.[1] : undefined;
}

function secretsReadBy({ environment = {} }: ComposeService): string[] {
  return Object.entries(environment).flatMap(([name, path]) => {
    if (name === 'SERVICE_DATABASE_URLS') {
      return PROGRAMS.map((program) => `${path}/${program}_database_url`);
    }
    return name.endsWith('_FILE') ? [String(path)] : [];
  });
}

/** The pairs of services that need a connection. */
const TALKS: readonly (readonly [string, string])[] = [
  ...[
    'migrate',
    'indexer',
    'api',
    'redemption',
    'console',
    'cli',
    'partner',
    'register-partner',
  ].map((name) => [name, 'postgres'] as const),
  ['game-database', 'postgres'],
  ['api', 'redis'],
  ['redemption', 'redis'],
  ['cli', 'redis'],
  ['activity', 'chain'],
  ['indexer', 'chain'],
  ['redemption', 'chain'],
  ['console', 'chain'],
  ['cli', 'chain'],
  ['redemption', 'partner'],
  ['cli', 'partner'],
  ['prometheus', 'indexer'],
  ['prometheus', 'api'],
  ['prometheus', 'redemption'],
  ['prometheus', 'console'],
  ['prometheus', 'alertmanager'],
  ['prometheus', 'node-exporter'],
  ['prometheus', 'blackbox-exporter'],
  ['grafana', 'prometheus'],
  ['proxy', 'api'],
  ['proxy', 'redemption'],
  ['proxy', 'console'],
  ['console', 'indexer'],
  // These services share a network without needing a connection: they never run at the same time, or both belong to the
  // operator.
  ['migrate', 'cli'],
  ['migrate', 'register-partner'],
  ['cli', 'register-partner'],
  ['game-database', 'partner'],
  // These services share a network because both serve one program; neither asks the other.
  ['postgres', 'redis'],
  ['redis', 'migrate'],
  ['redis', 'register-partner'],
  ['proxy', 'prometheus'],
  // The console asks the redemption service through the proxy.
  ['console', 'redemption'],
];
const NEVER_ASKED = 9;

describe('docker-compose.yml', () => {
  it('reads no secret that is not made', () => {
    const made = [...baseSecrets('/run/lowmark'), ...localSecrets('/run/lowmark')];
    const used = services.flatMap(([, service]) => {
      const share = sharesOf(shareOf(service) ?? '');
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
    const optional = ['rpc_urls', 'price_source', 'database_direct_url', 'oidc_client_secret'];
    const readers = services.filter(([, service]) => shareOf(service) !== undefined);
    expect(readers.length).toBeGreaterThan(8);
    for (const share of Object.keys(SHARES)) {
      const read = readers
        .filter(([, service]) => shareOf(service) === share)
        .flatMap(([, service]) => [...secretsReadBy(service), ...(service.command ?? [])])
        .map((path) => path.replace('/run/lowmark/secrets/', ''));
      const given = sharesOf(share)
        .map(([file, as = file]) => as)
        .filter((name) => !optional.includes(name));
      for (const name of given)
        expect({ share, read }).toEqual({ share, read: expect.arrayContaining([name]) });
    }
  });

  it('gives the key that vouches for redemptions to the service, and in a trial to the console', () => {
    const real = yamlOf('docker-compose.yml') as ComposeFile;
    const readers = (services: ComposeFile['services']) =>
      Object.entries(services)
        .filter(([, one]) => secretsReadBy(one).some((path) => path.endsWith('/evidence_key')))
        .map(([name]) => name);
    expect(readers(real.services)).toEqual(['redemption']);
    expect(readers(file.services)).toEqual(['redemption', 'console']);
    const holders = Object.keys(SHARES).filter((one) =>
      SHARES[one]?.some(([name]) => name === 'evidence_key'),
    );
    const more = Object.keys(TRIAL_SHARES).filter((one) =>
      TRIAL_SHARES[one]?.some(([name]) => name === 'evidence_key'),
    );
    expect([holders, more]).toEqual([['redemption'], ['console']]);
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
        .filter(([, service]) => networksOf(service).includes(network))
        .map(([name]) => name),
    }));
    // In the other networks no container can reach another one.
    const shared = members.filter(
      ({ network }) =>
        file.networks[network]?.driver_opts?.['com.docker.network.bridge.enable_icc'] !== 'false',
    );
    for (const { network, names } of shared) {
      const pairs = names.flatMap((one, index) => names.slice(index + 1).map((two) => [one, two]));
      for (const [one = '', two = ''] of pairs) {
        const may = TALKS.some((talk) => talk.includes(one) && talk.includes(two));
        expect({ network, one, two, may }).toEqual({ network, one, two, may: true });
      }
    }
    for (const [one, two] of TALKS.slice(0, -NEVER_ASKED)) {
      const both = shared.filter(({ names }) => names.includes(one) && names.includes(two));
      expect({ one, two, networks: both.length }).toEqual({ one, two, networks: 1 });
    }
    const open = members.filter(({ network }) => file.networks[network]?.internal !== true);
    expect(open.flatMap(({ names }) => names).sort()).toEqual([
      'alertmanager',
      'api',
      'blackbox-exporter',
      'chain',
      'cli',
      // In a trial the console is also in the network of the chain, whose accounts are its test wallets.
      'console',
      'console',
      'grafana',
      'indexer',
      'migrate',
      'prometheus',
      'proxy',
      'redemption',
    ]);
    for (const [name, service] of services) {
      const isPlaced = service.network_mode === 'none' || networksOf(service).length > 0;
      expect({ name, isPlaced }).toEqual({
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

  it('is production, and a trial is none', () => {
    const real = yamlOf('docker-compose.yml') as ComposeFile;
    expect(textOf('docker-compose.yml')).not.toContain('NODE_ENV');
    expect(textOf('Dockerfile')).toContain('\nENV NODE_ENV=production\n');
    // Data of a trial are in volumes that no other service mounts.
    expect(Object.keys(real.volumes)).not.toEqual(expect.arrayContaining(['chain']));
    expect(textOf('docker-compose.yml')).not.toContain('local.env');
    const trial = textOf('deploy/local.env');
    expect(trial).toMatch(/^NODE_ENV=development$/m);
    expect(trial).toMatch(/^SETTINGS=deploy\/local\.env$/m);
    expect(trial).toMatch(/^COMPOSE_PROJECT_NAME=/m);
    expect(trial).toMatch(/^LOWMARK_IMAGE=(?!lowmark:)/m);
  });
});
