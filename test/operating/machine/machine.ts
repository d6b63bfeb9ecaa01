/**
 * An operator's machine as the pages describe it, without containers. Only `npm` is a stand-in: it runs the cli in this
 * process, which is faster, with the environment of docker-compose.yml. All other programs are real.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { compileCache } from '#libs/testing/programs';
import { runCli } from '../../../apps/cli/src/cli.js';
import { type Environment, type Services } from './services.js';

interface Question {
  readonly words: readonly string[];
  readonly input: string;
  readonly environment: Environment;
}

interface Answer {
  readonly out?: string;
  readonly err?: string;
  readonly code?: number;
  /** A command that replaces the stand-in and keeps its standard streams. */
  readonly run?: readonly string[];
  readonly environment?: Environment;
}

/** The result of a block. */
interface Typed {
  /** The commands that ended with a code other than 0. */
  readonly failed: readonly string[];
  readonly output: string;
}

/**
 * Asks the machine what to do and evaluates the answer as a script. The question holds the words, the environment and,
 * where a word is `-`, the input.
 */
const STAND_IN = `#!/bin/bash
ask() { printf '%s\\0' "$@"; printf '\\036'; env -0; printf '\\036'; [[ " $* " != *" - "* ]] || cat; }
eval "$(ask "$@" | curl -s --data-binary @- "$MACHINE_URL")"
`;

export class Machine {
  private constructor(
    /** The folder in which the commands run. */
    readonly clone: string,
    private readonly services: Services,
    private readonly server: Server,
    private readonly environment: Environment,
  ) {}

  static async start(services: Services): Promise<Machine> {
    const clone = await mkdtemp(join(tmpdir(), 'lowmark-clone-'));
    for (const name of ['dist', 'deploy']) symlinkSync(resolve(name), join(clone, name));
    mkdirSync(join(clone, 'bin'));
    writeFileSync(join(clone, 'bin/npm'), STAND_IN);
    chmodSync(join(clone, 'bin/npm'), 0o755);
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const port = String((server.address() as AddressInfo).port);
    const { postgres } = services;
    const environment = {
      ...compileCache(),
      ...postgres.environment,
      PATH: [
        join(clone, 'bin'),
        dirname(process.execPath),
        postgres.tools,
        process.env['PATH'],
      ].join(':'),
      MACHINE_URL: `http://127.0.0.1:${port}`,
      DATABASE_URL: postgres.url,
    };
    const machine = new Machine(clone, services, server, environment);
    server.on('request', (request, response) => {
      void text(request)
        .then(async (question) => machine.npm(questionOf(question)))
        .catch((error: unknown): Answer => ({ err: `${String(error)}\n`, code: 127 }))
        .then((answer) => response.end(scriptOf(answer)));
    });
    return machine;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
    await rm(this.clone, { recursive: true, force: true });
  }

  /** Runs a block in a shell without a terminal, so that password prompts read the input. */
  async type(code: string, input = ''): Promise<Typed> {
    const options = { cwd: this.clone, env: this.environment, detached: true };
    const trap = `trap 'echo "$BASH_COMMAND" >> "${join(this.clone, 'failed')}"' ERR`;
    writeFileSync(join(this.clone, 'failed'), '');
    const shell = spawn(
      'bash',
      ['--norc', '-E', '-o', 'pipefail', '-c', `${trap}\n${code}`],
      options,
    );
    // A shell may end before it has read its input.
    shell.stdin.on('error', () => undefined);
    shell.stdin.end(input);
    let output = '';
    for (const stream of [shell.stdout, shell.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    }
    return new Promise((done) => {
      shell.on('close', () => {
        const failed = readFileSync(join(this.clone, 'failed'), 'utf8').split('\n');
        done({ failed: failed.filter((line) => line !== ''), output });
      });
    });
  }

  private async npm({ words, input, environment }: Question): Promise<Answer> {
    const [verb, script, dashes, ...rest] = words.filter((word) => word !== '--silent');
    const isMigrate = verb === 'run' && script === 'migrate' && dashes === undefined;
    const isCli = verb === 'run' && script === 'cli' && dashes === '--';
    if (!isMigrate && !isCli) throw new Error(`The stand-in does not know: npm ${words.join(' ')}`);
    const argv = isMigrate ? ['migrate'] : rest;
    const [command = ''] = argv;
    const service = ['migrate', 'index'].includes(command) ? 'migrate' : 'cli';
    const settings = { ...this.services.environmentOf(service), ...this.typed(environment) };
    if (command !== 'index') return this.cli(argv, settings, input);
    // `index again` starts the indexer's program, which is beside that of the cli.
    return {
      run: [process.execPath, 'dist/apps/cli/src/main.js', ...argv],
      // A container does not have the variables of the shell.
      environment: { DATABASE_URL: '', ...settings },
    };
  }

  /** The variables that the command line itself sets. */
  private typed(environment: Environment): Environment {
    const own = Object.entries(environment).filter(
      ([name, value]) =>
        /^(?:[A-Z_]+(?:URL|FILE)|STAKE_SETS?)$/.test(name) && this.environment[name] !== value,
    );
    return Object.fromEntries(own);
  }

  private async cli(
    argv: readonly string[],
    environment: Environment,
    input: string,
  ): Promise<Answer> {
    let [out, err] = ['', ''];
    const terminal = {
      out: (written: string) => void (out += written),
      err: (written: string) => void (err += written),
      ask: () => Promise.resolve('yes'),
      input: () => Promise.resolve(input),
    };
    const words = argv.map((word) => this.fileOf(word));
    const settings = Object.entries(environment).map(([name, value]) => [name, this.fileOf(value)]);
    const code = await runCli(words, terminal, () => Object.fromEntries(settings) as Environment);
    return { out, err, code };
  }

  /** The path of a file in the clone, since the cli runs in this process, which has another working directory. */
  private fileOf(word: string): string {
    const path = join(this.clone, word);
    return /^\w+(\.txt)?$/.test(word) && existsSync(path) ? path : word;
  }
}

function questionOf(text: string): Question {
  const [words = '', environment = '', input = ''] = text.split('\u001e');
  const variables = environment.split('\0').filter((line) => line !== '');
  const pairs = variables.map((line) => [
    line.slice(0, line.indexOf('=')),
    line.slice(line.indexOf('=') + 1),
  ]);
  return {
    words: words.split('\0').slice(0, -1),
    input,
    environment: Object.fromEntries(pairs) as Environment,
  };
}

function scriptOf({ out = '', err = '', code = 0, run, environment = {} }: Answer): string {
  if (run !== undefined) {
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
    return ['exec', 'env', ...[...variables, ...run].map(quoted)].join(' ');
  }
  return `printf %s ${quoted(out)}; printf %s ${quoted(err)} >&2; exit ${code}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
