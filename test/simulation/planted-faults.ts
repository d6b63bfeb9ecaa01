/** Plants faults in a copy of the tree, and runs a simulation there until it finds them. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { transformFile } from '@swc/core';

const run = promisify(execFile);

const PARTS = ['apps', 'libs', 'bench', 'test', 'contracts'];
const FILES = ['package.json', 'nest-cli.json', 'tsconfig.json', '.swcrc'];

const FAULTS = join(import.meta.dirname, 'faults');

/** The patches of `faults/`, each in the folder of the simulation that finds it. */
export const plantedFaults = readdirSync(FAULTS).flatMap((simulation) =>
  readdirSync(join(FAULTS, simulation)).map((file) => ({
    simulation,
    name: file.replace('.patch', ''),
    patch: join(FAULTS, simulation, file),
  })),
);

export interface FoundFault {
  /** Undefined if no seed found it. */
  readonly seed: number | undefined;
  /** What deviated. */
  readonly kind: string;
  readonly seconds: number;
  /** What deviates with this seed without the fault; undefined: nothing does. */
  readonly withoutFault: string | undefined;
}

/** A built copy of the tree without any fault, from which each fault gets a copy of its own. */
export class FaultBench {
  private constructor(
    private readonly root: string,
    private readonly clean: string,
  ) {}

  static async build(root: string): Promise<FaultBench> {
    const clean = await mkdtemp(join(tmpdir(), 'lowmark-planted-'));
    const bench = new FaultBench(root, clean);
    await bench.copyTree(root, clean);
    await run(process.execPath, ['node_modules/@nestjs/cli/bin/nest.js', 'build'], { cwd: clean });
    return bench;
  }

  close(): Promise<void> {
    return rm(this.clean, { recursive: true, force: true });
  }

  /** Runs the seeds with the fault up to the first that deviates, and that seed without the fault. */
  async find({
    patch,
    simulation,
    seeds,
  }: {
    patch: string;
    simulation: string;
    seeds: number;
  }): Promise<FoundFault> {
    const copy = await mkdtemp(join(tmpdir(), 'lowmark-planted-'));
    try {
      await this.copyTree(this.clean, copy);
      await cp(join(this.clean, 'dist'), join(copy, 'dist'), { recursive: true });
      await run('git', ['apply', '--unsafe-paths', `--directory=${copy}`, patch], {
        cwd: copy,
      });
      for (const [, file = ''] of (await readFile(patch, 'utf8')).matchAll(/^\+\+\+ b\/(.+)$/gm)) {
        await compile(copy, file);
      }
      const startedMs = performance.now();
      const { seed, kind } = await simulate(copy, simulation, ['--seeds', String(seeds)]);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      if (seed === undefined) return { seed, kind: 'nothing', seconds, withoutFault: undefined };
      const alone = ['--seed', String(seed), '--seeds', '1'];
      const { kind: withoutFault } = await simulate(this.clean, simulation, alone);
      return { seed, kind: kind ?? '', seconds, withoutFault };
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  }

  private async copyTree(from: string, to: string): Promise<void> {
    for (const name of [...PARTS, ...FILES])
      await cp(join(from, name), join(to, name), {
        recursive: true,
        filter: (path) => !/node_modules|\/dist(\/|$)/.test(path.slice(from.length)),
      });
    await symlink(join(this.root, 'node_modules'), join(to, 'node_modules'));
  }
}

/** Builds one file again, as the build of the tree does. */
async function compile(tree: string, file: string): Promise<void> {
  const configFile = join(tree, '.swcrc');
  const { code } = await transformFile(join(tree, file), { configFile, cwd: tree });
  const target = join(tree, 'dist', file.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, code);
}

/** @returns the first seed that deviates and how, if one does. @throws Error if not all seeds ran and none deviates */
async function simulate(
  tree: string,
  simulation: string,
  seeds: readonly string[],
): Promise<{ readonly seed?: number; readonly kind?: string }> {
  const program = ['dist/test/simulation/main.js', simulation, ...seeds, '--no-shrink'];
  const ended = await run(process.execPath, program, { cwd: tree }).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
  if (ended.stderr !== '') throw new Error(ended.stderr);
  const [, seed, kind] = /^seed (\d+): (.*)$/m.exec(ended.stdout) ?? [];
  if (seed !== undefined) return { seed: Number(seed), kind: kind ?? '' };
  if (!ended.stdout.includes(`${simulation}: ${seeds.at(-1) ?? ''} seeds,`)) {
    throw new Error(`The simulation did not run to its end: ${ended.stdout}`);
  }
  return {};
}
