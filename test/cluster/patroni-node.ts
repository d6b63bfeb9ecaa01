/** One node as deploy/ha runs it: Patroni with its PostgreSQL. A test may kill and suspend its processes. */
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { dump, load } from 'js-yaml';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { PostgresUser } from '#libs/devpostgres';
import { eventually } from '#libs/testing/clock';
import { TcpLink } from '#libs/testing/wire';
import { postgresTools, programPath } from '../../libs/testing/src/jest/programs.mjs';
import { commandOf, processTree, signalAll } from './node-processes.js';

const SHIPPED = 'deploy/ha/patroni.yml';
const HOST = '127.0.0.1';

export interface ClusterPasswords {
  readonly superuser: string;
  readonly replication: string;
  readonly rewind: string;
  /** Password of the user `lowmark`, who owns the database. */
  readonly owner: string;
  readonly pooler: string;
}

interface ShippedConfig {
  readonly bootstrap: Record<string, unknown>;
  readonly postgresql: Record<string, unknown>;
}

export interface PatroniNodeOptions {
  readonly name: string;
  /** Folder for this node alone; `create` makes it. */
  readonly folder: string;
  readonly etcdPort: number;
  readonly passwords: ClusterPasswords;
}

export class PatroniNode {
  private patroni: ManagedProcess | undefined;

  private constructor(
    private readonly options: PatroniNodeOptions,
    /** The network between the node and etcd. */
    readonly etcd: TcpLink,
    readonly port: number,
    readonly checkPort: number,
  ) {}

  /** Creates a node without starting it. */
  static async create(options: PatroniNodeOptions): Promise<PatroniNode> {
    const etcd = new TcpLink({ host: HOST, port: options.etcdPort });
    await etcd.open();
    const node = new PatroniNode(options, etcd, await freePort(), await freePort());
    await node.configure();
    return node;
  }

  get name(): string {
    return this.options.name;
  }

  async start(): Promise<void> {
    const { folder, passwords } = this.options;
    const user = await PostgresUser.for([folder]);
    this.patroni = await ManagedProcess.start({
      ...user.command(programPath('patroni') ?? 'patroni', [this.configFile]),
      environment: {
        PATH: process.env['PATH'],
        LANG: 'C.UTF-8',
        PSQL: this.program('psql'),
        LOWMARK_PASSWORD: passwords.owner,
        PGBOUNCER_PASSWORD: passwords.pooler,
        PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
        PATRONI_REPLICATION_PASSWORD: passwords.replication,
        PATRONI_REWIND_PASSWORD: passwords.rewind,
      },
      logFile: join(folder, 'patroni.log'),
    });
  }

  /** Whether Patroni reports this role or state: `primary`, `replica`, `synchronous`, `health`. */
  async is(role: string): Promise<boolean> {
    const answer = await fetch(`http://${HOST}:${this.checkPort}/${role}`, {
      signal: AbortSignal.timeout(2000),
    }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => undefined);
    return answer?.status === 200;
  }

  /** Patroni and the processes that it has started. */
  patroniProcesses(): Promise<number[]> {
    const { pid, isRunning } = this.patroni ?? {};
    return pid !== undefined && isRunning === true ? processTree(pid) : Promise.resolve([]);
  }

  /** PostgreSQL's postmaster first, then its backends. */
  async postgresProcesses(): Promise<number[]> {
    const file = await readFile(join(this.dataFolder, 'postmaster.pid'), 'utf8').catch(() => '');
    const pid = Number(file.split('\n')[0]);
    // The file outlives a killed postmaster, and another process may have the same id by then.
    return (await commandOf(pid)).includes(this.dataFolder) ? processTree(pid) : [];
  }

  async allProcesses(): Promise<number[]> {
    return [...(await this.patroniProcesses()), ...(await this.postgresProcesses())];
  }

  /** Kills everything at once. Patroni is killed first, so that it restarts nothing. */
  async kill(): Promise<void> {
    signalAll(await this.patroniProcesses(), 'SIGKILL');
    await this.patroni?.ended;
    await this.killPostgres();
  }

  async killPostgres(): Promise<void> {
    signalAll(await this.postgresProcesses(), 'SIGKILL');
    await this.untilNoPostgres();
  }

  /** Ends all processes of the node, also suspended ones. */
  async stop(): Promise<void> {
    signalAll(await this.allProcesses(), 'SIGCONT');
    await this.kill();
    await this.etcd.close();
  }

  /** The last lines of Patroni's log, for the report of a failed test. */
  async tail(): Promise<string> {
    return (await this.patroni?.tail(12))?.join('\n') ?? 'not started';
  }

  private async untilNoPostgres(): Promise<void> {
    await eventually(async () => (await this.postgresProcesses()).length === 0);
  }

  private get dataFolder(): string {
    return join(this.options.folder, 'data');
  }

  private get configFile(): string {
    return join(this.options.folder, 'patroni.yml');
  }

  private program(name: string): string {
    return join(postgresTools() ?? '', name);
  }

  /** Writes the file of deploy/ha with the addresses and folders of this machine. */
  private async configure(): Promise<void> {
    const { folder, name } = this.options;
    await mkdir(folder);
    const shipped = load(await readFile(SHIPPED, 'utf8')) as ShippedConfig;
    const config = {
      ...shipped,
      name,
      bootstrap: { ...shipped.bootstrap, post_bootstrap: resolve('deploy/ha/create-database.sh') },
      restapi: {
        listen: `${HOST}:${this.checkPort}`,
        connect_address: `${HOST}:${this.checkPort}`,
      },
      // `use_proxies` keeps Patroni from connecting to etcd past the link.
      etcd: { hosts: [`${HOST}:${this.etcd.port}`], use_proxies: true },
      postgresql: {
        ...shipped.postgresql,
        listen: `${HOST}:${this.port}`,
        connect_address: `${HOST}:${this.port}`,
        data_dir: this.dataFolder,
        bin_dir: postgresTools(),
        pgpass: join(folder, 'pgpass'),
      },
    };
    await writeFile(this.configFile, dump(config));
    const { ids } = await PostgresUser.for([folder]);
    if (ids === undefined) return;
    for (const path of [folder, this.configFile]) await chown(path, ids.uid, ids.gid);
  }
}
