import { readdir, readFile } from 'node:fs/promises';

/** The process with that number and all that it started, itself first; none where it has ended. */
export async function processTree(root: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = await parentOf(Number(name));
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  if (!parents.has(root)) return [];
  const tree = [root];
  // The list grows while it is walked.
  for (const parent of tree) {
    for (const [pid, itsParent] of parents) if (itsParent === parent) tree.push(pid);
  }
  return tree;
}

/** The command line of a process; empty where it has ended. */
export function commandOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

/** Does nothing to a process that has ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Undefined where the process has ended, or waits only for its end to be noticed. */
async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in brackets, may hold anything.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === undefined || state === '' || state === 'Z' ? undefined : Number(parent);
}
