import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { watchdog } from '#libs/devprocess';
import { withTimeout } from '#libs/platform';
import { DevRpc } from './json-rpc.js';

export interface DevChainOptions {
  /** Default: a random id, so that a client of another chain notices at once. */
  readonly chainId?: number;
  /** Timestamp of block 0, Unix seconds. Ignored where `stateFile` is given. */
  readonly genesisSeconds?: number;
  /** Number of unlocked accounts; default 10. */
  readonly accounts?: number;
  /** A state of `saveChainState`, from which the chain continues with the same blocks, hashes, receipts and logs. */
  readonly stateFile?: string;
  /** Lets every address send transactions, not only the unlocked accounts. */
  readonly autoImpersonate?: boolean;
  /** Distance of the block `finalized` from the newest block, in blocks; even, at least 2; default 64. */
  readonly finalityDepth?: number;
  /** The Ethereum upgrade whose rules apply; default `cancun`, for which our contracts are compiled. */
  readonly hardfork?: 'london' | 'shanghai' | 'cancun' | 'prague';
}

export interface DevChainExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of anvil's output. */
  readonly tail: string;
}

/** A running local chain that mines only on request. */
export interface DevChain {
  /** Loopback URL, with a port that the system assigned. */
  readonly url: string;
  readonly chainId: number;
  readonly pid: number;
  readonly rpc: DevRpc;
  readonly exited: Promise<DevChainExit>;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 10_000;

/** Path of the anvil program that npm installed for this machine. */
function anvilPath(): string {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  const machine = `${process.platform}-${cpu}`;
  const file = process.platform === 'win32' ? 'anvil.exe' : 'anvil';
  const fromAnvil = createRequire(
    createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'),
  );
  try {
    return fromAnvil.resolve(`@foundry-rs/anvil-${machine}/bin/${file}`);
  } catch (cause) {
    throw new Error(`@foundry-rs/anvil has no program for ${machine}; run "npm ci"`, { cause });
  }
}

/**
 * Starts anvil and returns once anvil answers with the right chain id. Anvil ends with `stop()`, and also when this
 * process ends in any way.
 */
export async function launchDevChain(options: DevChainOptions = {}): Promise<DevChain> {
  const chainId = options.chainId ?? randomInt(1_000_000, 2 ** 31);
  // Anvil stores states of older blocks on disk, by default in the home folder, and leaves them there when killed.
  const states = mkdtempSync(join(tmpdir(), 'lowmark-anvil-'));
  const child = spawn(anvilPath(), [...argumentsOf(options, chainId), '--cache-path', states], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid !== undefined) watchdog().add(pid);
  const output = new Tail(child);
  const exited = new Promise<DevChainExit>((resolve) => {
    child.on('error', (error) => {
      resolve({ code: null, signal: null, tail: error.message });
    });
    child.on('exit', (code, signal) => {
      if (pid !== undefined) watchdog().remove(pid);
      rmSync(states, { recursive: true, force: true });
      resolve({ code, signal, tail: output.text });
    });
  });
  try {
    const url = await listeningUrl(output, exited);
    const rpc = new DevRpc(url);
    const answered = Number(await rpc.call<string>('eth_chainId'));
    if (answered !== chainId) {
      throw new Error(
        `${url} is a chain with id ${answered}, not the one just started (${chainId})`,
      );
    }
    const stop = async (): Promise<void> => {
      rpc.close();
      await end(child, exited);
    };
    return { url, chainId, pid: pid ?? 0, rpc, exited, stop };
  } catch (error) {
    await end(child, exited);
    throw error;
  }
}

function argumentsOf(options: DevChainOptions, chainId: number): string[] {
  const {
    accounts = 10,
    finalityDepth = 64,
    hardfork = 'cancun',
    genesisSeconds,
    stateFile,
  } = options;
  // With a loaded state anvil accepts no timestamp before its own start, unless an older first timestamp is given.
  const firstSeconds = stateFile === undefined ? genesisSeconds : 1;
  return [
    ...['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId)],
    ...['--no-mining', '--order', 'fifo', '--accounts', String(accounts)],
    // Gas is free, so that any address can send a transaction without holding ether.
    ...['--gas-price', '0', '--block-base-fee-per-gas', '0', '--gas-limit', '1000000000'],
    // From Prague on, every block writes its parent's hash to the state, which makes anvil slower with every block.
    ...['--hardfork', hardfork, '--max-persisted-states', '20000'],
    ...['--slots-in-an-epoch', String(finalityDepth / 2), '--no-request-size-limit'],
    ...(options.autoImpersonate === true ? ['--auto-impersonate'] : []),
    ...(stateFile === undefined ? [] : ['--load-state', stateFile]),
    ...(firstSeconds === undefined ? [] : ['--timestamp', String(firstSeconds)]),
  ];
}

async function listeningUrl(output: Tail, exited: Promise<DevChainExit>): Promise<string> {
  const died = exited.then(({ code, signal, tail }) => {
    throw new Error(`anvil ended with ${String(signal ?? code)} before it was ready: ${tail}`);
  });
  const listening = Promise.race([output.match(/Listening on (127\.0\.0\.1:\d+)/), died]);
  const address = await withTimeout(START_LIMIT_MS, listening, () => {
    throw new Error(`anvil did not start within ${START_LIMIT_MS / 1000} s: ${output.text}`);
  });
  return `http://${address}`;
}

async function end(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(timer);
}

/** Reads the output of a child process, keeps the end of it, and can wait for a line. */
class Tail {
  text = '';
  #watch: ((text: string) => void) | undefined;

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.text = (this.text + chunk).slice(-8_000);
        this.#watch?.(this.text);
      });
    }
  }

  match(pattern: RegExp): Promise<string> {
    return new Promise((resolve) => {
      this.#watch = (text) => {
        const found = pattern.exec(text)?.[1];
        if (found === undefined) return;
        this.#watch = undefined;
        resolve(found);
      };
      this.#watch(this.text);
    });
  }
}

/**
 * Writes the current chain to a file for `launchDevChain({ stateFile })`: blocks, receipts and logs with their hashes,
 * and the newest state. Older states are lost, so `eth_call` at an older block fails after a restart. The file is
 * written atomically.
 */
export async function saveChainState(chain: DevChain, file: string): Promise<void> {
  const packed = await chain.rpc.call<string>('anvil_dumpState');
  const state = await promisify(gunzip)(Buffer.from(packed.slice(2), 'hex'));
  const unfinished = `${file}.part`;
  const handle = await open(unfinished, 'w');
  try {
    await handle.writeFile(state);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}
