/** The compiled programs of a next version, which differs from this one only in its migrations. Needs a build. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { compileCache } from '#libs/testing/programs';

export interface NextMigration {
  readonly name: string;
  readonly sql: string;
  readonly olderMayStart?: true;
}

export interface Ended {
  /** The exit code, or the signal. */
  readonly how: number | string;
  readonly output: string;
}

export interface RunningProgram {
  readonly ended: Promise<Ended>;
  kill(): void;
}

/** Starts a program of this version or, with `folder`, of another version. */
export function program(
  app: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  folder = '.',
): RunningProgram {
  const main = resolve(folder, `dist/apps/${app}/src/main.js`);
  const child = spawn(process.execPath, [main, ...args], {
    // A copy starts too rarely for a cache of its compiled modules to pay off.
    env: { ...(folder === '.' && compileCache()), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  }
  const ended = once(child, 'close').then(([code, signal]) => ({
    how: (code ?? signal) as number | string,
    output,
  }));
  return { ended, kill: () => void child.kill('SIGKILL') };
}

export class NextVersion {
  private constructor(readonly folder: string) {}

  static async make(...migrations: readonly NextMigration[]): Promise<NextVersion> {
    const folder = await mkdtemp(join(tmpdir(), 'lowmark-next-'));
    for (const part of ['dist', 'package.json']) {
      await cp(resolve(part), join(folder, part), { recursive: true });
    }
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    const place = join(folder, 'dist/libs/db/src/migrations');
    await rename(join(place, 'index.js'), join(place, 'released.js'));
    await writeFile(join(place, 'index.js'), indexOf(migrations));
    return new NextVersion(folder);
  }

  migrate(databaseUrl: string, ...args: string[]): RunningProgram {
    return program('cli', ['migrate', ...args], { DATABASE_URL: databaseUrl }, this.folder);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

function indexOf(migrations: readonly NextMigration[]): string {
  const classes = migrations.map(
    ({ name, sql, olderMayStart }) => `class {
  name = ${JSON.stringify(name)};
  ${olderMayStart === true ? 'olderMayStart = true;' : ''}
  async up(runner) { await runner.query(${JSON.stringify(sql)}); }
  async down() {}
}`,
  );
  return `import { migrations as released } from './released.js';
export const migrations = [...released, ${classes.join(', ')}];
`;
}
