export { freePort, ManagedProcess } from './managed-process.js';
export { watchdog } from './watchdog.js';
