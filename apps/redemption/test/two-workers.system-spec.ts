import { describeTwoWorkers } from './two-workers.support-spec.js';

describeTwoWorkers(200);
