/**
 * A partner's terminal: a folder with the clone in `lowmark`, in which the blocks of the pages run one after the other.
 * Each block runs in a separate bash, which continues with the folder, the variables and the functions of the previous
 * one. Only `npm` is a stand-in, for commands that would install from a registry or build into the clone; see NPM.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

export interface TypedBlock {
  readonly status: number | null;
  readonly output: string;
}

/**
 * A stand-in for npm. `npm ci` does nothing, and `npm start` only checks that the stack of the test runs. Programs of
 * the clone run from the build under test. `npm install` unpacks the package at its usual place. Everything else is the
 * real npm.
 */
const NPM = `#!/bin/bash
words=("$@")
case "$1" in
  ci) exit 0 ;;
  start) [ -e .data/stack.json ]; exit ;;
  install)
    mkdir -p node_modules/@lowmark/partner-sdk node_modules/.bin
    tar -xzf "$2" -C node_modules/@lowmark/partner-sdk --strip-components=1
    for name in canonicalize hash-wasm standardwebhooks; do
      ln -s "$LOWMARK_REPOSITORY/node_modules/$name" "node_modules/$name"
    done
    ln -s ../@lowmark/partner-sdk/dist/esm/conformance/main.js node_modules/.bin/lowmark-conformance
    chmod +x node_modules/.bin/lowmark-conformance
    exit ;;
  run)
    shift
    while [[ "$1" == --* ]]; do
      [ "$1" != --prefix ] || { cd "$2" && shift; }
      shift
    done
    case "$1" in
      cli) exec node "$LOWMARK_REPOSITORY/dist/apps/cli/src/main.js" "\${@:3}" ;;
      conformance) exec node "$LOWMARK_REPOSITORY/dist/libs/partner-sdk/src/conformance/main.js" "\${@:3}" ;;
    esac ;;
esac
PATH=\${PATH#*:} exec npm "\${words[@]}"
`;

export class PartnerTerminal {
  readonly clone: string;
  private readonly groups: number[] = [];

  private constructor(private readonly root: string) {
    this.clone = join(root, 'lowmark');
  }

  static open(): PartnerTerminal {
    const terminal = new PartnerTerminal(mkdtempSync(join(tmpdir(), 'partner-terminal-')));
    mkdirSync(join(terminal.clone, 'libs'), { recursive: true });
    for (const name of ['docs', 'dist', 'node_modules', 'package.json', 'tsconfig.json']) {
      symlinkSync(resolve(name), join(terminal.clone, name));
    }
    // A copy, since `npm pack` builds into this folder.
    cpSync('libs/partner-sdk', join(terminal.clone, 'libs/partner-sdk'), { recursive: true });
    mkdirSync(join(terminal.root, 'bin'));
    writeFileSync(join(terminal.root, 'bin/npm'), NPM, { mode: 0o755 });
    return terminal;
  }

  /** A path relative to the terminal's first folder. */
  path(name: string): string {
    return join(this.root, name);
  }

  /** Runs a block, which ends at the first command that fails. */
  async type(code: string): Promise<TypedBlock> {
    const [state, folder] = [this.path('.state'), this.path('.folder')];
    const script = [
      `[ ! -e "${state}" ] || { source "${state}"; cd "$(cat "${folder}")"; } 2> /dev/null`,
      `trap '{ declare -p | grep -v "^declare -[a-zA-Z]*r"; declare -f; } > "${state}"; pwd > "${folder}"' EXIT`,
      'set -e -o pipefail',
      code,
    ].join('\n');
    const path = [this.path('bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
    const env = {
      PATH: path,
      HOME: process.env['HOME'] ?? '',
      LOWMARK_REPOSITORY: resolve('.'),
      GOCACHE: this.path('.go-cache'),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    const shell = spawn('bash', ['--norc', '-c', script], { cwd: this.root, env, detached: true });
    // Background processes stay in the process group of their shell.
    if (shell.pid !== undefined && /&$/m.test(code)) this.groups.push(shell.pid);
    shell.stdin.end();
    let output = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    }
    return new Promise((done) => {
      shell.on('close', (status) => {
        done({ status, output });
      });
    });
  }

  /** Waits until a server that a block started answers. */
  async answers(url: string, limitMs = 240_000): Promise<void> {
    const untilMs = performance.now() + limitMs;
    for (;;) {
      try {
        await fetch(url);
        return;
      } catch (cause) {
        if (performance.now() < untilMs) await new Promise((wake) => setTimeout(wake, 50));
        else {
          const { output } = await this.type('cat game.log');
          throw new Error(`Nothing answers at ${url}:\n${output}`, { cause });
        }
      }
    }
  }

  /** Ends the background processes, as `kill %1` does. */
  endServers(): void {
    for (const group of this.groups.splice(0)) {
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // All processes of the group have ended.
      }
    }
  }

  close(): void {
    this.endServers();
    rmSync(this.root, { recursive: true, force: true });
  }
}
