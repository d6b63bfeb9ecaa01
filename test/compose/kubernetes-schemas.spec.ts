/**
 * Tests the manifests of deploy/kubernetes against Kubernetes' own schemas: the compiler compares them with the types
 * that kubernetes-types makes of these. It refuses unknown fields too, as the server does.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { loadAll } from 'js-yaml';
import ts from 'typescript';
import { ROOT, textOf } from './compose-file.js';
import { FOLDER } from './kubernetes.js';

interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
}

/** API groups of Kubernetes itself. Others are of its extensions. */
const OWN_GROUPS = /^(?:v1|(?:apps|batch|policy)\/v1)$/;

const objects = globSync(`${FOLDER}**/*.yaml`, { cwd: ROOT })
  .flatMap((path) => loadAll(textOf(path)) as KubernetesObject[])
  .filter(({ apiVersion }) => OWN_GROUPS.test(apiVersion));

/** The differences between the objects and their schemas. */
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

it('are as the schemas say', () => {
  expect(new Set(objects.map(({ kind }) => kind))).toEqual(
    new Set(['Deployment', 'Job', 'Service', 'PodDisruptionBudget']),
  );
  expect(faultsOf(objects)).toEqual([]);
});

it.each([
  ['a field that is misspelled', { minAvailabel: 1 }, /minAvailabel.* does not exist/],
  ['a value of another type', { selector: 'api' }, /Type 'string' has no properties in common/],
])('%s would be found', (_, spec, fault) => {
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', spec };
  expect(faultsOf([budget])).toEqual([expect.stringMatching(fault)]);
});
