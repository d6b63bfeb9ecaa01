/**
 * A container engine for tests: a running one, or one that the tests start with its own socket, data folder and pid
 * file.
 */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from './packages.mjs';
import { capture, run, succeeds } from './run.mjs';

/** Keeps images between runs. The path is short, since the path of a socket has at most 108 bytes. */
const FOLDER = process.env.LOWMARK_ENGINE_DIRECTORY ?? join(tmpdir(), 'lowmark-engine');
const SOCKET = join(FOLDER, 'docker.sock');
const PID_FILE = join(FOLDER, 'dockerd.pid');
const LOG_FILE = join(FOLDER, 'dockerd.log');
const START_MS = 60_000;
const STOP_MS = 60_000;

export class EngineMissing extends Error {}

/**
 * Finds an engine with compose, or starts one.
 *
 * @param install whether missing packages may be installed
 * @returns the environment variables with which `docker` finds the engine, and whether this call started it
 * @throws EngineMissing with the reason why there is none
 */
export async function findEngine({ install = false } = {}) {
  const variables = answering();
  if (variables !== undefined && hasPlugins()) return { variables, started: false };
  if (process.getuid() !== 0)
    throw new EngineMissing('No engine answers; only root can start one.');
  if (install) {
    try {
      installPackages();
    } catch (error) {
      throw new EngineMissing(`The packages of an engine cannot be installed. ${error.message}`);
    }
  }
  if (!hasPlugins()) throw new EngineMissing('`docker compose` or `docker buildx` is missing.');
  const now = answering();
  if (now !== undefined) return { variables: now, started: false };
  await startEngine();
  const ours = { DOCKER_HOST: `unix://${SOCKET}` };
  removeLeftovers(ours);
  return { variables: ours, started: true };
}

/** Stops the engine that findEngine started; its images stay. */
export async function stopEngine() {
  const pid = ownPid();
  if (pid === undefined) return;
  process.kill(pid, 'SIGTERM');
  const deadline = Date.now() + STOP_MS;
  while (ownPid() !== undefined && Date.now() < deadline) await sleep(100);
  if (ownPid() !== undefined) throw new Error(`dockerd (${pid}) does not end; see ${LOG_FILE}`);
}

function answering() {
  const candidates = [{}, { DOCKER_HOST: `unix://${SOCKET}` }];
  return candidates.find((variables) =>
    succeeds('docker', ['info', '--format', '{{.ID}}'], variables),
  );
}

function hasPlugins() {
  return succeeds('docker', ['compose', 'version']) && succeeds('docker', ['buildx', 'version']);
}

async function startEngine() {
  mkdirSync(FOLDER, { recursive: true, mode: 0o711 });
  const log = openSync(LOG_FILE, 'a');
  const daemon = spawn(
    'dockerd',
    [
      ['--host', `unix://${SOCKET}`],
      ['--data-root', join(FOLDER, 'data')],
      ['--exec-root', join(FOLDER, 'exec')],
      ['--pidfile', PID_FILE],
      // The default address pools hold 31 networks, fewer than two installations use.
      ['--default-address-pool', 'base=10.213.0.0/16,size=24'],
    ].flat(),
    { detached: true, stdio: ['ignore', log, log] },
  );
  closeSync(log);
  let ended = false;
  daemon.once('error', () => (ended = true));
  daemon.once('exit', () => (ended = true));
  daemon.unref();
  const variables = { DOCKER_HOST: `unix://${SOCKET}` };
  const deadline = Date.now() + START_MS;
  while (!succeeds('docker', ['info'], variables)) {
    if (ended || Date.now() > deadline) {
      throw new EngineMissing(`dockerd does not start. The end of ${LOG_FILE}:\n${endOfLog()}`);
    }
    await sleep(200);
  }
}

/** Removes what killed tests left behind, which would otherwise start with the engine each time. */
function removeLeftovers(variables) {
  const list = (...words) => run('docker', words, { environment: variables }).split('\n');
  const project = '{{.Label "com.docker.compose.project"}}';
  for (const [kind, id] of [
    ['container', '{{.ID}}'],
    ['volume', '{{.Name}}'],
    ['network', '{{.ID}}'],
  ]) {
    const all = kind === 'container' ? ['--all'] : [];
    const rows = list(kind, 'ls', ...all, '--format', `${project} ${id}`);
    const ids = rows
      .filter((row) => row.startsWith('lowmark-test-'))
      .map((row) => row.split(' ')[1]);
    const force = kind === 'network' ? [] : ['--force'];
    if (ids.length > 0) run('docker', [kind, 'rm', ...force, ...ids], { environment: variables });
  }
}

function endOfLog() {
  return existsSync(LOG_FILE)
    ? readFileSync(LOG_FILE, 'utf8').trim().split('\n').slice(-5).join('\n')
    : '';
}

/** The pid of the daemon that `findEngine` started; undefined where it does not run. */
function ownPid() {
  if (!existsSync(PID_FILE)) return undefined;
  const pid = Number(readFileSync(PID_FILE, 'utf8'));
  const { stdout } = capture('ps', ['-o', 'comm=', '-p', String(pid)]);
  return stdout.trim() === 'dockerd' ? pid : undefined;
}
