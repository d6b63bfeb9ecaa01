/** The services of docker-compose.yml without containers: their environments, their secrets, and the indexer. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { type ComposeFile, yamlOf } from '../../compose/compose-file.js';
import { type LocalPostgres } from './local-postgres.js';

export type Environment = Readonly<Record<string, string>>;

const VOLUMES = ['secrets', 'signer'];
const READY_MS = 90_000;

export class Services {
  private readonly file = yamlOf('docker-compose.yml') as ComposeFile;
  private indexer: ManagedProcess | undefined;

  private constructor(
    readonly postgres: LocalPostgres,
    /** Folder of the volumes of secrets. */
    readonly root: string,
    private readonly settings: Environment,
  ) {}

  /** @param settings content of `.env` */
  static async prepare(
    postgres: LocalPostgres,
    settings: Environment,
    secrets: Environment,
  ): Promise<Services> {
    const root = await mkdtemp(join(tmpdir(), 'lowmark-volumes-'));
    const services = new Services(postgres, root, settings);
    const shares = Object.keys(services.file.volumes).filter((name) => name.startsWith('for-'));
    for (const name of [...VOLUMES, ...shares])
      mkdirSync(services.volume(name), { recursive: true });
    const all = { 'secrets/database_url': postgres.url, ...secrets };
    for (const [path, value] of Object.entries(all)) writeFileSync(join(root, path), value);
    return services;
  }

  async stop(): Promise<void> {
    await this.indexer?.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  /** The environment of a service: `.env`, then docker-compose.yml, with the paths of this machine. */
  environmentOf(service: string): Record<string, string> {
    const { environment = {}, volumes = [] } = this.file.services[service] ?? {};
    const mounts = volumes.map((volume) => {
      const [, name = '', path = ''] = /^([\w.-]+):(\/[^:]+)/.exec(volume) ?? [];
      return { path, folder: this.volume(name) };
    });
    const told = Object.entries(environment).map(([name, value]): [string, string] => {
      const mount = mounts.find(({ path }) => `${String(value)}/`.startsWith(`${path}/`));
      return [
        name,
        mount ? join(mount.folder, String(value).slice(mount.path.length)) : String(value),
      ];
    });
    return {
      ...this.settings,
      ...Object.fromEntries(told.filter(([, value]) => !value.startsWith('${'))),
    };
  }

  /** Starts the indexer, and waits until it is ready. */
  async startIndexer(): Promise<void> {
    const port = String(await freePort());
    this.indexer = await ManagedProcess.start({
      command: process.execPath,
      args: ['--max-semi-space-size=32', 'dist/apps/indexer/src/main.js'],
      environment: {
        ...this.environmentOf('indexer'),
        LISTEN_HOST: '127.0.0.1',
        INDEXER_PORT: port,
        PATH: process.env['PATH'] ?? '',
      },
      logFile: join(this.root, 'indexer.log'),
    });
    for (let waitedMs = 0; waitedMs < READY_MS && this.indexer.isRunning; waitedMs += 50) {
      const answer = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok === true) return;
      await sleep(50);
    }
    throw new Error(`is not ready:\n${(await this.indexer.tail()).join('\n')}`);
  }

  private volume(name: string): string {
    return join(this.root, name.replace(/^for-/, 'for/'));
  }
}
