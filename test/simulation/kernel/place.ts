import { AsyncLocalStorage } from 'node:async_hooks';
import { type Scheduler, type SimulatedProcess } from './scheduler.js';

/** Where code runs: in a simulated world, and in one of its processes. Code outside of worlds has no place. */
export interface Place {
  readonly scheduler: Scheduler;
  readonly process: SimulatedProcess | undefined;
}

export const place = new AsyncLocalStorage<Place | undefined>();
