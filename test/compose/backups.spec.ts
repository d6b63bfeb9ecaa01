/**
 * Tests what makes backups against the documentation: docker-compose.backup.yml with deploy/pgbackrest, and the objects
 * of deploy/kubernetes/postgres.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { loadAll } from 'js-yaml';
import {
  type ComposeFile,
  type ComposeService,
  programOf,
  ROOT,
  textOf,
  yamlOf,
} from './compose-file.js';

const base = yamlOf('docker-compose.yml') as ComposeFile;
const file = yamlOf('docker-compose.backup.yml') as ComposeFile;
const own = Object.entries(file.services).filter(([name]) => !(name in base.services));
const withPgbackrest = ['postgres', 'backups', 'drill'];
const page = textOf('docs/operating/backup.md');
const IMAGE = '/usr/local/lib/lowmark/';
/** pgBackRest's default of repo1-path. */
const REPOSITORY = '/var/lib/pgbackrest';

function service(name: string): ComposeService {
  const found = file.services[name];
  if (found === undefined) throw new Error(`docker-compose.backup.yml has no ${name}`);
  return found;
}

/** The sources of a service's mounts by path, with the access mode. */
function mounts({ volumes = [] }: ComposeService): Record<string, { from: string; mode: string }> {
  return Object.fromEntries(
    volumes.map((volume) => {
      const [, from = '', path = '', mode = 'rw'] =
        /^(?:(\$\{[^}]+\}|[\w./-]+):)?(\/[^:]+)(?::(\w+))?$/.exec(volume) ?? [];
      return [path, { from, mode }];
    }),
  );
}

function option(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(textOf('deploy/pgbackrest/pgbackrest.conf'))?.[1];
}

function daysKept(): string {
  const script = textOf('deploy/pgbackrest/backups.sh');
  const kept = /--repo1-retention-full-type=time --repo1-retention-full=(\d+)\n/.exec(script);
  return kept?.[1] ?? 'unknown';
}

