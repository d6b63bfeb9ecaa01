import { describeDatabaseRestart } from './database-restart.support-spec.js';

describeDatabaseRestart(1);
