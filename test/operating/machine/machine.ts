/**
 * An operator's machine as the pages describe it, without a container engine. `docker`, `kubectl`, `npm` and others are
 * stand-ins that ask this class. Programs that would run in a container run on this machine, with the environment of
 * docker-compose.yml: the cli in this process, the tools of PostgreSQL and the indexer as programs. Commands that need
 * an engine are only checked against docker-compose.yml and the manifests; `CHECKED_ONLY` lists these commands with the
 * reasons.
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
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { compileCache } from '#libs/testing';
import { runCli } from '../../../apps/cli/src/cli.js';
import { composeCommand } from './compose-command.js';
import { type Containers, type Environment } from './containers.js';
import { kubectlCommand } from './kubectl-command.js';

export interface Question {
  readonly name: string;
  readonly words: readonly string[];
  readonly input: string;
  readonly environment: Environment;
}

export interface Answer {
  readonly out?: string;
  readonly err?: string;
  readonly code?: number;
  /** A command that replaces the stand-in and keeps its standard streams. */
  readonly run?: readonly string[];
  readonly environment?: Environment;
}

/** Commands that are only checked, with the reasons. A test demands that each entry is needed. */
export const CHECKED_ONLY = {
  'docker compose build': 'needs an engine',
  'docker compose exec backups':
    'needs pgBackRest beside PostgreSQL; test/backups runs the scripts, and they are looked up here',
  'docker compose down': 'needs an engine; stops the indexer and empties the database here',
  'docker compose kill': 'needs an engine; the service is looked up',
  'docker compose logs': 'needs an engine; the services are looked up',
  'docker compose ps': 'needs an engine',
  'docker compose restart': 'needs an engine; the services are looked up',
  'docker compose stop': 'needs an engine; stops the indexer here, and looks the services up',
  'docker compose up':
    'needs an engine; migrates and starts the indexer here, counts replicas, and looks the services up',
  'docker tag': 'needs an engine; the image is looked up',
  'git pull': 'there is nothing to pull; it would change the clone under test',
  kubectl:
    'needs a cluster; deployments, jobs and secrets are looked up in deploy/kubernetes, and what `exec` runs is run',
  'npm ci':
    'would install into the clone under test; .ci/run runs it, and the Dockerfile with options',
  'npm prune': 'would remove what the tests run on',
  'npm run start:':
    'servers; test/restarts, test/stack and console-by-hand.system-spec.ts start them, and the script is looked up',
  'node apps/web/build.mjs':
    'would delete the pages under test; npm test builds them before the tests',
  'npx nest build': 'would delete the build under test; npm test runs it before the tests',
  'cast call': 'is no tool of ours; the function is looked up in the vault',
} as const;
type CheckedOnly = keyof typeof CHECKED_ONLY;

/** The result of a block. */
export interface Typed {
  /** The commands that ended with a code other than 0. */
  readonly failed: readonly string[];
  readonly output: string;
}

/**
 * Asks the machine what to do and evaluates the answer as a script. The question holds the words, the environment and,
 * where a word is `-`, the input.
 */
const STAND_IN = `#!/bin/bash
ask() { printf '%s\\0' NAME "$@"; printf '\\036'; env -0; printf '\\036'; [[ " $* " != *" - "* ]] || cat; }
eval "$(ask "$@" | curl -s --data-binary @- "$MACHINE_URL")"
`;
const STAND_INS = ['docker', 'kubectl', 'npm', 'npx', 'git', 'cast', 'node'];

export class Machine {
  readonly checked = new Set<CheckedOnly>();

  private constructor(
    /** The folder in which the commands run. */
    readonly clone: string,
    readonly containers: Containers,
    private readonly server: Server,
    private readonly environment: Environment,
  ) {}

