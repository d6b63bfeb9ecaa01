/** A clone of this repository in a folder of its own, whose `./lowmark` and `docker` run as an operator would run them. */
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Of a command that was typed. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class Clone {
  private constructor(
    readonly folder: string,
    private readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** What git knows of this working tree, as it is now. @param environment for every command that is typed */
  static async make(folder: string, environment: Readonly<Record<string, string>>): Promise<Clone> {
    await mkdir(folder, { recursive: true });
    const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const { stdout } = await execute('git', words, { maxBuffer: 2 ** 24 });
    for (const path of stdout.split('\0').filter((name) => name !== '' && existsSync(name))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      copyFileSync(path, join(folder, path));
    }
    return new Clone(folder, environment);
  }

  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Types `./lowmark …`. @throws where it fails, with what it wrote */
  async lowmark(words: string, input = ''): Promise<string> {
    const ended = await this.tryLowmark(words, input);
    if (ended.code !== 0) throw new Error(`./lowmark ${words}: ${ended.code}\n${ended.err}`);
    return ended.out;
  }

  tryLowmark(words: string, input = ''): Promise<Ended> {
    return this.type('./lowmark', words.split(' '), input);
  }

  /** @throws where it fails, with what it wrote */
  async docker(...words: string[]): Promise<string> {
    const ended = await this.type('docker', words);
    if (ended.code !== 0) throw new Error(`docker ${words.join(' ')}: ${ended.code}\n${ended.err}`);
    return ended.out.trim();
  }

  /** Types a block of a page. @throws where a command of it fails */
  async block(code: string): Promise<string> {
    const ended = await this.type('bash', ['--norc', '-e', '-o', 'pipefail', '-c', code]);
    if (ended.code !== 0) throw new Error(`${code}: ${ended.code}\n${ended.err}`);
    return ended.out;
  }

  /** The containers of a service that run, in any order. */
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
      maxBuffer: 2 ** 26,
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

/** Ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}
