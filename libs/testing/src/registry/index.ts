export { TestRegistry } from './test-registry.js';