  static async start(containers: Containers): Promise<Machine> {
    const clone = await mkdtemp(join(tmpdir(), 'lowmark-clone-'));
    for (const name of ['dist', 'deploy', 'lowmark']) symlinkSync(resolve(name), join(clone, name));
    mkdirSync(join(clone, 'bin'));
    for (const name of STAND_INS) {
      writeFileSync(join(clone, 'bin', name), STAND_IN.replace('NAME', name));
      chmodSync(join(clone, 'bin', name), 0o755);
    }
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const port = String((server.address() as AddressInfo).port);
    const path = `${join(clone, 'bin')}:${containers.postgres.tools}:${process.env['PATH'] ?? ''}`;
    const owner = { DATABASE_URL: containers.postgres.url };
    const environment = {
      ...compileCache(),
      PATH: path,
      MACHINE_URL: `http://127.0.0.1:${port}`,
      ...owner,
    };
    const machine = new Machine(clone, containers, server, environment);
    server.on('request', (request, response) => {
      void text(request)
        .then(async (question) => machine.answer(questionOf(question)))
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

  /** Records that a command of the table was met. */
  checkOnly(entry: CheckedOnly, out = ''): Answer {
    this.checked.add(entry);
    return { out };
  }

  /** Runs a command in the environment of a service. */
  async inContainer(
    service: string,
    words: readonly string[],
    { input, added = {} }: { readonly input: string; readonly added?: Environment },
  ): Promise<Answer> {
    const environment = { ...this.containers.environmentOf(service), ...added };
    const cli = words.indexOf('dist/apps/cli/src/main.js');
    const isCli = words.slice(1, cli).every((word) => word.startsWith('--env-file'));
    // `index again` starts the indexer's program, which is beside that of the cli.
    if (words[0] === 'node' && cli > 0 && isCli && words[cli + 1] !== 'index')
      return this.cli(words.slice(cli + 1), environment, input);
    return {
      run: this.containers.wordsHere(words),
      // A container does not have the variables of the shell.
      environment: { DATABASE_URL: '', ...environment, PATH: this.containers.path },
    };
  }

  private async answer(question: Question): Promise<Answer> {
    const { name, words, input } = question;
    if (name === 'docker') return composeCommand(this, words, input);
    if (name === 'kubectl') return kubectlCommand(this, words, input);
    if (name === 'npm') return this.npm(question);
    if (name === 'node') return this.node(question);
    const line = [name, ...words].join(' ');
    if (line === 'npx nest build') return this.checkOnly(line);
    if (line === 'git pull') return this.checkOnly(line);
    if (line.startsWith('cast call --block finalized VAULT status(bytes32)(uint8) 0x')) {
      return this.checkOnly('cast call', this.containers.hasVaultFunction('status', ['bytes32']));
    }
    throw new Error(`No stand-in knows: ${line}`);
  }

  private async npm({ words, input, environment }: Question): Promise<Answer> {
    const [verb = '', ...rest] = words.filter((word) => word !== '--silent');
    if (verb === 'ci' || verb === 'prune') return this.checkOnly(`npm ${verb}`);
    const [script = '', ...more] = rest;
    if (verb !== 'run' || !this.containers.hasScript(script))
      throw new Error(`No script: ${script}`);
    if (script.startsWith('start:')) return this.checkOnly('npm run start:');
    const typed = this.typed(environment);
    if (script === 'migrate')
      return this.cli(['migrate'], { ...this.containers.environmentOf('migrate'), ...typed }, '');
    if (script === 'cli' && more[0] === '--') {
      const service = more[1] === 'migrate' ? 'migrate' : 'cli';
      return this.cli(
        more.slice(1),
        { ...this.containers.environmentOf(service), ...typed },
        input,
      );
    }
    throw new Error(`No stand-in knows: npm run ${script}`);
  }

  private async node({ words, input }: Question): Promise<Answer> {
    const program = words.find((word) => !word.startsWith('--')) ?? '';
    if (program === 'apps/web/build.mjs') return this.checkOnly('node apps/web/build.mjs');
    const service = /^dist\/apps\/(\w+)\/src\/main\.js$/.exec(program)?.[1];
    if (service === 'cli')
      return this.inContainer(words[1] === 'migrate' ? 'migrate' : 'cli', ['node', ...words], {
        input,
      });
    if (service === 'indexer') {
      await this.containers.startIndexer();
      return {};
    }
    return { run: [process.execPath, ...words], environment: { PATH: this.containers.path } };
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
  const [name = '', ...rest] = words.split('\0').slice(0, -1);
  const variables = environment.split('\0').filter((line) => line !== '');
  const pairs = variables.map((line) => [
    line.slice(0, line.indexOf('=')),
    line.slice(line.indexOf('=') + 1),
  ]);
  return { name, words: rest, input, environment: Object.fromEntries(pairs) as Environment };
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
