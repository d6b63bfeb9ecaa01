/**
 * A stand-in for `kubectl …` as the pages use it: names are looked up in deploy/kubernetes, and the command of `exec`
 * is run.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { loadAll } from 'js-yaml';
import { type Answer, type Machine } from './machine.js';

interface Manifest {
  readonly kind: string;
  readonly metadata?: { readonly name: string };
}

const TEXTS = globSync('deploy/kubernetes/*.yaml').map((path) => readFileSync(path, 'utf8'));
const OBJECTS = TEXTS.flatMap((text) => loadAll(text) as Manifest[]).map(
  ({ kind, metadata }) => `${kind.toLowerCase()}/${metadata?.name ?? ''}`,
);

export async function kubectlCommand(
  machine: Machine,
  words: readonly string[],
  input: string,
): Promise<Answer> {
  const [verb = '', ...rest] = words[0] === '-n' ? words.slice(2) : words;
  for (const word of rest) {
    const [, kind = '', name = ''] = /^(deploy|deployment|job)\/(\w+)$/.exec(word) ?? [];
    if (verb !== 'kustomize' && kind !== '')
      requireObject(`${kind === 'deploy' ? 'deployment' : kind}/${name}`);
  }
  if (verb === 'delete') requireObject(rest.slice(0, 2).join('/'));
  if (verb === 'create' && rest[0] === 'secret') requireSecret(rest[2] ?? '');
  if (verb === 'kustomize' && !existsSync(`${rest[0] ?? ''}/kustomization.yaml`)) {
    throw new Error(`No kustomization: ${rest[0] ?? ''}`);
  }
  machine.checkOnly('kubectl');
  if (verb !== 'exec') return {};
  const service = /\/(\w+)$/.exec(rest.find((word) => word.startsWith('deploy/')) ?? '')?.[1] ?? '';
  return machine.inContainer(service, rest.slice(rest.indexOf('--') + 1), { input });
}

function requireObject(object: string): void {
  if (!OBJECTS.includes(object)) throw new Error(`deploy/kubernetes has no ${object}`);
}

function requireSecret(name: string): void {
  if (!TEXTS.some((text) => text.includes(`secretName: ${name}`))) {
    throw new Error(`deploy/kubernetes reads no secret ${name}`);
  }
}
