/** Continuous backups in S3, with the repository.conf of the handbook: made, listed and restored. */
import { afterAll, expect, it } from '@jest/globals';
import { codeBlocks, read } from '../partner-docs/markdown.js';
import { BackedUpServer } from './backed-up-server.js';
import { ObjectStore } from './object-store.js';

let store: ObjectStore | undefined;
let server: BackedUpServer | undefined;
afterAll(async () => {
  await server?.remove();
  await store?.stop();
});

it('are made by themselves, and have the last transaction of a server that was killed', async () => {
  const started = await ObjectStore.start();
  store = started;
  server = await BackedUpServer.start(() => repositoryOf(started));
  await server.makeBucket();
  const none = await server.script('backups.sh', 'list');
  expect([none.code, none.err]).toEqual([1, 'backups: there is no backup yet.\n']);
  await server.nextFull([]);
  const { code, out } = await server.script('backups.sh', 'list');
  expect(code).toBe(0);
  expect(out).toMatch(/cipher: aes-256-cbc/);
  await server.ask(`CREATE SCHEMA own; CREATE TABLE own.mark AS SELECT 'last' AS name`);
  await server.kill();
  await server.restore('--to', 'latest');
  expect(await server.ask('SELECT name FROM own.mark')).toBe('last');
}, 240_000);

function repositoryOf({ port, key, secret, certificate }: ObjectStore): string {
  const { code = '' } =
    codeBlocks(read('docs/operating/backup.md')).find(({ language }) => language === 'ini') ?? {};
  const values = {
    'repo1-s3-bucket': 'backups',
    'repo1-s3-endpoint': 'localhost',
    'repo1-s3-region': 'us-east-1',
    'repo1-s3-key': key,
    'repo1-s3-key-secret': secret,
    'repo1-cipher-pass': 'of-a-test-alone',
  };
  const filled = Object.entries(values).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), `${name}=${value}`),
    code,
  );
  // Settings for a store other than Amazon's.
  const where = `repo1-storage-port=${port}\nrepo1-storage-ca-file=${certificate}\n`;
  return `${filled}repo1-s3-uri-style=path\n${where}`;
}
