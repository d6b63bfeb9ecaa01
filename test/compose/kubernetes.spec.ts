import { existsSync, globSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ROOT, settingsOfProgram, textOf } from './compose-file.js';
import {
  FOLDER,
  kustomizationOf,
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
        // The commands state themselves which further settings they need.
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
      const service = manifests.find(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === name,
      );
      if (service) expect(String(service.spec.ports?.[0]?.port)).toBe(port);
      expect(container.readinessProbe).toBeDefined();
    }
  });

  it('are asked where a Service listens', () => {
    const asked = told.filter((name) => /^(API|INDEXER|REDEMPTION)_URL$/.test(name));
    expect(asked).toHaveLength(3);
    for (const name of asked) {
      const { hostname, port } = new URL(toldOf(name) ?? '');
      const service = manifests.find(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === hostname,
      );
      const ports = service?.spec.ports?.map((one) => String(one.port));
      expect({ name, ports }).toEqual({ name, ports: expect.arrayContaining([port]) });
    }
  });

  it('are asked for their health at the management port of the console', () => {
    const pages = workloads.find(({ name }) => name === 'console')?.container.env ?? [];
    const port = Number(pages.find(({ name }) => name === 'MANAGEMENT_PORT')?.value);
    for (const name of ['api', 'redemption']) {
      const service = manifests.find(
        ({ kind, metadata }) => kind === 'Service' && metadata.name === name,
      );
      expect(service?.spec.ports).toContainEqual({
        ...{ name: 'management', port, targetPort: 'management' },
      });
    }
  });
});
