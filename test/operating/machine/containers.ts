/**
 * The services of docker-compose.yml without containers: their environments, their commands, and the running programs.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { redemptionVaultAbi } from '#libs/chain';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { type ComposeFile, trialFile, yamlOf } from '../../compose/compose-file.js';
import { type LocalPostgres } from './local-postgres.js';

export type Environment = Readonly<Record<string, string>>;

const VOLUMES = ['secrets', 'signer', 'game', 'chain', 'textfiles'];
const READY_MS = 30_000;

/** Adds the services of docker-compose.backup.yml, since the operator of the pages uses this file. */
function withBackups(file: ComposeFile): ComposeFile {
  const backup = yamlOf('docker-compose.backup.yml') as ComposeFile;
  return { ...file, services: { ...backup.services, ...file.services } };
}

export class Containers {
  readonly path = process.env['PATH'] ?? '';
  private readonly file = withBackups(yamlOf('docker-compose.yml') as ComposeFile);
  private readonly running = new Map<string, Program>();
  /** Names of the containers of each service, which are counted only. */
  private readonly counted = new Map<string, string[]>();
  private made = 0;

  private constructor(
    readonly postgres: LocalPostgres,
    /** Folder of the volumes of secrets. */
    readonly root: string,
    private readonly indexerPort: number,
    private readonly settings: Environment,
  ) {}