describe('docker-compose.backup.yml', () => {
  it('adds these services and changes no others', () => {
    expect(own.map(([name]) => name).sort()).toEqual(['backups', 'drill', 'drill-check']);
    const changed = Object.keys(file.services).filter((name) => name in base.services);
    expect(changed.sort()).toEqual(['node-exporter', 'postgres']);
  });

  it('has the PostgreSQL of docker-compose.yml in its image', () => {
    const image = base.services['postgres']?.image ?? '';
    expect(textOf('deploy/pgbackrest/Dockerfile')).toContain(`\nFROM ${image}\n`);
    for (const name of withPgbackrest) expect(service(name).image).toBe(service('postgres').image);
  });

  it('archives to where the configuration says, and starts the server as before', () => {
    const { command = [], environment } = service('postgres');
    expect(command[0]).toBe(base.services['postgres']?.command?.[0]);
    expect(command).toEqual(
      expect.arrayContaining(['archive_mode=on', 'archive_command=pgbackrest archive-push %p']),
    );
    const stanza = String(environment?.['PGBACKREST_STANZA']);
    expect(textOf('deploy/pgbackrest/pgbackrest.conf')).toContain(`\n[${stanza}]\n`);
    expect(textOf('deploy/pgbackrest/common.sh')).toContain(`:-${stanza}}`);
    expect(command.join(' ')).toContain(String(option('pg1-socket-path')));
  });

  it.each(withPgbackrest)('%s finds repository, settings and what was received', (name) => {
    const mounted = mounts(service(name));
    for (const path of [REPOSITORY, '/etc/pgbackrest/conf.d', '/received'])
      expect(mounted[path]?.from).toBe(mounts(service('postgres'))[path]?.from);
    expect(service(name).environment?.['WAL_DIR']).toBe('/received');
  });

  it('lets the backups have the folder and the socket of the server', () => {
    const [data] = Object.entries(mounts(base.services['postgres'] ?? {})).filter(
      ([, { from }]) => from === 'postgres',
    );
    expect(option('pg1-path')).toBe(data?.[0]);
    expect(mounts(service('backups'))[data?.[0] ?? '']?.from).toBe('postgres');
    // The image of another PostgreSQL version may have another default.
    expect(service('backups').environment?.['PGDATA']).toBe(data?.[0]);
    expect(service('backups').environment?.['PGHOST']).toBe(option('pg1-socket-path'));
    expect(textOf('deploy/pgbackrest/common.sh')).toContain(`:=${String(data?.[0])}}`);
  });

  it('drills on a copy, which reaches nothing that is in use', () => {
    const drill = service('drill');
    const mounted = mounts(drill);
    expect(Object.values(mounted).map(({ from }) => from)).not.toContain('postgres');
    for (const [path, { mode }] of Object.entries(mounted))
      expect([path, mode]).toEqual([path, path === '/drill' ? 'rw' : 'ro']);
    const inUse = Object.keys(base.networks);
    expect(Object.keys(drill.networks ?? {}).filter((name) => inUse.includes(name))).toEqual([]);
    expect(drill.networks).toMatchObject({ drill: { aliases: ['postgres'] } });
    expect(service('drill-check').networks).toEqual(['drill']);
    expect(file.networks['drill']).toEqual({ internal: true });
  });

  it('checks the copy with the secrets of the commands, and with no chain, partner or Redis', () => {
    const check = service('drill-check');
    const cli = base.services['cli'];
    expect(programOf(check)).toBe(programOf(cli ?? {}));
    expect(check.volumes).toEqual(cli?.volumes);
    expect(check.env_file).toBeUndefined();
    expect(Object.keys(check.environment ?? {})).toEqual(['DATABASE_URL_FILE', 'SECRETS_KEY_FILE']);
  });

  it.each(own)('%s can write nowhere but where it must, and has no rights to gain', (_, one) => {
    expect(one).toMatchObject({
      init: true,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(one.user).toMatch(/^(999:999|1000:1000)$/);
    expect(one.cap_add).toBeUndefined();
    expect(one.ports).toBeUndefined();
  });

  it('starts nothing by itself but the schedule', () => {
    for (const [name, { profiles, restart }] of own) {
      const expected = name === 'backups' ? [undefined, 'unless-stopped'] : [['drill'], 'no'];
      expect([name, profiles, restart]).toEqual([name, ...expected]);
    }
  });

  it('mounts volumes that there are', () => {
    const volumes = { ...base.volumes, ...file.volumes };
    for (const one of Object.values(file.services))
      for (const { from } of Object.values(mounts(one)))
        if (from !== '')
          expect(Object.keys(volumes)).toContain(/^\$\{\w+:-(.+)\}$/.exec(from)?.[1] ?? from);
  });

  it('lets the node exporter read what it read before, and what the schedule notes', () => {
    const { command = [] } = service('node-exporter');
    expect(command).toEqual(
      expect.arrayContaining([...(base.services['node-exporter']?.command ?? [])]),
    );
    const folder = Object.entries(mounts(service('backups'))).find(
      ([, { from }]) => from === 'backup-textfiles',
    )?.[0];
    expect(command).toContain(`--collector.textfile.directory=${String(folder)}`);
    expect(textOf('deploy/pgbackrest/backups.sh')).toContain(`TEXTFILES:=${String(folder)}}`);
  });

  it('runs scripts that its image has, and that are Bash', () => {
    const scripts = globSync('deploy/pgbackrest/*.{sh,bash}', { cwd: ROOT });
    expect(scripts.length).toBeGreaterThan(4);
    const told = textOf('docker-compose.backup.yml') + textOf('deploy/pgbackrest/operate.bash');
    const named = [...told.matchAll(/(?:\/usr\/local\/lib\/lowmark|\$scripts)\/(\w+\.sh)/g)];
    expect(named.length).toBeGreaterThan(3);
    for (const [, name] of named)
      expect(existsSync(new URL(`deploy/pgbackrest/${name ?? ''}`, ROOT))).toBe(true);
    expect(textOf('deploy/pgbackrest/Dockerfile')).toContain(`COPY *.sh *.sql ${IMAGE}\n`);
    for (const script of [...scripts, 'lowmark'])
      expect(spawnSync('bash', ['-n', script], { cwd: ROOT }).status).toBe(0);
  });

  it('keeps backups for as long as the page says', () => {
    expect(page).toContain(`any moment of the last ${daysKept()} days`);
  });

  it('has every variable of its own explained, with its default', () => {
    const known = textOf('docs/operating/compose.md');
    const variables = textOf('docker-compose.backup.yml').matchAll(/(?<!\$)\$\{(\w+):-([^}]*)\}/g);
    let count = 0;
    for (const [, name = '', value = ''] of variables) {
      if (known.includes(`\`${name}\``) || name === 'DRILL_TO') continue;
      count++;
      expect(page).toContain(`\`${name}\``);
      if (/^\d+$/.test(value)) expect(page).toMatch(new RegExp(`\`${name}\` +\\| ${value} `));
    }
    expect(count).toBeGreaterThan(5);
  });
});

interface Plugin {
  readonly name: string;
  readonly isWALArchiver?: boolean;
  readonly parameters: { readonly barmanObjectName: string; readonly serverName?: string };
}

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
}

