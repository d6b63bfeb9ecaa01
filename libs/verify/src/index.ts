export { runCli, type Terminal } from './cli/run-cli.js';
