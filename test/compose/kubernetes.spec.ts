/** Tests the manifests of deploy/kubernetes, and its components: a further staking contract, and PgBouncer. */
import { existsSync, globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { load, loadAll } from 'js-yaml';
import ts from 'typescript';
import { ROOT, settingsOfProgram, textOf, variablesOf } from './compose-file.js';
import {
  type Container,
  FOLDER,
  kustomizationOf,
  type Manifest,
  manifestsOf,
  programOf,
  shown,
  toldIn,
  workloadsOf,
} from './kubernetes.js';

const kustomization = kustomizationOf(FOLDER);
const manifests = manifestsOf(FOLDER);
const workloads = workloadsOf(manifests);
const told = toldIn(`${FOLDER}settings.env`);

function serviceOf(name: string): Manifest | undefined {
  return manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name);
}

function toldOf(variable: string): string | undefined {
  return new RegExp(`^${variable}=(.*)$`, 'm').exec(textOf(`${FOLDER}settings.env`))?.[1];
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

describe('the Kubernetes manifests', () => {
  it.each(workloads)('let $name see its own secrets and no other', ({ name, template }) => {
    const mounted = template.spec.volumes.flatMap(({ secret }) =>
      secret === undefined ? [] : [shown(secret)],
    );
    expect(mounted).toEqual(SECRETS_OF[name]);
  });

  it('are all put together', () => {
    const files = globSync('*.yaml', { cwd: new URL(FOLDER, ROOT) });
    expect([...(kustomization.resources ?? []), 'kustomization.yaml'].sort()).toEqual(files.sort());
    expect(workloads.map(({ name }) => name).sort()).toEqual(Object.keys(SECRETS_OF).sort());
  });

  it.each(workloads)(
    '$name runs a program that exists, and is told what it needs by names it reads',
    async ({ name, container }) => {
      expect(container.image).toBe('lowmark');
      expect(existsSync(new URL(programOf(container), ROOT))).toBe(true);
      const { known, needed } = await variablesOf(programOf(container));
      const given = container.env.map((one) => one.name);
      expect(known).toEqual(expect.arrayContaining(given));
      const all = [...told, ...given.map((variable) => variable.replace(/_FILE$/, ''))];
      // The commands state themselves which further settings they need.
      const isCommand = ['migrate', 'cli'].includes(name);
      const expected = isCommand ? ['DATABASE_URL'] : needed;
      expect(all).toEqual(expect.arrayContaining([...expected]));
    },
  );

  it('share only settings that one of them reads', async () => {
    const read = await Promise.all(
      workloads.map(({ container }) => variablesOf(programOf(container))),
    );
    expect(read.flatMap(({ known }) => known)).toEqual(expect.arrayContaining(told));
  });

  it.each(workloads)('$name reads its secrets from what is mounted', ({ template, container }) => {
    const volumes = template.spec.volumes.map(({ name }) => name);
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumes);
    for (const { name, value } of container.env) {
      if (['MANAGEMENT_PORT', 'REPLICAS'].includes(name)) continue;
      expect(container.volumeMounts.some(({ mountPath }) => value.startsWith(mountPath))).toBe(
        true,
      );
    }
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  it.each(['api', 'redemption'])('lets %s know how many replicas share its limits', (name) => {
    const { replicas } =
      manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name)
        ?.spec ?? {};
    const { container } = workloads.find((one) => one.name === name) ?? {};
    const told = container?.env.find((one) => one.name === 'REPLICAS');
    expect(told?.value).toBe(String(replicas));
  });

  it('listen where they are looked for', async () => {
    for (const { name, template, container } of workloads) {
      if (name === 'migrate' || name === 'cli') continue;
      const settings = await settingsOfProgram(programOf(container));
      const port = settings.find(({ variable }) => variable.endsWith('_PORT'))?.default;
      expect(String(container.ports?.[0]?.containerPort)).toBe(port);
      const management = container.env.find((one) => one.name === 'MANAGEMENT_PORT')?.value;
      expect(template.metadata.annotations?.['prometheus.io/port']).toBe(management ?? port);
      expect(JSON.stringify(container.readinessProbe)).toContain(
        management === undefined ? '"http"' : '"management"',
      );
      expect(container.ports?.map(({ containerPort }) => String(containerPort))).toEqual(
        [port, management].filter((one) => one !== undefined),
      );
      const service = serviceOf(name);
      if (service) expect(String(service.spec.ports?.[0]?.port)).toBe(port);
      expect(container.readinessProbe).toBeDefined();
    }
  });

  it('are asked where a Service listens', () => {
    const asked = told.filter((name) => /^(API|INDEXER|REDEMPTION)_URL$/.test(name));
    expect(asked).toHaveLength(3);
    for (const name of asked) {
      const { hostname, port } = new URL(toldOf(name) ?? '');
      const ports = serviceOf(hostname)?.spec.ports?.map((one) => String(one.port));
      expect({ name, ports }).toEqual({ name, ports: expect.arrayContaining([port]) });
    }
  });

  it('are asked for their health at the management port of the console', () => {
    const pages = workloads.find(({ name }) => name === 'console')?.container.env ?? [];
    const port = Number(pages.find(({ name }) => name === 'MANAGEMENT_PORT')?.value);
    for (const name of ['api', 'redemption']) {
      expect(serviceOf(name)?.spec.ports).toContainEqual({
        ...{ name: 'management', port, targetPort: 'management' },
      });
    }
  });
});

interface Added {
  readonly op: string;
  readonly path: string;
  readonly value: Container['env'][number];
}

const offered = /^#components: \[(.*)\]$/m.exec(textOf(`${FOLDER}kustomization.yaml`))?.[1] ?? '';

/** The variables that a component adds to the environment of each workload of the base. */
function addedBy(component: string): Map<string, Added['value'][]> {
  const { patches = [] } = kustomizationOf(`${FOLDER}${component}/`);
  const added = new Map<string, Added['value'][]>();
  for (const { target, patch } of patches) {
    const names = workloads.filter(({ name }) => new RegExp(`^(?:${target.name})$`).test(name));
    // Each name in the pattern is an existing workload.
    expect(names).toHaveLength(target.name.split('|').length);
    for (const { op, path, value } of load(patch) as Added[]) {
      expect({ op, path }).toEqual({
        op: 'add',
        path: '/spec/template/spec/containers/0/env/-',
      });
      for (const { name } of names) added.set(name, [...(added.get(name) ?? []), value]);
    }
  }
  return added;
}

describe('the components', () => {
  it('are named where they are turned on, and there', () => {
    expect(offered.split(', ')).toEqual(['several-contracts', 'pooling']);
    for (const name of offered.split(', ')) {
      expect(existsSync(new URL(`${FOLDER}${name}/kustomization.yaml`, ROOT))).toBe(true);
      expect(textOf(`${FOLDER}README.md`)).toContain(`\`${name}\``);
      expect(textOf(`${FOLDER}${name}/kustomization.yaml`)).toContain('kind: Component\n');
    }
  });

  it.each(['several-contracts', 'pooling'])('%s adds what is read, by its name', async (name) => {
    for (const [workload, values] of addedBy(name)) {
      const { container } = workloads.find((found) => found.name === workload) ?? {};
      if (container === undefined) throw new Error(`there is no ${workload}`);
      const names = values.map((value) => value.name);
      const { known } = await variablesOf(programOf(container));
      expect(known).toEqual(expect.arrayContaining(names));
      // The component adds only variables that the base does not have.
      expect(container.env.filter((given) => names.includes(given.name))).toEqual([]);
    }
  });
});

describe('a further contract', () => {
  const folder = `${FOLDER}several-contracts/`;
  const golfTold = toldIn(`${folder}golf.env`);
  const [manifest] = manifestsOf(folder);
  const [golf] = workloadsOf(manifestsOf(folder));
  const indexer = workloads.find(({ name }) => name === 'indexer');

  it('has an indexer as the first one, but for its name and its settings', () => {
    const text = (path: string): string => textOf(path).split('\n').slice(1).join('\n');
    // The Service is only for the overview, which asks the first indexer.
    const [workload = ''] = text(`${FOLDER}indexer.yaml`).split(/^---\n/m);
    const renamed = workload
      .replaceAll(/\bname: indexer\b/g, 'name: indexer-golf')
      .replace('configMapRef: { name: settings }', 'configMapRef: { name: settings-golf }');
    expect(text(`${folder}indexer-golf.yaml`)).toBe(renamed);
    expect(
      golf?.template.spec.volumes.flatMap(({ secret }) => (secret ? [shown(secret)] : [])),
    ).toEqual(['lowmark-database-indexer']);
  });

  it('is told what it needs by its own settings, and nothing of the first one’s', async () => {
    expect(golf?.container.envFrom).toEqual([{ configMapRef: { name: 'settings-golf' } }]);
    expect(kustomizationOf(folder).configMapGenerator).toMatchObject([
      { name: 'settings-golf', envs: ['golf.env'] },
    ]);
    if (golf === undefined) throw new Error('there is no indexer');
    const { known, needed } = await variablesOf(programOf(golf.container));
    expect(known).toEqual(expect.arrayContaining(golfTold));
    expect([...golfTold, 'DATABASE_URL']).toEqual(expect.arrayContaining([...needed]));
  });

  it('is not taken for the first one: pods are chosen by another name', () => {
    const labels = golf?.template.metadata.labels;
    expect(manifest?.spec.selector?.matchLabels).toEqual({
      'app.kubernetes.io/name': 'indexer-golf',
    });
    expect(labels).toMatchObject(manifest?.spec.selector?.matchLabels ?? {});
    expect(labels).not.toMatchObject(indexer?.template.metadata.labels ?? {});
  });

  it('has its tables made: migrate is told of the set that its indexer names', () => {
    const [, set] = /^STAKE_SET=(.*)$/m.exec(textOf(`${folder}golf.env`)) ?? [];
    expect(addedBy('several-contracts')).toEqual(
      new Map([['migrate', [{ name: 'STAKE_SETS', value: set }]]]),
    );
  });
});

describe('PgBouncer', () => {
  const added = addedBy('pooling');
  const DIRECT = 'DATABASE_DIRECT_URL_FILE';

  it('stands before the programs that go through it, each with a way around it', () => {
    const direct = [...added].filter(([, values]) => values.some(({ name }) => name === DIRECT));
    expect(direct.map(([name]) => name).sort()).toEqual([
      'api',
      'console',
      'migrate',
      'redemption',
    ]);
    for (const [name, values] of direct) {
      const file = values.find((one) => one.name === DIRECT)?.value ?? '';
      const workload = workloads.find((one) => one.name === name);
      const mounts = workload?.container.volumeMounts ?? [];
      const volume = mounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`))?.name;
      expect(volume).toBe('database');
    }
  });
});

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/** API groups of Kubernetes itself. Others are of its extensions. */
const OWN_GROUPS = /^(?:v1|(?:apps|batch|policy)\/v1)$/;

const objects = globSync(`${FOLDER}**/*.yaml`, { cwd: ROOT })
  .flatMap((path) => loadAll(textOf(path)) as KubernetesObject[])
  .filter(({ apiVersion }) => OWN_GROUPS.test(apiVersion));

/**
 * The differences between the objects and Kubernetes' own schemas: the compiler compares them with the types that
 * kubernetes-types makes of these. It refuses unknown fields too, as the server does.
 */
function faultsOf(all: readonly KubernetesObject[]): string[] {
  const lines = all.map((one, at) => {
    const group = one.apiVersion === 'v1' ? 'core/v1' : one.apiVersion;
    return `const o${at}: import('kubernetes-types/${group}').${one.kind} = ${JSON.stringify(one)};`;
  });
  const path = fileURLToPath(new URL('test/compose/manifests.ts', ROOT));
  const options = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  const source = ts.createSourceFile(path, lines.join('\n'), ts.ScriptTarget.ESNext);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => (name === path ? source : read(name, ...rest));
  const program = ts.createProgram([path], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the objects', () => {
  it('are as the schemas of Kubernetes say', () => {
    expect(new Set(objects.map(({ kind }) => kind))).toEqual(
      new Set(['Deployment', 'Job', 'Service', 'PodDisruptionBudget']),
    );
    expect(faultsOf(objects)).toEqual([]);
  });
});
