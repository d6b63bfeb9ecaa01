/** Tests that the objects of deploy/kubernetes/postgres refer to each other by the right names. */
import { describe, expect, it } from '@jest/globals';
import { loadAll } from 'js-yaml';
import { textOf } from './compose-file.js';

interface Plugin {
  readonly name: string;
  readonly isWALArchiver?: boolean;
  readonly parameters: { readonly barmanObjectName: string; readonly serverName?: string };
}

interface ObjectStore {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly retentionPolicy: string;
    readonly configuration: {
      readonly s3Credentials: Readonly<
        Record<string, { readonly name: string; readonly key: string }>
      >;
    };
  };
}

interface ScheduledBackup {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly schedule: string;
    readonly method: string;
    readonly cluster: { readonly name: string };
    readonly pluginConfiguration: { readonly name: string };
  };
}

interface Cluster {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: {
    readonly bootstrap: {
      readonly recovery: {
        readonly source: string;
        readonly database: string;
        readonly recoveryTarget: { readonly targetTime: string };
      };
    };
    readonly externalClusters: readonly { readonly name: string; readonly plugin: Plugin }[];
    readonly plugins: readonly Plugin[];
  };
}

const FOLDER = 'deploy/kubernetes/postgres/';
const PLUGIN = 'barman-cloud.cloudnative-pg.io';
const [store, schedule] = loadAll(textOf(`${FOLDER}backups.yaml`)) as [
  ObjectStore,
  ScheduledBackup,
];
const [cluster] = loadAll(textOf(`${FOLDER}restore.yaml`)) as [Cluster];
const page = textOf('docs/operating/backup.md');

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
    const lines = textOf(`${FOLDER}backups.yaml`);
    expect(lines).toContain(`barmanObjectName: ${store.metadata.name} }`);
    expect(lines).toContain('isWALArchiver: true');
  });

  it('are kept as long as those of compose', () => {
    const script = textOf('deploy/pgbackrest/backups.sh');
    const days = /--repo1-retention-full=(\d+)$/m.exec(script)?.[1] ?? '';
    expect(store.spec.retentionPolicy).toBe(`${days}d`);
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
