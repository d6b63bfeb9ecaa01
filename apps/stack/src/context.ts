import { type Clock } from '#libs/platform';
import { type Closers } from './closers.js';
import { type StackFileStore } from './data/stack-file.js';
import { type Screen } from './screen/screen.js';
import { type StackSettings } from './stack.env.js';

/** What every step of the start needs. */
export interface StackContext {
  readonly settings: StackSettings;
  readonly clock: Clock;
  readonly screen: Screen;
  readonly closers: Closers;
  readonly file: StackFileStore;
  /** Paths, relative to the clone. */
  readonly paths: { readonly postgres: string; readonly chain: string; readonly logs: string };
  /** Says that the stack has to end, because of a signal or because a part of it died. */
  readonly signal: AbortSignal;
  /** Reports that a part died; the first report ends the stack. */
  readonly died: (report: string) => void;
}
