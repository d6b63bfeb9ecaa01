export { freePort } from './free-port.js';
export { ManagedProcess, type ProcessOptions } from './managed-process.js';
export { Watchdog, watchdog } from './watchdog.js';
