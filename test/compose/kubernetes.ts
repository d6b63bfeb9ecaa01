/** The manifests of deploy/kubernetes, assembled as by kustomize. */
import { loadAll } from 'js-yaml';
import { textOf, yamlOf } from './compose-file.js';

export interface SecretVolume {
  readonly secretName: string;
  readonly items?: readonly { readonly key: string }[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly readinessProbe?: unknown;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly template?: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
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

export interface Kustomization {
  readonly resources?: readonly string[];
  readonly configMapGenerator?: readonly {
    readonly name: string;
    readonly envs: readonly string[];
  }[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    /** A JSON patch (RFC 6902). */
    readonly patch: string;
  }[];
}

export interface Workload {
  readonly name: string;
  readonly template: NonNullable<Manifest['spec']['template']>;
  readonly container: Container;
}

export const FOLDER = 'deploy/kubernetes/';

export function kustomizationOf(folder: string): Kustomization {
  return yamlOf(`${folder}kustomization.yaml`) as Kustomization;
}

export function manifestsOf(folder: string): Manifest[] {
  const { resources = [] } = kustomizationOf(folder);
  return resources.flatMap((path) => loadAll(textOf(folder + path)) as Manifest[]);
}

export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return manifests.flatMap(({ metadata: { name }, spec: { template } }) => {
    const container = template?.spec.containers[0];
    return template && container ? [{ name, template, container }] : [];
  });
}

/** The variables in a file of settings. */
export function toldIn(path: string): string[] {
  return textOf(path)
    .split('\n')
    .map((line) => line.split('=')[0] ?? '')
    .filter((name) => name !== '' && !name.startsWith('#'));
}

/** The program of a container. The container `cli` starts no program by itself; operators run the commands in it. */
export function programOf({ name, command }: Container): string {
  const named = command.find((word) => word.endsWith('.js')) ?? '';
  const program = name === 'cli' ? 'dist/apps/cli/src/main.js' : named;
  return program.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}

/** A secret as its name, with the keys where not all of them are mounted. */
export function shown({ secretName, items }: SecretVolume): string {
  return items === undefined
    ? secretName
    : `${secretName}: ${items.map(({ key }) => key).join(', ')}`;
}
