import { BackedUpServer } from './backed-up-server.js';
import { describeContinuousBackups } from './continuous-backups.support-spec.js';

const ENCRYPTED = 'repo1-cipher-type=aes-256-cbc\nrepo1-cipher-pass=of-a-test-alone\n';
/** Retention set by the operator, in place of the default of 30 days, which the tests in S3 use. */
const RETENTION = 'repo1-retention-full-type=count\nrepo1-retention-full=9\n';

describeContinuousBackups('on a disk', () =>
  BackedUpServer.start((folder) => `[global]\nrepo1-path=${folder}\n${ENCRYPTED}${RETENTION}`),
);
