/** Plants a fault in a copy of the tree, and runs the simulation there until it finds it. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PARTS = ['apps', 'libs', 'bench', 'test', 'contracts'];
const FILES = ['package.json', 'nest-cli.json', 'tsconfig.json', '.swcrc'];

export interface FoundFault {
  /** Undefined where no seed found it. */
  readonly seed: number | undefined;
  /** What deviated. */
  readonly kind: string;
  readonly seconds: number;
}

/** @param root of the repository */
export async function findPlantedFault(
  root: string,
  { patch, simulation, seeds }: { patch: string; simulation: string; seeds: number },
): Promise<FoundFault> {
  const copy = await mkdtemp(join(tmpdir(), 'lowmark-planted-'));
  try {
    for (const name of [...PARTS, ...FILES])
      await cp(join(root, name), join(copy, name), {
        recursive: true,
        filter: (path) => !/node_modules|\/dist(\/|$)/.test(path.slice(root.length)),
      });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await run('git', ['apply', '--unsafe-paths', `--directory=${copy}`, patch], { cwd: copy });
    await run(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], { cwd: copy });
    const startedMs = performance.now();
    const program = ['dist/test/simulation/main.js', simulation, '--seeds', String(seeds)];
    const told = await run(process.execPath, [...program, '--no-shrink'], { cwd: copy }).catch(
      (error: unknown) => error as { stdout: string; stderr: string },
    );
    const [, seed, kind] = /^seed (\d+): (.*)$/m.exec(told.stdout) ?? [];
    if (told.stderr !== '') throw new Error(told.stderr);
    return {
      seed: seed === undefined ? undefined : Number(seed),
      kind: kind ?? 'nothing',
      seconds: Math.round((performance.now() - startedMs) / 1000),
    };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}
