import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort, ManagedProcess } from '#libs/devprocess';
import { eventually } from '#libs/testing/clock';
import { programPath } from '../../libs/testing/src/jest/programs.mjs';

/** The etcd in which Patroni keeps the leader lock: one node, with version 2 of its API. */
export class EtcdServer {
  private constructor(
    private readonly process: ManagedProcess,
    readonly port: number,
  ) {}

  static async start(folder: string): Promise<EtcdServer> {
    await mkdir(folder);
    const [port, peerPort] = [await freePort(), await freePort()];
    const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
    const process = await ManagedProcess.start({
      command: programPath('etcd') ?? 'etcd',
      args: [
        ...['--name', 'etcd1', '--data-dir', join(folder, 'data'), '--enable-v2'],
        ...['--listen-client-urls', client, '--advertise-client-urls', client],
        ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
        ...['--initial-cluster', `etcd1=${peer}`],
      ],
      logFile: join(folder, 'etcd.log'),
    });
    const etcd = new EtcdServer(process, port);
    await eventually(() => answers(`${client}/health`));
    return etcd;
  }

  stop(): Promise<void> {
    return this.process.stop();
  }
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url).catch(() => undefined);
  await answer?.arrayBuffer().catch(() => undefined);
  return answer?.ok === true;
}
