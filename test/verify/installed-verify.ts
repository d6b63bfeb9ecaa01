/** `@lowmark/verify` as its users have it: packed, unpacked into an empty project, and started there. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPackage, type InstalledPackage } from '#libs/testing/packages';

const run = promisify(execFile);
const HOME = resolve('libs/verify');

export interface VerifyRun {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Makes a clone with a copy of the package, since `npm pack` builds into it; everything else is linked. */
function makeClone(clone: string): void {
  mkdirSync(join(clone, 'libs'), { recursive: true });
  for (const name of ['node_modules', 'package.json', 'tsconfig.json']) {
    symlinkSync(resolve(name), join(clone, name));
  }
  for (const name of readdirSync('libs').filter((one) => one !== 'verify')) {
    symlinkSync(resolve('libs', name), join(clone, 'libs', name));
  }
  cpSync(HOME, join(clone, 'libs/verify'), { recursive: true });
}

export class InstalledVerify {
  private constructor(
    readonly folder: string,
    private readonly installed: InstalledPackage,
  ) {}

  static async install(): Promise<InstalledVerify> {
    const folder = mkdtempSync(join(tmpdir(), 'lowmark-verify-'));
    const installed = await installPackage(HOME, folder);
    makeClone(join(folder, 'lowmark'));
    return new InstalledVerify(folder, installed);
  }

  get packed(): readonly string[] {
    return this.installed.packed;
  }

  /** The project folder in which the package is installed. */
  get project(): string {
    return this.installed.project;
  }

  private get program(): string {
    return this.installed.programs['lowmark-verify'] ?? '';
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  /** @param environment variables besides PATH @param node the Node executable */
  async run(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    node = process.execPath,
  ): Promise<VerifyRun> {
    return this.start([node, this.program, ...args], environment);
  }

  /**
   * Runs a block of a page in a shell, in the project folder next to the clone. `npx` finds the installed package. `npm
   * install` accepts only an archive of the package and unpacks it; the dependencies are there already.
   */
  async type(code: string, environment: Readonly<Record<string, string>>): Promise<VerifyRun> {
    const commands = [
      `npx() { [ "$1" = @lowmark/verify ]; shift; '${process.execPath}' '${this.program}' "$@"; }`,
      'npm() {',
      '  if [ "$1" != install ]; then command npm --offline "$@"; return; fi',
      '  tar -xzf "$2" -C node_modules/@lowmark/verify --strip-components=1',
      '  echo added @lowmark/verify',
      '}',
      code,
    ];
    return this.start(['sh', '-euc', commands.join('\n')], environment);
  }

  private async start(
    [file = '', ...args]: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<VerifyRun> {
    const { PATH = '' } = process.env;
    return run(file, args, { cwd: this.project, env: { PATH, ...environment } }).then(
      ({ stdout, stderr }) => ({ status: 0, out: stdout, err: stderr }),
      (error: unknown) => {
        const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
        return { status: code, out: stdout, err: stderr };
      },
    );
  }
}
