/** Tests the optional components of deploy/kubernetes: a further staking contract, and PgBouncer. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { load } from 'js-yaml';
import { ROOT, settingsOfProgram, textOf } from './compose-file.js';
import {
  type Container,
  FOLDER,
  kustomizationOf,
  manifestsOf,
  programOf,
  shown,
  toldIn,
  type Workload,
  workloadsOf,
} from './kubernetes.js';

interface Added {
  readonly op: string;
  readonly path: string;
  readonly value: Container['env'][number];
}

const base = workloadsOf(manifestsOf(FOLDER));
const offered = /^#components: \[(.*)\]$/m.exec(textOf(`${FOLDER}kustomization.yaml`))?.[1] ?? '';

/** The variables that a component adds to the environment of each workload of the base. */
function addedBy(component: string): Map<string, Added['value'][]> {
  const { patches = [] } = kustomizationOf(`${FOLDER}${component}/`);
  const added = new Map<string, Added['value'][]>();
  for (const { target, patch } of patches) {
    const names = base.filter(({ name }) => new RegExp(`^(?:${target.name})$`).test(name));
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

/** Variables that the program does not read, neither directly nor as the path of a file. */
async function unknownTo({ container }: Workload, names: readonly string[]): Promise<string[]> {
  const settings = await settingsOfProgram(programOf(container));
  const known = settings.flatMap(({ variable, secret }) =>
    secret === true ? [variable, `${variable}_FILE`] : [variable],
  );
  return names.filter((name) => !known.includes(name));
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
      const one = base.find((found) => found.name === workload);
      expect(one).toBeDefined();
      if (one === undefined) continue;
      const names = values.map((value) => value.name);
      expect(await unknownTo(one, names)).toEqual([]);
      // The component adds only variables that the base does not have.
      expect(one.container.env.filter((given) => names.includes(given.name))).toEqual([]);
    }
  });
});

describe('a further contract', () => {
  const folder = `${FOLDER}several-contracts/`;
  const told = toldIn(`${folder}golf.env`);
  const manifests = manifestsOf(folder);
  const [golf] = workloadsOf(manifests);
  const indexer = base.find(({ name }) => name === 'indexer');

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
    if (golf === undefined) return;
    expect(await unknownTo(golf, told)).toEqual([]);
    const settings = await settingsOfProgram(programOf(golf.container));
    const needed = settings
      .filter((one) => one.default === undefined && one.optional !== true)
      .map(({ variable }) => variable);
    expect([...told, 'DATABASE_URL']).toEqual(expect.arrayContaining(needed));
  });

  it('is not taken for the first one: pods are chosen by another name', () => {
    const [manifest] = manifests;
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
      const workload = base.find((one) => one.name === name);
      const mounts = workload?.container.volumeMounts ?? [];
      const volume = mounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`))?.name;
      expect(volume).toBe('database');
    }
  });
});
