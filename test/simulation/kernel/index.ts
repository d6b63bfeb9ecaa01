export { Choices, type Script, seededRandom } from './choices.js';
export { failureReport } from './report.js';
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
export { shrink, type ShrinkLimits } from './shrink.js';
export { Trace } from './trace.js';
