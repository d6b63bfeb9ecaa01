import { BackedUpServer } from './backed-up-server.js';
import { describeContinuousBackups } from './continuous-backups.support-spec.js';

const ENCRYPTED = 'repo1-cipher-type=aes-256-cbc\nrepo1-cipher-pass=of-a-test-alone\n';

describeContinuousBackups('on a disk', () =>
  BackedUpServer.start((folder) => `[global]\nrepo1-path=${folder}\n${ENCRYPTED}`),
);