  /** @param settings content of `.env` */
  static async prepare(
    postgres: LocalPostgres,
    settings: Environment,
    secrets: Environment,
  ): Promise<Containers> {
    const root = await mkdtemp(join(tmpdir(), 'lowmark-volumes-'));
    const containers = new Containers(postgres, root, await freePort(), settings);
    const shares = Object.keys(containers.file.volumes).filter((name) => name.startsWith('for-'));
    for (const name of [...VOLUMES, ...shares])
      mkdirSync(containers.volume(name), { recursive: true });
    for (const [path, value] of Object.entries({
      'secrets/database_url': postgres.url,
      ...secrets,
    })) {
      writeFileSync(join(root, path), value);
    }
    return containers;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.running.values()].map((program) => program.stop()));
    rmSync(this.root, { recursive: true, force: true });
  }

  requireServices(names: readonly string[]): void {
    const { services } = withBackups(trialFile());
    const unknown = names.filter((name) => !(name in services));
    if (unknown.length > 0)
      throw new Error(`docker-compose.yml has no service ${unknown.join(', ')}`);
  }

  requireProfile(name: string): void {
    const profiles = Object.values(this.file.services).flatMap(({ profiles = [] }) => profiles);
    if (!profiles.includes(name)) throw new Error(`docker-compose.yml has no profile ${name}`);
  }

  requireImage(name: string): void {
    const images = Object.values(this.file.services).map(({ image = '' }) => image);
    const [repository = ''] = name.split(':');
    if (!images.some((image) => image.includes(repository)))
      throw new Error(`docker-compose.yml has no image ${name}`);
  }

  /** The output of `docker compose config`, as far as ./lowmark reads it. */
  get config(): object {
    const services = Object.entries(this.file.services).map(([name, { image }]) => [
      name,
      { image: image?.replace(/^\$\{\w+:-(.*)\}$/, '$1'), pull_policy: 'never', scale: 2 },
    ]);
    return { name: 'clone', services: Object.fromEntries(services) as object };
  }

  get names(): string[] {
    const shown = Object.entries(this.file.services).filter(([, { profiles }]) => !profiles);
    return shown.map(([name]) => name);
  }

  replicas(service: string): readonly string[] {
    return this.counted.get(service) ?? [];
  }

  /** @param count number of containers; 0 for the number in docker-compose.yml */
  scale(service: string, count: number): void {
    const containers = this.counted.get(service) ?? [];
    const wanted = count === 0 ? (this.file.services[service]?.scale === undefined ? 1 : 2) : count;
    while (containers.length < wanted) containers.push(`${service}-${++this.made}`);
    this.counted.set(service, containers.slice(0, wanted));
  }

  isReplica(container: string): boolean {
    return [...this.counted.values()].some((containers) => containers.includes(container));
  }

  addressOf(container: string): string {
    return `10.0.0.${container.split('-')[1] ?? ''}`;
  }

  /** The proxy's status table, in which every replica is up. */
  get proxyStatus(): string {
    const containers = [...this.counted.values()].flat();
    return containers
      .map((one) => `api,${one},0,UP,1,L7OK,200,${this.addressOf(one)}:3000,,\n`)
      .join('');
  }

  hasScript(name: string): boolean {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
    return name in scripts;
  }

  /** Checks that the vault has this function. @returns an empty string, since there is nothing to print */
  hasVaultFunction(name: string, inputs: readonly string[]): '' {
    const found = redemptionVaultAbi.some(
      (one) =>
        one.type === 'function' &&
        one.name === name &&
        one.inputs.map(({ type }) => type).join() === inputs.join(),
    );
    if (!found) throw new Error(`The vault has no ${name}(${inputs.join()})`);
    return '';
  }

  /** The environment of a service: `.env`, then docker-compose.yml, with the paths of this machine. */
  environmentOf(service: string): Record<string, string> {
    const { environment = {}, volumes = [] } = this.file.services[service] ?? {};
    const mounts = volumes.map((volume) => {
      const [, given, named, path = ''] =
        /^(?:\$\{\w+:-([\w-]+)\}|([\w.-]+)):(\/[^:]+)/.exec(volume) ?? [];
      return { path, folder: this.volume(given ?? named ?? '') };
    });
    const told = Object.entries(environment).map(([name, value]): [string, string] => {
      const mount = mounts.find(({ path }) => String(value).startsWith(`${path}/`));
      return [
        name,
        mount ? join(mount.folder, String(value).slice(mount.path.length)) : String(value),
      ];
    });
    const isTold = this.file.services[service]?.env_file !== undefined;
    return {
      ...(service === 'postgres' ? this.postgres.environment : {}),
      ...(isTold ? this.settings : {}),
      ...Object.fromEntries(told.filter(([, value]) => !value.startsWith('${'))),
      ...(service === 'indexer' && {
        LISTEN_HOST: '127.0.0.1',
        INDEXER_PORT: String(this.indexerPort),
      }),
    };
  }

  /** The command that `docker compose run` makes of the words after the service's name. */
  called(service: string, words: readonly string[], entrypoint?: string): string[] {
    const { entrypoint: own = [], command = [] } = this.file.services[service] ?? {};
    if (entrypoint !== undefined) return [entrypoint, ...words];
    const behind = words.length > 0 ? words : command;
    return [...own, ...behind];
  }

  /** The same command with paths and ports of this machine. */
  wordsHere(words: readonly string[]): string[] {
    const here = words.map((word) =>
      word
        .replace('127.0.0.1:3001', `127.0.0.1:${this.indexerPort}`)
        .replace(/^\/run\/lowmark$/, this.root)
        .replace(/^\/textfiles\//, `${this.volume('textfiles')}/`),
    );
    return here[0] === 'node' ? [process.execPath, ...here.slice(1)] : here;
  }

  async startIndexer(): Promise<void> {
    if (this.running.has('indexer')) return;
    const environment = this.environmentOf('indexer');
    const words = [process.execPath, '--max-semi-space-size=8', 'dist/apps/indexer/src/main.js'];
    const program = await Program.start(words, { ...environment, PATH: this.path }, this.root);
    this.running.set('indexer', program);
    await program.health();
  }

  async stopIndexer(): Promise<void> {
    await this.running.get('indexer')?.stop();
    this.running.delete('indexer');
  }

  remove(name: string): void {
    for (const [service, containers] of this.counted) {
      this.counted.set(
        service,
        containers.filter((one) => one !== name),
      );
    }
  }

  private volume(name: string): string {
    return join(this.root, name.replace(/^for-/, 'for/'));
  }
}

/** A program of the project that keeps running. */
class Program {
  private constructor(
    private readonly process: ManagedProcess,
    private readonly port: string,
  ) {}

  static async start(
    words: readonly string[],
    environment: Environment,
    folder: string,
  ): Promise<Program> {
    const [command = '', ...args] = words;
    const count = globSync(join(folder, 'program-*.log')).length;
    const logFile = join(folder, `program-${count}.log`);
    const process = await ManagedProcess.start({ command, args, environment, logFile });
    return new Program(process, environment['INDEXER_PORT'] ?? '');
  }

  /** Waits until the program is ready. */
  async health(): Promise<'healthy'> {
    for (let waitedMs = 0; waitedMs < READY_MS; waitedMs += 50) {
      const url = `http://127.0.0.1:${this.port}/health/ready`;
      const answer = await fetch(url).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok === true) return 'healthy';
      if (!this.process.isRunning) break;
      await sleep(50);
    }
    throw new Error(`is not ready:\n${(await this.process.tail()).join('\n')}`);
  }

  async stop(): Promise<void> {
    await this.process.stop();
  }
}
