/**
 * A real installation on the chain of a trial in the same clone. Its settings are those of production, except for the
 * chain and the price.
 */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '#libs/devprocess';
import { Clone } from './clone.js';

/** Settings of a trial that describe its chain. */
const OF_THE_CHAIN =
  /^(CHAIN_ID|STAKE_\w+|TOKEN_CONTRACT|VAULT_CONTRACT|VAULT_START_BLOCK|PRICE_\w+)=/;

/** Connects the services to the chain as to an operator's node on the same machine. */
const OVERRIDE = `services:
  indexer: { networks: [node] }
  redemption: { networks: [node] }
  cli: { networks: [node] }
networks:
  node: { name: NETWORK, external: true }
`;

export interface Installation {
  readonly clone: Clone;
  /** Name of the compose project. The trial's project has the suffix `-local`. */
  readonly project: string;
  readonly apiUrl: string;
  readonly redemptionUrl: string;
  readonly pagesUrl: string;
  readonly tlsPort: number;
}

/**
 * Makes a clone in an empty folder without starting anything. @param commit version of the clone; by default this
 * working tree
 */
export async function emptyInstallation(commit?: string): Promise<Installation> {
  const project = `lowmark-test-${randomBytes(3).toString('hex')}`;
  const ports = await Promise.all(Array.from({ length: 5 }, freePort));
  const [api = 0, redemption = 0, pages = 0, https = 0, chain = 0] = ports;
  const environment = {
    LOWMARK_IMAGE: `${project}:test`,
    API_PORT: String(api),
    REDEMPTION_PORT: String(redemption),
    CONSOLE_PORT: String(pages),
    HTTPS_PORT: String(https),
    CHAIN_PORT: String(chain),
  };
  const clone = await Clone.make(join(tmpdir(), project, project), environment, commit);
  return {
    clone,
    project,
    apiUrl: `http://127.0.0.1:${api}`,
    redemptionUrl: `http://127.0.0.1:${redemption}`,
    pagesUrl: `http://127.0.0.1:${pages}`,
    tlsPort: https,
  };
}

/** Starts a trial, and keeps only its services that mine blocks. @returns the wallet of a staker */
export async function startTrial({ clone }: Installation): Promise<string> {
  const { code, err } = await clone.tryLowmark('local up');
  if (code !== 0 || !err.includes('Next: ./lowmark local doctor')) throw new Error(err);
  await clone.lowmark('local rm --stop --force proxy api redemption console indexer');
  // `partner` is stopped but not removed: another service depends on its container, and `down` would fail later.
  await clone.lowmark('local stop partner');
  const log = await clone.lowmark('local logs --no-log-prefix activity');
  const wallet = /a wallet that stakes: (0x[0-9a-f]{40})/.exec(log)?.[1];
  if (wallet === undefined) throw new Error(`The trial names no wallet:\n${log}`);
  return wallet;
}

/** Writes .env and sets the key that signs vouchers, as an operator does before the first start. */
export async function configure({ clone, project }: Installation): Promise<void> {
  const ofTrial = await clone.lowmark('local exec -T activity cat /run/lowmark/chain/local.env');
  const chain = ofTrial.split('\n').filter((line) => OF_THE_CHAIN.test(line));
  const settings = ['NODE_ENV=staging', 'RPC_URLS=http://chain:8545', 'SIWE_DOMAINS=app.example'];
  clone.write('.env', [...settings, ...chain, ''].join('\n'));
  clone.write(
    'docker-compose.override.yml',
    OVERRIDE.replace('NETWORK', `${project}-local_chain-out`),
  );
  const key = await clone.lowmark('local secret show voucher_signer_key');
  await clone.lowmark('build');
  await clone.lowmark('secret set voucher_signer_key', key);
}

/** Removes everything, including what a failed test left behind. */
export async function removeInstallation({ clone, project }: Installation): Promise<void> {
  for (const words of ['down --volumes --remove-orphans', 'local down --volumes']) {
    await clone.tryLowmark(words);
  }
  // Compose leaves volumes behind that the current settings do not use.
  const ofProject = `label=com.docker.compose.project=${project}`;
  const volumes = await clone.docker('volume', 'ls', '--quiet', '--filter', ofProject);
  for (const name of volumes.split('\n').filter((line) => line !== '')) {
    await clone.docker('volume', 'rm', name).catch(() => '');
  }
  const images = ['test', 'before'].map((tag) => `${project}:${tag}`);
  for (const image of [...images, `${project}-postgres:test`, `${project}-newer:test`]) {
    await clone.docker('image', 'rm', image).catch(() => '');
  }
  await rm(dirname(clone.folder), { recursive: true, force: true });
}

/** The running containers of services, sorted. */
export async function containersOf(clone: Clone, services: readonly string[]): Promise<string[]> {
  return (await Promise.all(services.map((name) => clone.containers(name)))).flat().sort();
}

/** The image of all replicas of a service. @throws Error where they differ */
export async function imageOf(clone: Clone, service: string): Promise<string> {
  const ids = await clone.containers(service);
  const images = await clone.docker('inspect', '--format', '{{.Image}}', ...ids);
  const [image = '', ...others] = new Set(images.split('\n'));
  if (others.length > 0) throw new Error(`${service} runs ${images}`);
  return image;
}

/** Writes progress lines to the terminal, with the seconds since the start. */
export class Notes {
  private readonly begunMs = performance.now();

  write(what: string): void {
    const seconds = ((performance.now() - this.begunMs) / 1000).toFixed(0).padStart(5);
    process.stderr.write(`${seconds} s  ${what}\n`);
  }
}
