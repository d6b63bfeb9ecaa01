export { randomFrom } from './random-from.js';
export { type TestSeed, testSeeds } from './test-seeds.js';
