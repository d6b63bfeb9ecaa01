/** Runs the tests with the repository.conf of the handbook. */
import { afterAll } from '@jest/globals';
import { codeBlocks, read } from '../partner-docs/markdown.js';
import { BackedUpServer } from './backed-up-server.js';
import { describeContinuousBackups } from './continuous-backups.support-spec.js';
import { ObjectStore } from './object-store.js';

let store: ObjectStore | undefined;
afterAll(() => store?.stop());

describeContinuousBackups('in S3', async () => {
  const started = await ObjectStore.start();
  store = started;
  const server = await BackedUpServer.start(() => repositoryOf(started));
  await server.makeBucket();
  return server;
});

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
