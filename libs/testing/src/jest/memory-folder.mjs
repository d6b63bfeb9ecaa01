/**
 * The folder for temporary files of a test run: in memory where there is room. A clone of the template database has
 * some thousand small files, and creating them on a disk takes several times the CPU of creating them in memory.
 */
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NAME = 'lowmark-test-';
const NEEDED_BYTES = 3 * 2 ** 30;

let used;

/** Places temporary files in memory from now on, also those of the programs that tests start. */
export function useMemoryFolder() {
  const folder = makeMemoryFolder();
  if (folder === undefined) return;
  used = { folder, before: process.env.TMPDIR };
  process.env.TMPDIR = folder;
}

export function leaveMemoryFolder() {
  if (used === undefined) return;
  const { folder, before } = used;
  used = undefined;
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(folder, { recursive: true, force: true });
}

/**
 * @returns a new folder; undefined where memory has too little room (a container has 64 MB by default) or is mounted
 * noexec
 */
export function makeMemoryFolder(memory = MEMORY) {
  let folder;
  try {
    removeLeftovers(memory);
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < NEEDED_BYTES) return undefined;
    folder = mkdtempSync(join(memory, `${NAME}${process.pid}-`));
    // PostgreSQL does not run as root, so its user needs access to the folder.
    chmodSync(folder, 0o711);
    demandPrograms(folder);
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** Removes the folders of earlier runs that were killed. */
function removeLeftovers(memory) {
  for (const name of readdirSync(memory)) {
    const pid = new RegExp(`^${NAME}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    rmSync(join(memory, name), { recursive: true, force: true });
  }
}

/** @throws where the file system is mounted noexec, since tests write scripts and run them */
function demandPrograms(folder) {
  const program = join(folder, 'program');
  writeFileSync(program, '', { mode: 0o755 });
  accessSync(program, constants.X_OK);
  rmSync(program);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
