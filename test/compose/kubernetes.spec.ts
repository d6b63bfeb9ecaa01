import { existsSync, globSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { loadAll } from 'js-yaml';
import { ROOT, settingsOfProgram, textOf, yamlOf } from './compose-file.js';

interface SecretVolume {
  readonly secretName: string;
  readonly items?: readonly { readonly key: string }[];
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly readinessProbe?: unknown;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly template?: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly volumes: readonly {
          readonly name: string;
          readonly secret?: SecretVolume;
        }[];
      };
    };
    readonly ports?: readonly { readonly port: number }[];
  };
}

const FOLDER = 'deploy/kubernetes/';

const kustomization = yamlOf(`${FOLDER}kustomization.yaml`) as {
  readonly resources: readonly string[];
};
const manifests = kustomization.resources.flatMap(
  (path) => loadAll(textOf(FOLDER + path)) as Manifest[],
);
const workloads = manifests.flatMap(({ metadata: { name }, spec: { template } }) => {
  const container = template?.spec.containers[0];
  return template && container ? [{ name, template, container }] : [];
});
const told = textOf(`${FOLDER}settings.env`)
  .split('\n')
  .map((line) => line.split('=')[0] ?? '')
  .filter((name) => name !== '' && !name.startsWith('#'));

function toldOf(variable: string): string | undefined {
  return new RegExp(`^${variable}=(.*)$`, 'm').exec(textOf(`${FOLDER}settings.env`))?.[1];
}

/** The commands are run by hand where nothing runs by itself. */
function programOf({ name, command }: Container): string {
  const program = name === 'cli' ? 'dist/apps/cli/src/main.js' : (command[1] ?? '');
  return program.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}

const SECRETS_OF: Readonly<Record<string, readonly string[]>> = {
  api: ['lowmark-database-api', 'lowmark-partners', 'lowmark-api'],
  cli: ['lowmark-database-cli', 'lowmark-partners', 'lowmark-api: redis_url'],
  console: ['lowmark-database-console', 'lowmark-partners'],
  indexer: ['lowmark-database-indexer'],
  migrate: ['lowmark-database-owner'],
  redemption: [
    'lowmark-database-redemption',
    'lowmark-partners',
    'lowmark-evidence',
    'lowmark-signer',
    'lowmark-api: redis_url',
  ],
};

/** A secret by its name, with the keys where not all of them are mounted. */
function shown({ secretName, items }: SecretVolume): string {
  return items === undefined
    ? secretName
    : `${secretName}: ${items.map(({ key }) => key).join(', ')}`;
}

describe('the Kubernetes manifests', () => {
  it.each(workloads)('let $name see its own secrets and no other', ({ name, template }) => {
    const mounted = template.spec.volumes.flatMap(({ secret }) =>
      secret === undefined ? [] : [shown(secret)],
    );
    expect(mounted).toEqual(SECRETS_OF[name]);
  });

  it('are all put together', () => {
    const files = globSync('*.yaml', { cwd: new URL(FOLDER, ROOT) });
    expect([...kustomization.resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
    expect(workloads.map(({ name }) => name).sort()).toEqual([
      'api',
      'cli',
      'console',
      'indexer',
      'migrate',
      'redemption',
    ]);
  });

  it.each(workloads)('$name runs a program that exists', ({ container }) => {
    expect(container.image).toBe('lowmark');
    expect(existsSync(new URL(programOf(container), ROOT))).toBe(true);
  });

  it.each(workloads)(
    '$name is told what it needs, by names it reads',
    async ({ name, container }) => {
      const settings = await settingsOfProgram(programOf(container));
      const known = settings.flatMap(({ variable, secret }) =>
        secret === true ? [variable, `${variable}_FILE`] : [variable],
      );
      const given = container.env.map((one) => one.name);
      expect(known).toEqual(expect.arrayContaining(given));
      const needed = settings
        .filter((one) => one.default === undefined && one.optional !== true)
        .map(({ variable }) => variable)
        // What only some commands need, each says itself.
        .filter((variable) => !['migrate', 'cli'].includes(name) || variable === 'DATABASE_URL');
      const all = [...told, ...given.map((variable) => variable.replace(/_FILE$/, ''))];
      expect(all).toEqual(expect.arrayContaining(needed));
    },
  );

  it('share only settings that one of them reads', async () => {
    const settings = await Promise.all(
      workloads.map(({ container }) => settingsOfProgram(programOf(container))),
    );
    const read = settings.flat().map(({ variable }) => variable);
    expect(read).toEqual(expect.arrayContaining(told));
  });

  it.each(workloads)('$name reads its secrets from what is mounted', ({ template, container }) => {
    const volumes = template.spec.volumes.map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
    for (const { value } of container.env) {
      expect(container.volumeMounts.some(({ mountPath }) => value.startsWith(mountPath))).toBe(
        true,
      );
    }
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  it('listen where they are looked for', async () => {
    for (const { name, template, container } of workloads) {
      if (name === 'migrate' || name === 'cli') continue;
      const settings = await settingsOfProgram(programOf(container));
      const port = settings.find(({ variable }) => variable.endsWith('_PORT'))?.default;
      expect(String(container.ports?.[0]?.containerPort)).toBe(port);
      const management = toldOf(`${name.toUpperCase()}_MANAGEMENT_PORT`);
      expect(template.metadata.annotations?.['prometheus.io/port']).toBe(management ?? port);
      expect(JSON.stringify(container.readinessProbe)).toContain(
        management === undefined ? '"http"' : '"management"',
      );
      expect(container.ports?.map(({ containerPort }) => String(containerPort))).toEqual(
        [port, management].filter((one) => one !== undefined),
      );
      const service = manifests.find(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === name,
      );
      if (service) expect(String(service.spec.ports?.[0]?.port)).toBe(port);
      expect(container.readinessProbe).toBeDefined();
    }
  });

  it('are asked where a Service listens', () => {
    const asked = told.filter((name) => /^(API|INDEXER|REDEMPTION)(_HEALTH)?_URL$/.test(name));
    expect(asked).toHaveLength(5);
    for (const name of asked) {
      const { hostname, port } = new URL(toldOf(name) ?? '');
      const service = manifests.find(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === hostname,
      );
      const ports = service?.spec.ports?.map((one) => String(one.port));
      expect({ name, ports }).toEqual({ name, ports: expect.arrayContaining([port]) });
    }
  });
});
