export { Choices, type Script } from './choices.js';
export {
  DeviationError,
  firstFailure,
  runOnce,
  type RunResult,
  seedsFrom,
  type Simulation,
  type World,
} from './run.js';
export * from './scheduler.js';
export { shrink } from './shrink.js';
