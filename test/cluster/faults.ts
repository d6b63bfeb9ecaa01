import { type PatroniNode } from './patroni-node.js';
import { signalAll } from './node-processes.js';

/** What can happen to the primary's machine. */
export interface Fault {
  readonly name: string;
  /**
   * PostgreSQL goes on as if it led. Only what asks Patroni, as HAProxy does, leaves it; a client that knows the hosts takes its word,
   * and waits for a standby that no longer follows.
   */
  readonly isHidden?: true;
  strike(primary: PatroniNode): Promise<void>;
  /** The machine is as before, but for what another primary has done meanwhile. */
  heal(node: PatroniNode): Promise<void>;
}

/** Stops processes, and those that they started meanwhile. */
async function stopAll(list: () => Promise<number[]>): Promise<void> {
  signalAll(await list(), 'SIGSTOP');
  signalAll(await list(), 'SIGSTOP');
}

/** Of all its processes; what runs does not mind. */
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
    // Patroni starts it again.
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
    isHidden: true,
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

/** As many as asked for; each kind comes before any comes again. */
export function faultsBy(random: (below: number) => number, rounds: number): Fault[] {
  const chosen: Fault[] = [];
  while (chosen.length < rounds) {
    const left = [...FAULTS];
    while (left.length > 0) chosen.push(...left.splice(random(left.length), 1));
  }
  return chosen.slice(0, rounds);
}
