export { runCli, type Terminal } from './run-cli.js';
