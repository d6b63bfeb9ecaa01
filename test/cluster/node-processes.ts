import { readdir, readFile } from 'node:fs/promises';

/** The process with this id and all its descendants, the process itself first; empty where it has ended. */
export async function processTree(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = await parentOf(Number(name));
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  if (!parents.has(root)) return [];
  const tree = [root];
  // The loop also visits the processes that are added to the list meanwhile.
  for (const parent of tree) {
    for (const [pid, itsParent] of parents) if (itsParent === parent) tree.push(pid);
  }
  return tree;
}

/** The command line of a process; empty where it has ended. */
export function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

/** Sends a signal to the processes, and ignores those that have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The parent of a process; undefined where the process has ended or is a zombie. */
async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The program's name is in brackets and may hold any character.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === undefined || state === '' || state === 'Z' ? undefined : Number(parent);
}
