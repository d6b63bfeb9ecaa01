/** A clone of this repository in a separate folder. Its `./lowmark` and `docker` run as an operator would run them. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const OUTPUT = { maxBuffer: 2 ** 26 };

export class Clone {
  private tracked: readonly string[] = [];

  private constructor(
    readonly folder: string,
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** @param environment for every command */
  static async make(
    folder: string,
    environment: Readonly<Record<string, string>>,
    commit?: string,
  ): Promise<Clone> {
    await mkdir(folder, { recursive: true });
    const clone = new Clone(folder, environment);
    await clone.checkOut(commit);
    return clone;
  }

  /** The same folder, with further variables for every command. */
  with(environment: Readonly<Record<string, string>>): Clone {
    return new Clone(this.folder, { ...this.environment, ...environment });
  }

  /**
   * Checks out a commit, or by default the current state of git's files in this working tree. Files that the operator
   * made stay.
   */
  async checkOut(commit?: string): Promise<void> {
    for (const path of this.tracked) await rm(join(this.folder, path), { force: true });
    this.tracked = commit === undefined ? await this.copyTree() : await this.extract(commit);
  }

  private async copyTree(): Promise<string[]> {
    const paths = await listed('ls-files', '-z', '--cached', '--others', '--exclude-standard');
    const present = paths.filter((name) => existsSync(name));
    for (const path of present) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      copyFileSync(path, join(this.folder, path));
    }
    return present;
  }

  private async extract(commit: string): Promise<string[]> {
    const script = 'git archive "$0" | tar -x -C "$1"';
    await execute('bash', ['-e', '-o', 'pipefail', '-c', script, commit, this.folder], OUTPUT);
    return listed('ls-tree', '-r', '-z', '--name-only', commit);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs `./lowmark` with these words. @throws Error with the error output where it fails */
  async lowmark(words: string, input = ''): Promise<string> {
    const ended = await this.tryLowmark(words, input);
    if (ended.code !== 0) throw new Error(`./lowmark ${words}: ${ended.code}\n${ended.err}`);
    return ended.out;
  }

  tryLowmark(words: string, input = ''): Promise<Ended> {
    return this.type('./lowmark', words.split(' '), input);
  }

  /** @throws Error with the error output where the command fails */
  async docker(...words: string[]): Promise<string> {
    return this.dockerWith('', ...words);
  }

  /** Runs docker with standard input. @throws Error with the error output where the command fails */
  async dockerWith(input: string, ...words: string[]): Promise<string> {
    const ended = await this.type('docker', words, input);
    if (ended.code !== 0) throw new Error(`docker ${words.join(' ')}: ${ended.code}\n${ended.err}`);
    return ended.out.trim();
  }

  /** Runs a code block of a page. @throws Error where a command of the block fails */
  async block(code: string): Promise<string> {
    const ended = await this.type('bash', ['--norc', '-e', '-o', 'pipefail', '-c', code]);
    if (ended.code !== 0) throw new Error(`${code}: ${ended.code}\n${ended.err}`);
    return ended.out;
  }

  /** The running containers of a service, in any order. */
  async containers(service: string): Promise<string[]> {
    const ids = await this.lowmark(`ps --quiet ${service}`);
    return ids.split('\n').filter((id) => id !== '');
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  private async type(program: string, words: readonly string[], input = ''): Promise<Ended> {
    const options = {
      cwd: this.folder,
      env: { ...process.env, ...this.environment },
      ...OUTPUT,
    };
    const running = execute(program, [...words], options);
    running.child.stdin?.end(input);
    try {
      const { stdout, stderr } = await running;
      return { code: 0, out: stdout, err: stderr };
    } catch (error) {
      const failed = error as { code?: unknown; stdout?: string; stderr?: string };
      const code = typeof failed.code === 'number' ? failed.code : 127;
      return { code, out: failed.stdout ?? '', err: failed.stderr ?? String(error) };
    }
  }
}

/** The NUL-separated paths that a git command lists. */
async function listed(...words: string[]): Promise<string[]> {
  const { stdout } = await execute('git', words, OUTPUT);
  return stdout.split('\0').filter((path) => path !== '');
}
