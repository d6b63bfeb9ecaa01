export { eventually } from './eventually.js';
export { FakeClock } from './fake-clock.js';
