/** A partner's project folder: the SDK in its published form, and the code of pages. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPackage } from '#libs/testing/packages';
import { compileCache } from '#libs/testing/programs';
import { codeBlocks, read } from './markdown.js';

const MODULES = resolve('node_modules');
const TSCONFIG = {
  compilerOptions: {
    target: 'ES2023',
    module: 'NodeNext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    noEmit: true,
    types: ['node'],
  },
  include: ['*.ts'],
};

type Environment = Readonly<Record<string, string>>;

export class GameFolder {
  private readonly running: ChildProcess[] = [];

  private constructor(
    private readonly root: string,
    readonly path: string,
  ) {}

  /** Installs the SDK in a new project, and writes each block of the pages that has a file name as title. */
  static async of(...pages: readonly string[]): Promise<GameFolder> {
    const root = mkdtempSync(join(tmpdir(), 'partner-game-'));
    const types = ['@types/node', 'undici-types'];
    const { project } = await installPackage(resolve('libs/partner-sdk'), root, types);
    const folder = new GameFolder(root, project);
    folder.write('package.json', JSON.stringify({ type: 'module' }));
    folder.write('tsconfig.json', JSON.stringify(TSCONFIG));
    for (const { title, code } of pages.flatMap((page) => codeBlocks(read(page)))) {
      if (/^[\w-]+\.ts$/.test(title)) folder.write(title, code);
    }
    return folder;
  }

  /** Copies an example that a page has its reader copy. */
  copy(example: string): void {
    cpSync(example, join(this.path, basename(example)));
  }

  private write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  /** @returns the compiler's errors */
  async typeErrors(): Promise<string> {
    try {
      await this.node([join(MODULES, 'typescript/bin/tsc'), '-p', '.'], {});
      return '';
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  }

  /** Runs a program to its end. @returns its standard output */
  async node(args: readonly string[], env: Environment): Promise<string> {
    const options = {
      cwd: this.path,
      env: { PATH: process.env['PATH'], ...compileCache(), ...env },
    };
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  }

  /** Starts a server that prints its port. @returns the port */
  async serve(file: string, env: Environment): Promise<number> {
    const options = {
      cwd: this.path,
      env: { PATH: process.env['PATH'], PORT: '0', ...compileCache(), ...env },
    };
    const child = spawn(process.execPath, [file], options);
    this.running.push(child);
    let output = '';
    return new Promise((done, fail) => {
      const hear = (bytes: Buffer): void => {
        output += bytes.toString('utf8');
        const [, port] = /port: (\d+)/.exec(output) ?? [];
        if (port !== undefined) done(Number(port));
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('exit', () => {
        fail(new Error(`${file} ended: ${output}`));
      });
    });
  }

  async remove(): Promise<void> {
    const alive = this.running.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const ended = alive.map((child) => once(child, 'exit'));
    for (const child of alive) child.kill();
    await Promise.all(ended);
    rmSync(this.root, { recursive: true, force: true });
  }
}
