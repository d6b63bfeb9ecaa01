import { BackedUpServer } from './backed-up-server.js';
import { describeContinuousBackups } from './continuous-backups.support-spec.js';

const ENCRYPTED = 'repo1-cipher-type=aes-256-cbc\nrepo1-cipher-pass=of-a-test-alone\n';
/** The operator's, in place of the default of 30 days, which the repository in S3 has. */
const RETENTION = 'repo1-retention-full-type=count\nrepo1-retention-full=9\n';

describeContinuousBackups('on a disk', () =>
  BackedUpServer.start((folder) => `[global]\nrepo1-path=${folder}\n${ENCRYPTED}${RETENTION}`),
);
