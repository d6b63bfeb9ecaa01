/**
 * A PostgreSQL cluster with failover as deploy/ha runs it, on the loopback interface: real etcd, three nodes and two
 * HAProxies.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { type Program } from '#libs/db';
import { eventually } from '#libs/testing/clock';
import { programPath } from '../../libs/testing/src/jest/programs.mjs';
import { EtcdServer } from './etcd-server.js';
import { type ClusterPasswords, PatroniNode } from './patroni-node.js';
import { Pooler } from './pooler.js';

const HOST = '127.0.0.1';
const NODES = ['node1', 'node2', 'node3'] as const;
const START_MS = 120_000;

/** How a client reaches the primary. */
export type Way = 'haproxy' | 'haproxy2' | 'pgbouncer';

export class PostgresCluster {
  readonly nodes: PatroniNode[] = [];
  private etcd: EtcdServer | undefined;
  private readonly haproxies: { readonly program: ManagedProcess; readonly port: number }[] = [];
  private pooler: Pooler | undefined;
  private readonly passwords: ClusterPasswords = {
    superuser: secret(),
    replication: secret(),
    rewind: secret(),
    owner: secret(),
    pooler: secret(),
  };

  private constructor(private readonly folder: string) {}

  /** Starts the cluster with an empty database `lowmark`. */
  static async start(): Promise<PostgresCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-cluster-'));
    await chmod(folder, 0o755);
    const cluster = new PostgresCluster(folder);
    try {
      await cluster.startAll();
      return cluster;
    } catch (error) {
      const tails = await cluster.tails();
      await cluster.stop();
      throw new Error(`the cluster did not start:\n${tails}`, { cause: error });
    }
  }

  /** The connection string of the database's owner, or of a program's user. */
  urlOf(program: Program | 'owner', way: Way = 'haproxy'): string {
    const [user, password] =
      program === 'owner'
        ? ['lowmark', this.passwords.owner]
        : [`test_${program}`, `test_${program}`];
    const [first, second] = this.haproxies;
    const leading = { haproxy: first, haproxy2: second, pgbouncer: this.pooler }[way];
    return `postgres://${user}:${password}@${HOST}:${leading?.port ?? 0}/lowmark?sslmode=disable`;
  }

  /** The one node that Patroni calls the primary; undefined where there is none, or more than one. */
  async primary(): Promise<PatroniNode | undefined> {
    const are = await Promise.all(this.nodes.map((node) => node.is('primary')));
    const primaries = this.nodes.filter((_, place) => are[place]);
    return primaries.length === 1 ? primaries[0] : undefined;
  }

  /**
   * Waits for one primary and two standbys that follow it, one of them synchronously. @throws Error with the last log
   * lines of the nodes
   */
  async healthy(withinMs = START_MS): Promise<PatroniNode> {
    let primary: PatroniNode | undefined;
    try {
      await eventually(
        async () => {
          primary = await this.primary();
          if (primary === undefined || (await this.followers(primary)) !== 'async,sync')
            return false;
          // Patroni records the chosen synchronous standby in etcd a little later. Until then no other node may become
          // the primary.
          const are = await Promise.all(this.nodes.map((node) => node.is('synchronous')));
          return are.includes(true);
        },
        { what: 'a healthy cluster', withinMs, everyMs: 100 },
      );
    } catch (cause) {
      throw new Error(`the cluster is not healthy:\n${await this.tails()}`, { cause });
    }
    if (primary === undefined) throw new Error('there is no primary');
    return primary;
  }

  async tails(): Promise<string> {
    const tails = await Promise.all(this.nodes.map((node) => node.tail()));
    return tails.map((tail, place) => `${NODES[place]}:\n${tail}`).join('\n');
  }

  async stop(): Promise<void> {
    await this.pooler?.stop();
    await Promise.all(this.haproxies.map(({ program }) => program.stop()));
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.etcd?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The states of the standbys that stream from a node, as the node reports them. */
  private async followers({ port }: PatroniNode): Promise<string | undefined> {
    const client = new pg.Client({
      host: HOST,
      port,
      user: 'postgres',
      password: this.passwords.superuser,
      database: 'postgres',
      connectionTimeoutMillis: 2000,
      query_timeout: 2000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ states: string | null }>(
        `SELECT string_agg(sync_state, ',' ORDER BY sync_state) AS states FROM pg_stat_replication WHERE state = 'streaming'`,
      );
      return rows[0]?.states ?? undefined;
    } catch {
      // The node is starting or ending.
      return undefined;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private async startAll(): Promise<void> {
    this.etcd = await EtcdServer.start(join(this.folder, 'etcd'));
    const { passwords } = this;
    for (const name of NODES) {
      const folder = join(this.folder, name);
      this.nodes.push(
        await PatroniNode.create({ name, folder, etcdPort: this.etcd.port, passwords }),
      );
    }
    for (const node of this.nodes) await node.start();
    const haproxyPort = await this.startHaproxy('haproxy');
    await this.startHaproxy('haproxy2');
    this.pooler = await Pooler.start(join(this.folder, 'pgbouncer'), haproxyPort, passwords.pooler);
    await this.healthy();
  }

  /** @returns the port that leads to the primary */
  private async startHaproxy(name: string): Promise<number> {
    const port = await freePort();
    const places = this.nodes.flatMap(({ port, checkPort }, place) => [
      [`NODE${place + 1}`, `${HOST}:${port}`],
      [`CHECK${place + 1}`, String(checkPort)],
    ]);
    const program = await ManagedProcess.start({
      command: programPath('haproxy') ?? 'haproxy',
      args: ['-W', '-db', '-f', 'deploy/ha/haproxy.cfg'],
      environment: {
        ...(Object.fromEntries(places) as Record<string, string>),
        LISTEN_PRIMARY: `${HOST}:${port}`,
        LISTEN_STATUS: `${HOST}:${await freePort()}`,
      },
      logFile: join(this.folder, `${name}.log`),
    });
    this.haproxies.push({ program, port });
    return port;
  }
}

function secret(): string {
  return randomBytes(18).toString('base64url');
}
