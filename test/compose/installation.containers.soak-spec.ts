import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StakingClient } from '#libs/partner-sdk';
import { shellBlocks } from '../operating/machine/shell-blocks.js';
import { Clone } from './installation/clone.js';
import {
  configure,
  containersOf,
  emptyInstallation,
  imageOf,
  type Installation,
  Notes,
  removeInstallation,
  startTrial,
} from './installation/installation.js';
import { type Credential, Load } from './installation/load.js';
import { addMigration, FAILING, setMigrations } from './installation/next-migration.js';

const REQUESTS = 10_000;
const PARTNER = 'partner create --name Arena --rate 1000 --burst 20000 --json';
const DATA = ['postgres', 'redis'];
const SERVICES = ['api', 'indexer', 'redemption', 'console'];

describe('./lowmark on a real engine', () => {
  let installation: Installation;
  let clone: Clone;
  let wallet = '';
  let credential: Credential;
  let load: Load;
  let notes: Notes;

  const note = (what: string): void => {
    notes.write(what);
  };

  /** Acts while the load continues; by default runs `words` as a command. */
  async function underLoad(
    words: string,
    act: () => Promise<unknown> = async () => clone.block(words),
  ): Promise<void> {
    const startedMs = performance.now();
    load.during = words;
    await act();
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    note(`${words}: ${seconds} s; ${load.figures()}`);
    load.during = `after ${words}`;
    expect([...load.bad]).toEqual([]);
  }

  const idsOf = (services: readonly string[]): Promise<string[]> => containersOf(clone, services);

  beforeAll(async () => {
    notes = new Notes();
    installation = await emptyInstallation();
    ({ clone } = installation);
  });

  afterAll(async () => {
    // The load is still running after a failed test.
    await (load as Load | undefined)?.stop();
    await removeInstallation(installation);
  });

  it('does not start for real without settings', async () => {
    const { code, err } = await clone.tryLowmark('up');
    expect(code).not.toBe(0);
    expect(err).toContain('CHAIN_ID');
    expect(err).toContain('./lowmark local up');
  });

  it('does not start a trial if another program has a port', async () => {
    await refusesTakenPort('local up');
    expect(await clone.lowmark('local ps --all --quiet')).toBe('');
  });

  /** Runs `./lowmark` with a port of the api at which this process listens. */
  async function refusesTakenPort(words: string): Promise<void> {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    try {
      const { code, err } = await clone.with({ API_PORT: String(port) }).tryLowmark(words);
      expect(code).not.toBe(0);
      expect(err).toContain(`another program listens at 127.0.0.1:${port}; nothing was changed.`);
    } finally {
      other.close();
    }
  }

  it('starts a trial, which leaves nothing to a real installation beside it', async () => {
    wallet = await startTrial(installation);
    note('the trial runs');
    await configure(installation);
    note('the image is built and the settings are written');
    await clone.lowmark('up');
    note('the first start is done');
    expect(JSON.parse(await clone.lowmark('cli partner list --json'))).toEqual([]);
    const ofTrial = await clone.lowmark('local secret show secrets_key');
    expect(await clone.lowmark('secret show secrets_key')).not.toBe(ofTrial);
    const mounts = await clone.docker(
      'inspect',
      '--format',
      '{{range .Mounts}}{{.Name}} {{end}}',
      ...(await idsOf([...SERVICES, ...DATA])),
    );
    expect(mounts).toContain(`${installation.project}_postgres`);
    expect(mounts).not.toContain('-local_');
  });

  it('has no package manager and no compiler in its image', async () => {
    const look = 'command -v npm npx yarn corepack; ls node_modules | grep -x typescript; true';
    const image = `${installation.project}:test`;
    expect(await clone.docker('run', '--rm', image, 'sh', '-c', look)).toBe('');
  });

  it('answers a partner through the proxy, signed', async () => {
    credential = JSON.parse(await clone.lowmark(`cli ${PARTNER}`)) as Credential;
    await readSnapshot();
    note('a snapshot is verified');
    await clone.lowmark('doctor');
  });

  /** Reads a snapshot with a verified signature, with retries until the api answers. */
  async function readSnapshot(): Promise<void> {
    const { apiUrl: baseUrl } = installation;
    const options = { baseUrl, ...credential, retries: 60, timeoutMs: 120_000 };
    const answer = await new StakingClient(options).snapshots(wallet);
    expect(answer).toMatchObject({ walletAddress: wallet });
  }

  it('serves the web pages, which reach the redemption service through the proxy', async () => {
    const { pagesUrl, redemptionUrl } = installation;
    const [own, passedOn] = await Promise.all(
      [`${redemptionUrl}/api/chain`, `${pagesUrl}/player/api/chain`].map(async (url) =>
        (await fetch(url)).json(),
      ),
    );
    expect(own).toMatchObject({ chainId: 31_337 });
    expect(passedOn).toEqual(own);
    const link = await clone.lowmark('console link --role admin');
    expect(link).toContain(`${pagesUrl}/sign-in/link#`);
  });

  it.each(['up --no-build', 'upgrade --no-build --no-backup', 'restart proxy'])(
    'goes on as it is if another program has a port: %s',
    async (words) => {
      const running = await idsOf([...SERVICES, ...DATA, 'proxy']);
      await refusesTakenPort(words);
      expect(await idsOf([...SERVICES, ...DATA, 'proxy'])).toEqual(running);
      await readSnapshot();
    },
  );

  it('drops no request while it is upgraded, its keys are replaced with restarts, and on the way back', async () => {
    load = new Load({ ...installation, wallet, credential });
    const [data, before] = [await idsOf(DATA), await imageOf(clone, 'api')];
    const dockerfile = clone.read('Dockerfile');
    clone.write('Dockerfile', `${dockerfile}LABEL lowmark.test=newer\n`);
    await underLoad('./lowmark upgrade');
    const upgraded = await imageOf(clone, 'api');
    expect(upgraded).not.toBe(before);
    expect(await imageOf(clone, 'redemption')).toBe(upgraded);
    expect(await imageOf(clone, 'console')).toBe(upgraded);
    await rotate();
    clone.write('.env', `${clone.read('.env')}API_REPLICAS=3\n`);
    await underLoad('./lowmark back');
    expect(await imageOf(clone, 'api')).toBe(before);
    expect(await imageOf(clone, 'redemption')).toBe(before);
    expect(await imageOf(clone, 'console')).toBe(before);
    clone.write('Dockerfile', dockerfile);
    expect(await idsOf(DATA)).toEqual(data);
  });

  /**
   * Rotates SECRETS_KEY and the partner's credential, as docs/operating/keys.md describes.
   */
  async function rotate(): Promise<void> {
    const blocks = shellBlocks('docs/operating/keys.md').map(({ code }) => code);
    const newKey = blocks.find((code) => code.includes('./lowmark secret set secrets_key')) ?? '';
    await underLoad('a new SECRETS_KEY before the old one', async () => clone.block(newKey));
    await clone.lowmark('cli secrets rewrap');
    load.credential = JSON.parse(
      await clone.lowmark('cli partner rotate Arena --json'),
    ) as Credential;
    const [next = ''] = (await clone.lowmark('secret show secrets_key')).trim().split(',');
    await clone.lowmark('secret set secrets_key', next);
    await underLoad('./lowmark restart api redemption console');
    const prefix = credential.apiKey.slice(0, 12);
    await clone.lowmark(`cli partner revoke Arena --key-prefix ${prefix}`);
    ({ credential } = load);
    await clone.lowmark('cli secrets status');
  }

  it('keeps the number of replicas that .env names', async () => {
    expect(await clone.containers('api')).toHaveLength(3);
    await clone.lowmark('cli partner list');
    await clone.docker('compose', 'up', '--detach', '--no-build', '--no-recreate', 'api');
    expect(await clone.containers('api')).toHaveLength(3);
  });

  it('is not touched by another clone', async () => {
    const running = await idsOf([...SERVICES, ...DATA, 'proxy']);
    const environment = { LOWMARK_IMAGE: `${installation.project}:test` };
    const ofSameName = await Clone.make(
      `${dirname(clone.folder)}/other/${installation.project}`,
      environment,
    );
    ofSameName.write('.env', clone.read('.env'));
    const refused = await ofSameName.tryLowmark('up');
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain('COMPOSE_PROJECT_NAME');
    const second = await Clone.make(
      `${dirname(clone.folder)}/${installation.project}-second`,
      environment,
    );
    second.write('.env', clone.read('.env'));
    // Three projects need more networks than an engine offers by default. The trial needs most of its networks no
    // longer.
    const ofTrial = `label=com.docker.compose.project=${installation.project}-local`;
    await clone.docker('network', 'prune', '--force', '--filter', ofTrial);
    try {
      await second.lowmark('migrate');
      expect(await second.containers('postgres')).toHaveLength(1);
    } finally {
      await second.lowmark('down --volumes');
    }
    expect(await idsOf([...SERVICES, ...DATA, 'proxy'])).toEqual(running);
  });

  it('goes on as it is where the migration of an upgrade fails', async () => {
    const running = await idsOf([...SERVICES, ...DATA]);
    const migrations = addMigration(clone, FAILING);
    load.during = 'an upgrade whose migration fails';
    const { code, err } = await clone.tryLowmark('upgrade');
    setMigrations(clone, migrations);
    expect(code).not.toBe(0);
    expect(err).toContain('the migration failed');
    expect(await idsOf([...SERVICES, ...DATA])).toEqual(running);
    await load.until(REQUESTS);
    await load.stop();
    note(load.figures());
    expect([...load.bad]).toEqual([]);
    expect(load.snapshots).toBeGreaterThanOrEqual(REQUESTS);
    // The migration is mended, and the command run again.
    await clone.lowmark('upgrade --no-backup');
    await clone.lowmark('doctor');
  });

  it('answers 503 at most while the api’s password of the database is rotated, as the page says', async () => {
    const page = shellBlocks('docs/operating/keys.md').map(({ code }) => code);
    const rotation = page.find((code) => code.includes('show api_database_url')) ?? '';
    const [ofApi = ''] = rotation.split('# the owner');
    load = new Load({ ...installation, wallet, credential });
    load.during = 'rotation';
    await clone.block(ofApi);
    await load.until(load.snapshots + 500);
    await load.stop();
    note(load.figures());
    expect([...load.bad.keys()].filter((what) => !what.includes('snapshots 503'))).toEqual([]);
    await readSnapshot();
  });

  it('says which file of a secret may not be read, and which key is missing, and goes on as it is', async () => {
    const running = await idsOf(SERVICES);
    await inVolume('secrets', 'chmod 0 evidence_key && chown 0 evidence_key');
    const unreadable = await clone.tryLowmark('restart api');
    await inVolume('secrets', 'chown 1000 evidence_key && chmod 400 evidence_key');
    expect(unreadable.code).not.toBe(0);
    expect(unreadable.err).toContain(
      'secrets/evidence_key cannot be read: it belongs to user 0 with mode 0',
    );
    expect(unreadable.err).toContain('nothing was changed');

    await inVolume('signer', 'mv voucher_signer_key kept');
    const missing = await clone.tryLowmark('restart redemption');
    await inVolume('signer', 'mv kept voucher_signer_key');
    expect(missing.code).not.toBe(0);
    expect(missing.err).toContain('./lowmark secret set voucher_signer_key');
    expect(missing.err).toContain('The old ones go on.');
    expect(await idsOf(SERVICES)).toEqual(running);
  });

  /** Runs shell commands in a volume of the installation, as root. */
  async function inVolume(name: string, commands: string): Promise<void> {
    const volume = `${installation.project}_${name}:/volume`;
    const image = `${installation.project}:test`;
    const words = ['run', '--rm', '--user', '0', '--workdir', '/volume', '--volume', volume];
    await clone.docker(...words, image, 'sh', '-e', '-c', commands);
  }

  it('says that an image cannot be pulled, and goes on as it is', async () => {
    const running = await idsOf(SERVICES);
    const environment = { LOWMARK_PULL: 'always', LOWMARK_IMAGE: '127.0.0.1:1/lowmark:newer' };
    const { code, err } = await clone.with(environment).tryLowmark('upgrade --no-backup');
    expect(code).not.toBe(0);
    expect(err).toContain('there is no new image; nothing was changed.');
    expect(await idsOf(SERVICES)).toEqual(running);
  });

  it('says after a restart that the chain does not answer', async () => {
    const network = `${installation.project}-local_chain-out`;
    const chain = (await clone.lowmark('local ps --quiet chain')).trim();
    await clone.docker('network', 'disconnect', network, chain);
    const { code, err } = await clone.tryLowmark('restart redemption');
    await clone.docker('network', 'connect', '--alias', 'chain', network, chain);
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringMatching(/redemption: RPC_URLS/),
    });
    await readSnapshot();
  });

  it('gives PostgreSQL the memory of a large index, as the page on scaling has it', async () => {
    const blocks = shellBlocks('docs/operating/scaling.md').map(({ code }) => code);
    await clone.block(blocks.find((code) => code.includes('shared_buffers')) ?? '');
    const settings = ['shared_buffers', 'max_wal_size', 'checkpoint_timeout'];
    const shown = await clone.docker(
      ...['compose', 'exec', '--no-TTY', 'postgres', 'psql', '-U', 'lowmark', '-At'],
      ...settings.flatMap((name) => ['-c', `SHOW ${name}`]),
    );
    expect(shown.split('\n')).toEqual(['4GB', '16GB', '30min']);
    await readSnapshot();
    await clone.lowmark('doctor');
  });

  it('refuses what a trial of an earlier version left', async () => {
    const volume = `${installation.project}_chain`;
    const image = `${installation.project}:test`;
    const words = ['run', '--rm', '--user', '0', '--volume', `${volume}:/chain`, image];
    await clone.docker(...words, 'sh', '-c', 'echo PRICE_SOURCE=fixed:0.15 > /chain/local.env');
    const { code, err } = await clone.tryLowmark('up');
    await clone.docker('volume', 'rm', volume);
    expect(code).not.toBe(0);
    expect(err).toContain('an earlier trial on a local chain left its settings');
  });
});
