export { type TestSeed, testSeeds } from './test-seeds.js';
