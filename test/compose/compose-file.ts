import { globSync, readFileSync } from 'node:fs';
import { type AppSettings, appSettings, type SettingMetadata, settingsOf } from '#libs/config';
import { load } from 'js-yaml';

export const ROOT = new URL('../../', import.meta.url);

export interface ComposeService {
  readonly image?: string;
  readonly build?: { readonly args: readonly string[] };
  readonly user?: string;
  readonly init?: boolean;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly profiles?: readonly string[];
  readonly restart?: string;
  readonly pids_limit?: number;
  readonly mem_limit?: string;
  readonly scale?: string;
  readonly stop_grace_period?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly env_file?: readonly unknown[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?:
    readonly string[] | Readonly<Record<string, { readonly aliases?: readonly string[] } | null>>;
  readonly network_mode?: string;
  readonly depends_on?: Readonly<
    Record<string, { readonly condition: string; readonly required?: boolean }>
  >;
  readonly healthcheck?: { readonly test: readonly string[]; readonly start_period: string };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<
    Record<
      string,
      {
        readonly internal?: boolean;
        readonly driver_opts?: Readonly<Record<string, string>>;
      } | null
    >
  >;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function textOf(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

export function yamlOf(path: string): unknown {
  return load(textOf(path));
}

/**
 * The services of a trial: docker-compose.yml, with the additions and replaced commands of docker-compose.local.yml.
 */
export function trialFile(): ComposeFile {
  const base = yamlOf('docker-compose.yml') as ComposeFile;
  const local = yamlOf('docker-compose.local.yml') as ComposeFile;
  const added = Object.entries(local.services).map(([name, service]): [string, ComposeService] => [
    name,
    merged(base.services[name] ?? {}, service),
  ]);
  return {
    services: { ...base.services, ...Object.fromEntries(added) },
    networks: { ...base.networks, ...local.networks },
    volumes: { ...base.volumes, ...local.volumes },
  };
}

function merged(one: ComposeService, other: ComposeService): ComposeService {
  return {
    ...one,
    ...other,
    environment: { ...one.environment, ...other.environment },
    volumes: [...(one.volumes ?? []), ...(other.volumes ?? [])],
    networks: [...networksOf(one), ...networksOf(other)],
    depends_on: { ...one.depends_on, ...other.depends_on },
  };
}

/** Names of the networks of a service. */
export function networksOf({ networks = [] }: ComposeService): readonly string[] {
  return Array.isArray(networks) ? (networks as readonly string[]) : Object.keys(networks);
}

/** Path of the source of the Lowmark program that a service runs; undefined for other programs. */
export function programOf({ entrypoint = [], command = [] }: ComposeService): string | undefined {
  const built = [...entrypoint, ...command].find((part) => /^dist\/.*\.js$/.test(part));
  return built?.replace(/^dist\//, '').replace(/\.js$/, '.ts');
}

/** The settings that a program reads from the environment. */
export async function settingsOfProgram(program: string): Promise<SettingMetadata[]> {
  const inStack = program.startsWith('apps/stack/src/compose/');
  const app = program.split('/')[1] ?? '';
  const patterns = inStack
    ? ['apps/stack/src/compose/*.settings.ts']
    : [`apps/${app}/src/**/*.{env,settings}.ts`];
  // The command `doctor` is in a separate library with its own settings.
  if (app === 'cli') patterns.push('libs/doctor/src/*.settings.ts');
  const paths = globSync(patterns, { cwd: ROOT });
  const modules = await Promise.all(
    paths.map((path) => import(new URL(path, ROOT).href) as Promise<Record<string, unknown>>),
  );
  const found: AppSettings = appSettings(
    app,
    Object.assign({}, ...modules) as Record<string, unknown>,
  );
  return found.classes
    .filter(({ name }) => !inStack || textOf(program).includes(`readSettings(${name})`))
    .flatMap(settingsOf);
}

/** The variables that a program knows, a secret also as the path of its file, and those that it needs. */
export async function variablesOf(
  program: string,
): Promise<{ readonly known: readonly string[]; readonly needed: readonly string[] }> {
  const settings = await settingsOfProgram(program);
  return {
    known: settings.flatMap(({ variable, secret }) =>
      secret === true ? [variable, `${variable}_FILE`] : [variable],
    ),
    needed: settings
      .filter((one) => one.default === undefined && one.optional !== true)
      .map(({ variable }) => variable),
  };
}
