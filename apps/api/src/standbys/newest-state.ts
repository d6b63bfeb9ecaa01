import { type IndexRead, type SnapshotState } from '#libs/db';

interface Taken {
  readonly text: string;
  readonly state: SnapshotState;
  readonly server: object;
  readonly turn: number;
}

/**
 * The newest state of the index from which this process answered. Standbys replay the primary's log at their own pace,
 * so one may show an older state than another showed before. A state is used only where it is certainly not older than
 * the newest one. See docs/decisions/0008.
 */
export class NewestState {
  private newest: Taken | undefined;
  private turn = 0;

  get state(): SnapshotState | undefined {
    return this.newest?.state;
  }

  /** Called before a read begins; `admit` and `take` get the result as `begun`. */
  begin(): number {
    return this.turn;
  }

  /**
   * Checks a state that was read from a standby.
   * @param server the same object while the standby stays connected
   * @returns the state, or undefined where it may be older than the newest one
   */
  admit(read: IndexRead, server: object, begun: number): SnapshotState | undefined {
    const { newest } = this;
    if (newest?.text === read.stateText) return newest.state;
    // A server does not go back: a read from the server of the newest state, begun after that state was taken, is not
    // older.
    const isLater = newest?.server === server && newest.turn <= begun;
    if (newest !== undefined && !isLater && !isAhead(read.state, newest.state)) return undefined;
    return this.set(read, server);
  }

  /** Takes a state that was read from the primary, which decides which state is the newest. */
  take(read: IndexRead, server: object, begun: number): SnapshotState {
    const { newest } = this;
    if (newest?.text === read.stateText) return newest.state;
    // A state that was taken during this read may be newer than the state read. That state stays the newest, and the
    // next read decides.
    const isCurrent = newest === undefined || newest.turn <= begun;
    return isCurrent || isAhead(read.state, newest.state) ? this.set(read, server) : read.state;
  }

  private set({ stateText: text, state }: IndexRead, server: object): SnapshotState {
    this.newest = { text, state, server, turn: ++this.turn };
    return state;
  }
}

/** Within a generation nothing is rolled back, so the higher head is the later state. */
function isAhead(state: SnapshotState, before: SnapshotState): boolean {
  return state.generation === before.generation && state.head.number > before.head.number;
}
