/** Tests that the files of deploy/ha agree with each other, and that both ways to run it have the same settings. */
import { globSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type ComposeFile, ROOT, textOf, yamlOf } from './compose-file.js';

interface Patroni {
  readonly scope: string;
  readonly bootstrap: {
    readonly dcs: Readonly<Record<string, unknown>> & {
      readonly ttl: number;
      readonly loop_wait: number;
      readonly retry_timeout: number;
      readonly postgresql: { readonly parameters: Readonly<Record<string, unknown>> };
    };
  };
  readonly restapi: { readonly listen: string };
  readonly etcd: { readonly hosts: readonly string[] };
  readonly postgresql: { readonly listen: string; readonly bin_dir: string };
}

interface Cluster {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly instances: number;
    readonly bootstrap: { readonly initdb: { readonly database: string; readonly owner: string } };
    readonly managed: { readonly roles: readonly object[] };
    readonly affinity: { readonly podAntiAffinityType: string };
    readonly postgresql: {
      readonly synchronous: object;
      readonly parameters: Readonly<Record<string, string>>;
    };
  };
}

interface PoolerManifest {
  readonly spec: {
    readonly cluster: { readonly name: string };
    readonly type: string;
    readonly pgbouncer: {
      readonly poolMode: string;
      readonly parameters: Readonly<Record<string, string>>;
    };
  };
}

const FOLDER = 'deploy/ha/';
const patroni = yamlOf(`${FOLDER}patroni.yml`) as Patroni;
const compose = yamlOf(`${FOLDER}compose.yml`) as ComposeFile & {
  readonly secrets: Readonly<Record<string, unknown>>;
};
const cluster = yamlOf(`${FOLDER}kubernetes/cluster.yaml`) as Cluster;
const pooler = yamlOf(`${FOLDER}kubernetes/pooler.yaml`) as PoolerManifest;
const haproxy = textOf(`${FOLDER}haproxy.cfg`);
const start = textOf(`${FOLDER}start.sh`);
const { dcs } = patroni.bootstrap;
const nodes = Object.entries(compose.services).filter(([, { command }]) =>
  command?.includes('patroni'),
);

/** The settings of pgbouncer.ini by name. */
function iniSettings(): Map<string, string> {
  const lines = textOf(`${FOLDER}pgbouncer.ini`).matchAll(/^(\w+) =[^\S\n]*(.*)$/gm);
  return new Map([...lines].map(([, name = '', value = '']) => [name, value]));
}

describe('the nodes of deploy/ha', () => {
  it('acknowledge no commit before a second node has it', () => {
    expect(dcs).toMatchObject({
      synchronous_mode: true,
      synchronous_mode_strict: true,
      synchronous_node_count: 1,
    });
    expect(dcs.postgresql.parameters).toMatchObject({ synchronous_commit: 'on' });
  });

  it('have timings that Patroni asks for', () => {
    expect(dcs.ttl).toBeGreaterThanOrEqual(20);
    expect(dcs.ttl).toBeGreaterThanOrEqual(dcs.loop_wait + 2 * dcs.retry_timeout);
  });

  it('find each other, and etcd with version 2 of its API', () => {
    expect(nodes.map(([name]) => name)).toEqual(['node1', 'node2', 'node3']);
    for (const [name, { environment }] of nodes) {
      expect(environment).toEqual({
        PATRONI_NAME: name,
        PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${name}:5432`,
        PATRONI_RESTAPI_CONNECT_ADDRESS: `${name}:8008`,
      });
    }
    const etcd = Object.entries(compose.services).filter(([, one]) =>
      one.command?.includes('etcd'),
    );
    expect(etcd.map(([name]) => `${name}:2379`)).toEqual(patroni.etcd.hosts);
    for (const [name, { environment }] of etcd) expect(environment?.['ETCD_NAME']).toBe(name);
    expect(start).toContain('--enable-v2');
    expect(patroni).not.toHaveProperty('etcd3');
  });

  it('are asked by HAProxy where they listen', () => {
    expect(patroni.restapi.listen).toBe('0.0.0.0:8008');
    expect(patroni.postgresql.listen).toBe('0.0.0.0:5432');
    for (const [place, [name]] of nodes.entries()) {
      expect(haproxy).toContain(`presetenv NODE${place + 1} ${name}:5432\n`);
      expect(haproxy).toContain(`presetenv CHECK${place + 1} 8008\n`);
    }
  });
});

describe('the image of deploy/ha', () => {
  const dockerfile = textOf(`${FOLDER}Dockerfile`);

  it('holds every program and file that is started', () => {
    for (const name of ['patroni', 'etcd-server', 'haproxy', 'pgbouncer', 'python3-etcd']) {
      expect(dockerfile).toMatch(new RegExp(`install .*\\b${name}\\b`));
    }
    const major = /postgresql-(\d+)/.exec(dockerfile)?.[1] ?? '';
    expect(patroni.postgresql.bin_dir).toBe(`/usr/lib/postgresql/${major}/bin`);
    const files = globSync('*.{sh,ini,cfg}', { cwd: new URL(FOLDER, ROOT) });
    expect(files.length).toBe(4);
    for (const file of [...files, 'patroni.yml']) expect(dockerfile).toContain(file);
  });

  it('starts what compose names', () => {
    for (const { command } of Object.values(compose.services)) {
      expect(start).toMatch(new RegExp(`^  ${command?.[0] ?? 'no command'}\\)$`, 'm'));
    }
  });

  it('reads passwords that compose has', () => {
    const read = [...start.matchAll(/secret (\w+)\)/g)].map(([, name]) => name);
    expect([...new Set(read)].sort()).toEqual(Object.keys(compose.secrets).sort());
  });
});

describe('compose and Kubernetes', () => {
  it('replicate in the same way', () => {
    expect(cluster.spec.instances).toBe(nodes.length);
    expect(cluster.spec.affinity.podAntiAffinityType).toBe('required');
    expect(cluster.spec.postgresql.synchronous).toEqual({
      method: 'any',
      number: dcs['synchronous_node_count'],
      dataDurability: 'required',
    });
  });

  it('set the same parameters, but for those that the operator sets', () => {
    const operators = [
      ...['wal_level', 'wal_log_hints', 'hot_standby', 'max_wal_senders'],
      'max_replication_slots',
    ];
    const shared = Object.entries(dcs.postgresql.parameters)
      .filter(([name]) => !operators.includes(name))
      .map(([name, value]) => [name, String(value)]);
    expect(cluster.spec.postgresql.parameters).toEqual(Object.fromEntries(shared));
  });

  it('make the same database, whose owner makes the programs’ users', () => {
    const script = textOf(`${FOLDER}create-database.sh`);
    const { database, owner } = cluster.spec.bootstrap.initdb;
    expect(script).toContain(`CREATE ROLE ${owner} LOGIN CREATEROLE`);
    expect(script).toContain(`CREATE DATABASE ${database} OWNER ${owner};`);
    expect(cluster.spec.managed.roles).toEqual([
      expect.objectContaining({ name: owner, login: true, createrole: true }),
    ]);
  });

  it('pool connections in the same way', () => {
    const ini = iniSettings();
    const { cluster: of, type, pgbouncer } = pooler.spec;
    expect(of.name).toBe(cluster.metadata.name);
    expect(type).toBe('rw');
    expect(pgbouncer.poolMode).toBe(ini.get('pool_mode'));
    for (const [name, value] of Object.entries(pgbouncer.parameters)) {
      expect(`${name} ${ini.get(name) ?? ''}`).toBe(`${name} ${value}`);
    }
  });
});