interface ObjectStore extends Named {
  readonly spec: {
    readonly retentionPolicy: string;
    readonly configuration: {
      readonly s3Credentials: Readonly<
        Record<string, { readonly [part in 'name' | 'key']: string }>
      >;
    };
  };
}

interface ScheduledBackup extends Named {
  readonly spec: {
    readonly schedule: string;
    readonly method: string;
    readonly cluster: { readonly name: string };
    readonly pluginConfiguration: { readonly name: string };
  };
}

interface Cluster extends Named {
  readonly spec: {
    readonly bootstrap: {
      readonly recovery: {
        readonly source: string;
        readonly recoveryTarget: { readonly targetTime: string };
      };
    };
    readonly externalClusters: readonly { readonly name: string; readonly plugin: Plugin }[];
    readonly plugins: readonly Plugin[];
  };
}

const CLOUD_NATIVE = 'deploy/kubernetes/postgres/';
const PLUGIN = 'barman-cloud.cloudnative-pg.io';
const [store, schedule] = loadAll(textOf(`${CLOUD_NATIVE}backups.yaml`)) as [
  ObjectStore,
  ScheduledBackup,
];
const [cluster] = loadAll(textOf(`${CLOUD_NATIVE}restore.yaml`)) as [Cluster];

describe('the backups of CloudNativePG', () => {
  it('are where everything else is', () => {
    const kinds = [store, schedule, cluster].map(({ kind }) => kind);
    expect(kinds).toEqual(['ObjectStore', 'ScheduledBackup', 'Cluster']);
    for (const { metadata } of [store, schedule, cluster])
      expect(metadata.namespace).toBe('lowmark');
  });

  it('are made each day, by a schedule that begins with seconds, into the store', () => {
    expect(schedule.spec.schedule).toMatch(/^0 \d+ \d+ \* \* \*$/);
    expect(schedule.spec.method).toBe('plugin');
    expect(schedule.spec.pluginConfiguration.name).toBe(PLUGIN);
    const lines = textOf(`${CLOUD_NATIVE}backups.yaml`);
    expect(lines).toContain(`barmanObjectName: ${store.metadata.name} }`);
    expect(lines).toContain('isWALArchiver: true');
  });

  it('are kept as long as those of compose', () => {
    expect(store.spec.retentionPolicy).toBe(`${daysKept()}d`);
  });

  it('need a secret that the page has made', () => {
    for (const { name, key } of Object.values(store.spec.configuration.s3Credentials)) {
      expect(page).toContain(`\`${name}\``);
      expect(page).toContain(`\`${key}\``);
    }
  });

  it('are restored from the server that made them, into one that archives under another name', () => {
    const { bootstrap, externalClusters, plugins } = cluster.spec;
    const source = externalClusters.find(({ name }) => name === bootstrap.recovery.source);
    expect(source?.plugin).toEqual({
      name: PLUGIN,
      parameters: { barmanObjectName: store.metadata.name, serverName: schedule.spec.cluster.name },
    });
    expect(cluster.metadata.name).not.toBe(schedule.spec.cluster.name);
    expect(plugins).toEqual([
      {
        name: PLUGIN,
        isWALArchiver: true,
        parameters: { barmanObjectName: store.metadata.name },
      },
    ]);
    expect(bootstrap.recovery.recoveryTarget.targetTime).toMatch(/\+00$/);
    expect(page).toContain(`\`${cluster.metadata.name}-rw\``);
  });
});
