import { type PatroniNode } from './patroni-node.js';
import { signalAll } from './node-processes.js';

/** A fault of the primary's machine. */
export interface Fault {
  readonly name: string;
  strike(primary: PatroniNode): Promise<void>;
  /** Restores the machine, except for changes that another primary has made meanwhile. */
  heal(node: PatroniNode): Promise<void>;
}

/** Suspends processes, including those that they started during the first pass. */
async function stopAll(list: () => Promise<number[]>): Promise<void> {
  signalAll(await list(), 'SIGSTOP');
  signalAll(await list(), 'SIGSTOP');
}

/** Resumes all processes of the node; the signal does not affect running ones. */
async function goOn(node: PatroniNode): Promise<void> {
  signalAll(await node.allProcesses(), 'SIGCONT');
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'the machine is killed',
    strike: (primary) => primary.kill(),
    heal: (node) => node.start(),
  },
  {
    name: 'PostgreSQL is killed',
    strike: (primary) => primary.killPostgres(),
    // Patroni restarts PostgreSQL.
    heal: () => Promise.resolve(),
  },
  {
    name: 'the machine is stopped',
    strike: (primary) => stopAll(() => primary.allProcesses()),
    heal: goOn,
  },
  {
    name: 'PostgreSQL is stopped',
    strike: (primary) => stopAll(() => primary.postgresProcesses()),
    heal: goOn,
  },
  {
    name: 'Patroni is stopped',
    strike: (primary) => stopAll(() => primary.patroniProcesses()),
    heal: goOn,
  },
  {
    name: 'the network to etcd is cut',
    strike: (primary) => {
      primary.etcd.cut();
      return Promise.resolve();
    },
    heal: (node) => {
      node.etcd.renew();
      return Promise.resolve();
    },
  },
];

/** Chooses faults at random; every kind occurs before one repeats. */
export function faultsBy(random: (below: number) => number, rounds: number): Fault[] {
  const chosen: Fault[] = [];
  while (chosen.length < rounds) {
    const left = [...FAULTS];
    while (left.length > 0) chosen.push(...left.splice(random(left.length), 1));
  }
  return chosen.slice(0, rounds);
}
