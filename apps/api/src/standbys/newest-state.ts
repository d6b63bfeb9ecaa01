import { type IndexRead, type SnapshotState } from '#libs/db';

interface Taken {
  readonly text: string;
  readonly state: SnapshotState;
  readonly server: object;
  readonly turn: number;
}

/**
 * The newest state of the index that this process answered from. Standbys replay the same log at their own pace, so one of them may
 * show a state that another one is past: it is used only where it is certainly not older than the newest. See docs/decisions/0008.
 */
export class NewestState {
  private newest: Taken | undefined;
  private turn = 0;

  get state(): SnapshotState | undefined {
    return this.newest?.state;
  }

  /** To be called before a read begins; `admit` and `take` are told what it returns. */
  begin(): number {
    return this.turn;
  }

  /**
   * Of a standby.
   * @param server one object for as long as the standby is connected
   * @returns undefined where the state may be older than the newest
   */
  admit(read: IndexRead, server: object, begun: number): SnapshotState | undefined {
    const { newest } = this;
    if (newest?.text === read.stateText) return newest.state;
    // A server does not go back: what it shows later is newer.
    const isLater = newest?.server === server && newest.turn <= begun;
    if (newest !== undefined && !isLater && !isAhead(read.state, newest.state)) return undefined;
    return this.set(read, server);
  }

  /** Of the primary, which decides what is newest. */
  take(read: IndexRead, server: object, begun: number): SnapshotState {
    const { newest } = this;
    if (newest?.text === read.stateText) return newest.state;
    // What was taken since this read began may be newer than it; the next read tells.
    const isCurrent = newest === undefined || newest.turn <= begun;
    return isCurrent || isAhead(read.state, newest.state) ? this.set(read, server) : read.state;
  }

  private set({ stateText: text, state }: IndexRead, server: object): SnapshotState {
    this.newest = { text, state, server, turn: ++this.turn };
    return state;
  }
}

/** Within a generation nothing is taken back, so that the head only rises. */
function isAhead(state: SnapshotState, before: SnapshotState): boolean {
  return state.generation === before.generation && state.head.number > before.head.number;
}
