export { freePort, ManagedProcess, type ProcessOptions } from './managed-process.js';
export { Watchdog, watchdog } from './watchdog.js';
