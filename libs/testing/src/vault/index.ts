export { type Outcome, VaultBench } from './vault-bench.js';
